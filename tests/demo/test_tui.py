"""The TUI in a real PTY, seen through a terminal emulator."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from hybridmux.agents.demo.store import new_id
from tests.demo.acp_client import COMMAND, wait_for

ESC, CTRL_C, CTRL_D = "\x1b", "\x03", "\x04"


def test_an_echo_turn(tui, demo):
    terminal = tui()
    before = terminal.ready()
    assert before == {
        "state": "idle",
        "app": "hybridmux-demo",
        "session": before["session"],
        "draft": "0",
        "stored": "0",
    }
    assert demo("sessions") == []
    terminal.prompt("hello big world")
    terminal.shows("❯ hello big world", "● echo: hello big world")
    assert terminal.says(state="idle", stored="1")["session"] == before["session"]
    assert terminal.titles() == [
        "Demo · new session",
        "Demo ⠿ hello big world",
        "Demo · hello big world",
    ]
    assert [r["state"] for r in terminal.reports() if r["draft"] == "0"] == ["idle", "working", "idle"]
    (found,) = demo("sessions")
    assert (found["id"], found["title"], found["open"]) == (before["session"], "hello big world", True)


def test_first_paint_comes_before_the_first_report(tui):
    terminal = tui()
    terminal.ready()
    start = terminal.raw.index(b"\x1b]7501;")
    assert terminal.raw.index(b"\x1b[?1049h") < terminal.raw.index(b"ready") < start


def test_it_streams(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("slow 30\r")
    terminal.shows("tick 1 tick 2 tick 3")
    assert terminal.reports()[-1]["state"] == "working"
    terminal.shows("esc to interrupt")


@pytest.mark.parametrize("key", [ESC, CTRL_C])
def test_interrupt(tui, demo, key):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("slow 30\r")
    terminal.shows("tick 1")
    terminal.type(key)
    terminal.shows("Interrupted")
    terminal.says(state="idle")
    talk = demo("show", session)
    assert talk["ends"] == ["cancelled"]
    assert talk["messages"][-1]["text"].startswith("tick 1")


@pytest.mark.parametrize(
    ("key", "status", "said"),
    [
        ("\r", "completed", "exit 0"),
        ("1", "completed", "exit 0"),
        ("2", "completed", "exit 0"),
        ("3", "failed", "Not run."),
        (ESC, "failed", "Not run."),
        ("\x1b[B\x1b[B\r", "failed", "Not run."),
    ],
)
def test_approval(tui, demo, key, status, said):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("run: echo $((6*7))\r")
    terminal.says(state="blocked")
    terminal.shows("Run this command?", "❯ 1. Yes, once", "2. Yes, always", "3. No")
    assert terminal.titles()[-1].startswith("Demo ! ")
    terminal.type(key)
    terminal.shows(f"● {said}")
    terminal.says(state="idle")
    assert [m["status"] for m in demo("show", session)["messages"] if m["role"] == "tool"] == [status]


def test_ctrl_c_in_an_approval_interrupts_the_turn(tui, demo):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("run: true\r")
    terminal.says(state="blocked")
    terminal.type(CTRL_C)
    terminal.says(state="idle")
    assert demo("show", session)["ends"] == ["cancelled"]
    assert terminal.alive()


def test_interrupting_a_command_kills_it(tui, place):
    terminal = tui()
    terminal.ready()
    terminal.type("run: echo $$ > pid; sleep 4245\r")
    terminal.says(state="blocked")
    terminal.type("1")
    terminal.until(lambda: (place / "pid").exists() and (place / "pid").read_text().endswith("\n"))
    terminal.type(ESC)
    terminal.says(state="idle")
    wait_for(lambda: not Path("/proc", (place / "pid").read_text().strip()).exists())


@pytest.mark.parametrize("quit_keys", [CTRL_C, CTRL_D, "/quit\r"])
def test_quit(tui, quit_keys):
    terminal = tui()
    terminal.prompt("hello")
    session = terminal.reports()[-1]["session"]
    terminal.type(quit_keys)
    assert terminal.finish() == 0
    left, after = terminal.raw.rsplit(b"\x1b[?1049l", 1)
    assert f"Continue with: hybridmux-demo tui --resume {session}\r\n".encode() in after
    assert terminal.titles()[-1] == ""
    assert left.count(b"\x1b[?2004h") <= (left + after).count(b"\x1b[?2004l")


def test_quit_with_nothing_said_offers_nothing_to_continue(tui, demo):
    terminal = tui()
    terminal.ready()
    terminal.type(CTRL_C)
    assert terminal.finish() == 0
    assert b"Continue" not in terminal.raw
    assert demo("sessions") == []


def test_quit_in_a_running_turn(tui, demo):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("slow 30\r")
    terminal.shows("tick 1")
    terminal.type("/quit\r")
    assert terminal.finish() == 0
    assert demo("show", session)["ends"] == ["cancelled"]


def test_a_draft_is_reported_and_ctrl_c_clears_it_first(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("not yet")
    terminal.says(draft="1", state="idle")
    terminal.type(CTRL_C)
    terminal.says(draft="0")
    assert terminal.alive()
    terminal.type(CTRL_C)
    assert terminal.finish() == 0


def test_what_is_typed_in_a_turn_is_sent_after_it(tui, demo):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("slow 0.6\r")
    terminal.shows("tick 1")
    terminal.type("next one\r")
    terminal.shows("queued: next one")
    assert terminal.says(draft="1")["state"] == "working"
    terminal.shows("● echo: next one")
    terminal.says(state="idle", draft="0")
    users = [m["text"] for m in demo("show", session)["messages"] if m["role"] == "user"]
    assert users == ["slow 0.6", "next one"]


def test_an_interrupt_hands_the_queue_back_to_the_composer(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("slow 30\r")
    terminal.shows("tick 1")
    terminal.type("first\r")
    terminal.type("second")
    terminal.shows("queued: first", "> second")
    terminal.type(ESC)
    terminal.says(state="idle", draft="1")
    terminal.shows("> first", "second")


def test_a_bracketed_paste_keeps_its_line_breaks(tui, demo):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("\x1b[200~one\rtwo\r\nthree\x1b[201~")
    terminal.says(draft="1")
    assert terminal.reports()[-1]["state"] == "idle"
    terminal.type("\r")
    terminal.shows("● echo: one", "three")
    terminal.says(state="idle")
    assert demo("show", session)["messages"][0]["text"] == "one\ntwo\nthree"


def test_ctrl_j_makes_a_new_line(tui):
    terminal = tui()
    terminal.prompt("one\ntwo")
    terminal.shows("❯ one", "  two", "● echo: one")


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


def test_a_form_is_asked_one_question_at_a_time(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("ask all\r")
    terminal.shows("Which color?", "1. Red")
    terminal.says(state="blocked")
    terminal.type("2")
    for question, answer in [
        ("Anything to add?", "a note\r"),
        ("Is it urgent?", "1"),
        ("How many?", "3\r"),
        ("Which size?", "\x1b[B\r"),
        ("Any extras?", "lid bag\r"),
    ]:
        terminal.shows(question)
        terminal.type(answer)
    terminal.shows("You answered: color=green, note=a note, urgent=yes, count=3, size=M,", "extras=lid+bag")
    terminal.says(state="idle")


def test_a_form_can_be_cancelled(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("ask\r")
    terminal.says(state="blocked")
    terminal.type(ESC)
    terminal.shows("The form was cancelled.")


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("fail: 500", "Error: model answered 500"),
        ("refuse", "The model refused."),
        ("auth", "Error: authentication required"),
        ("plan", "[x] Answer"),
        ("diff", "+ hybrid world"),
        ("think: deep", "∴ deep"),
        ("usage", "tokens used."),
    ],
)
def test_words(tui, prompt, shown):
    terminal = tui()
    terminal.prompt(prompt)
    terminal.shows(shown)


def test_crash(tui, demo):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("crash\r")
    assert terminal.finish() == 70
    assert demo("show", session)["messages"][-1]["text"] == "going down "


def test_hang_ignores_keys_and_ends_by_sigterm(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("hang\r")
    terminal.shows("● hanging")
    terminal.type(ESC + CTRL_C + CTRL_D + "/quit\r")
    terminal.says(state="working")
    assert terminal.alive()
    terminal.child.kill(signal.SIGTERM)
    assert terminal.finish() == 143


def test_hang_hard_ends_by_sigkill(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("hang hard\r")
    terminal.shows("● hanging")
    terminal.child.kill(signal.SIGTERM)
    terminal.type("typed afterwards")
    terminal.shows("> typed afterwards")
    terminal.child.kill(signal.SIGKILL)
    assert terminal.finish() == -signal.SIGKILL


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_restore_the_terminal(tui, demo, number, status):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("slow 30\r")
    terminal.shows("tick 1")
    terminal.child.kill(number)
    assert terminal.finish() == status
    assert terminal.raw.rindex(b"\x1b[?1049l") > terminal.raw.rindex(b"\x1b[?1049h")
    assert terminal.titles()[-1] == ""
    assert demo("show", session)["ends"] == ["cancelled"]


def test_a_terminal_that_goes_away_ends_the_program(tui, demo):
    terminal = tui()
    terminal.prompt("hello")
    session = terminal.reports()[-1]["session"]
    os.close(terminal.child.child_fd)
    wait_for(lambda: not terminal.alive())
    assert demo("sessions")[0]["id"] == session
    assert demo("sessions")[0]["open"] is False


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


def test_modes(tui):
    terminal = tui()
    terminal.ready()
    terminal.type("/mode plan\r")
    terminal.shows("mode is plan")
    terminal.prompt("run: true")
    terminal.shows("Plan mode runs nothing.")
    terminal.type("/model nothing\r")
    terminal.shows("model: one of demo-small, demo-large")


def test_it_needs_a_terminal(environ, place):
    done = subprocess.run(
        [*COMMAND, "tui"], env=environ, cwd=place, input=b"", capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, b"hybridmux-demo tui needs a terminal\n")
