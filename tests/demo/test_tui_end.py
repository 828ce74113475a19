"""How the TUI ends, or does not, in a real PTY."""

import os
import signal

import pytest

from tests.demo.acp_client import wait_for
from tests.demo.pty_driver import CTRL_C, CTRL_D, ESC


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
