"""Sessions that come and go in the TUI, and screens of any size."""

import time

import pytest

from hybridmux.agents.demo.store import new_id
from tests.demo.pty_driver import CTRL_C, ESC


def test_new_starts_another_session(tui, demo):
    terminal = tui()
    terminal.prompt("in the first")
    first = terminal.reports()[-1]["session"]
    terminal.type("/new\r")
    terminal.until(lambda: terminal.reports()[-1]["session"] != first)
    assert terminal.reports()[-1]["stored"] == "0"
    terminal.prompt("in the second")
    assert "in the first" not in terminal.text()
    sessions = demo("sessions")
    assert [s["title"] for s in sessions] == ["in the second", "in the first"]
    assert [s["open"] for s in sessions] == [True, False]


def test_resume_shows_the_whole_history_scrolled_to_the_end(tui, talk):
    session = talk(*[f"question {n}" for n in range(40)])
    terminal = tui("--resume", session)
    assert terminal.ready() == terminal.says(session=session, stored="1")
    terminal.shows("❯ question 39", "● echo: question 39", session)
    terminal.type("\x1b[5~" * 10)
    terminal.shows("❯ question 0")
    terminal.type("\x1b[6~" * 20)
    terminal.shows("● echo: question 39")
    terminal.prompt("one more")
    terminal.shows("● echo: one more")


def test_resume_inside_the_tui(tui, talk):
    old, older = talk("the old one"), talk("the older one")
    terminal = tui()
    terminal.ready()
    terminal.type("/resume\r")
    terminal.shows("Resume which session?", "1. the older one", "2. the old one")
    assert terminal.reports()[-1]["state"] == "idle"
    terminal.type("2")
    terminal.says(session=old)
    terminal.shows("● echo: the old one")
    terminal.type(f"/resume {older}\r")
    terminal.says(session=older)
    unknown = new_id()
    terminal.type(f"/resume {unknown}\r")
    terminal.shows(f"No such session: {unknown}")


def test_resume_of_an_unknown_session(tui):
    unknown = new_id()
    terminal = tui("--resume", unknown)
    assert terminal.finish() == 1
    assert terminal.text() == f"No such session: {unknown}"


def test_resume_of_a_session_that_is_open_elsewhere(tui):
    first = tui()
    first.prompt("mine")
    session = first.reports()[-1]["session"]
    second = tui("--resume", session)
    assert second.finish() == 1
    assert second.text() == f"Session {session} is open in another program"


@pytest.mark.parametrize(("cols", "rows"), [(20, 5), (300, 100), (40, 8), (2, 2)])
def test_sizes(tui, cols, rows):
    terminal = tui(cols=cols, rows=rows)
    terminal.prompt("hi")
    terminal.type("run: true\r")
    terminal.says(state="blocked")
    if cols >= 20:
        terminal.shows("1. Yes, once")
    terminal.type("3")
    terminal.says(state="idle")
    if cols >= 20:
        terminal.shows(">", "ready")
    terminal.type(CTRL_C)
    assert terminal.finish() == 0


def test_resize_repaints(tui):
    terminal = tui()
    terminal.prompt("a rather long message that is wrapped in a narrow terminal")
    terminal.resize(30, 12)
    terminal.shows("❯ a rather long message that", "  is wrapped in a narrow")
    terminal.resize(100, 30)
    terminal.shows("❯ a rather long message that is wrapped in a narrow terminal")


def test_a_flood_stays_interruptible(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("flood 10000000\r")
    terminal.shows("flood 0000")
    terminal.type(ESC)
    started = time.monotonic()
    terminal.says(state="idle")
    assert time.monotonic() - started < 5
