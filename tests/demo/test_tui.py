"""The TUI in a real PTY, seen through a terminal emulator."""

import subprocess
from pathlib import Path

import pytest

from tests.demo.acp_client import COMMAND, wait_for
from tests.demo.pty_driver import CTRL_C, ESC


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
