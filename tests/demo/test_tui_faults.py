"""`HYBRIDMUX_DEMO_FAULT` on the TUI side."""

import os
import signal

import pytest

from tests.demo.acp_client import wait_for
from tests.demo.watching import ignores, started_with


@pytest.mark.parametrize(("fault", "status"), [("exit", 71), ("halfline", 71), ("error", 1)])
@pytest.mark.parametrize("moment", ["start", "load"])
def test_it_does_not_start(tui, talk, moment, fault, status):
    terminal = tui("--resume", talk("before"), fault=f"tui.{moment}:{fault}")
    assert terminal.finish() == status
    assert terminal.reports() == []
    assert ("Error: demo fault" in terminal.text()) == (fault == "error")


def test_load_faults_do_nothing_to_a_fresh_session(tui):
    assert tui(fault="load:exit").ready()


@pytest.mark.parametrize("fault", ["garbage", "slow=0.2", "fork"])
def test_it_starts_all_the_same(tui, talk, fault):
    session = talk("before")
    terminal = tui("--resume", session, fault=f"load:{fault}")
    assert terminal.ready()["session"] == session
    terminal.type("\x04")
    assert terminal.finish() == 0
    end_survivors(terminal)


def end_survivors(terminal, expected=None):
    """Ends what `fork` left behind; with `expected` there must be that many."""
    found = started_with(terminal.home)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    assert expected is None or len(found) == expected


def test_hang_at_the_start_paints_nothing(tui):
    terminal = tui(fault="start:hang")
    wait_for(lambda: ignores(terminal.child.pid, signal.SIGINT))
    terminal.type("\x03")
    terminal.take(0.2)
    assert terminal.alive()
    assert terminal.reports() == []
    terminal.child.kill(signal.SIGTERM)
    assert terminal.finish() == -signal.SIGTERM


@pytest.mark.parametrize(
    ("fault", "words"),
    [("active_writer", "is open in another program"), ("missing", "No such session: demo_")],
)
def test_pretended_refusals(tui, talk, fault, words):
    terminal = tui("--resume", talk("before"), fault=f"load:{fault}")
    assert terminal.finish() == 1
    assert words in terminal.text()


def test_another_session_is_opened(tui, talk):
    session = talk("before")
    terminal = tui("--resume", session, fault="load:other")
    assert terminal.ready()["session"] != session


def test_lag_leaves_the_last_turn_out(tui, talk):
    session = talk("one", "two")
    terminal = tui("--resume", session, fault="load:lag=1")
    terminal.shows("❯ one")
    terminal.ready()
    assert "❯ two" not in terminal.text()


@pytest.mark.parametrize(("fault", "status"), [("exit", 71), ("halfline", 71)])
def test_it_goes_away_at_a_prompt(tui, fault, status):
    terminal = tui(fault=f"prompt:{fault}")
    terminal.ready()
    terminal.type("hello\r")
    assert terminal.finish() == status


def test_failing_prompts(tui):
    terminal = tui(fault="prompt:error")
    terminal.prompt("hello")
    terminal.shows("Error: model answered demo fault")


def test_slow_prompts(tui):
    terminal = tui(fault="prompt:slow=0.3")
    terminal.prompt("hello")
    terminal.shows("tick 1", "echo: hello")


def test_hanging_prompts(tui):
    terminal = tui(fault="prompt:hang")
    terminal.ready()
    terminal.type("hello\r")
    terminal.shows("● hanging")
    terminal.type("\x1b\x03after")
    terminal.shows("> after")
    assert terminal.reports()[-1]["state"] == "working"


def test_ignored_interrupts(tui, demo):
    terminal = tui(fault="interrupt:hang")
    session = terminal.ready()["session"]
    terminal.type("slow 0.8\r")
    terminal.shows("tick 1")
    terminal.type("\x1b\x03")
    terminal.says(state="idle")
    assert demo("show", session)["ends"] == ["end_turn"]


@pytest.mark.parametrize(
    ("fault", "status"), [("exit", 71), ("error", 1), ("halfline", 71), ("garbage", 0), ("slow=0.1", 0)]
)
def test_at_the_end(tui, fault, status):
    terminal = tui(fault=f"quit:{fault}")
    terminal.prompt("hello")
    terminal.type("\x03")
    assert terminal.finish() == status
    assert b"Continue with" in terminal.raw


def test_quit_keys_ignored(tui):
    terminal = tui(fault="quit:hang")
    terminal.ready()
    terminal.type("\x03\x04/quit\rstill here")
    terminal.shows("> still here")
    terminal.child.kill(signal.SIGTERM)
    assert terminal.finish() == 143


def test_quit_keys_and_sigterm_ignored(tui):
    terminal = tui(fault="quit:hang=hard")
    terminal.ready()
    terminal.child.kill(signal.SIGTERM)
    terminal.type("\x03still here")
    terminal.shows("> still here")
    terminal.child.kill(signal.SIGKILL)
    assert terminal.finish() == -signal.SIGKILL


def test_fork_leaves_a_process_behind(tui):
    terminal = tui(fault="quit:fork")
    terminal.ready()
    terminal.type("\x04")
    assert terminal.finish() == 0
    end_survivors(terminal, expected=1)


@pytest.mark.parametrize(("instead", "status"), [("tui.load:error", 1), ("tui.quit:exit", 71)])
def test_wait_holds_the_start_until_the_file_says_something_else(tui, talk, tmp_path, instead, status):
    file, other = tmp_path / "fault", tmp_path / "other"
    file.write_text("tui.load:wait")
    other.write_text(instead)
    terminal = tui("--resume", talk("before"), fault=f"@{file}")
    terminal.take(0.2)
    assert terminal.raw == b""
    other.replace(file)
    if status == 71:
        terminal.ready()
        terminal.type("\x04")
    assert terminal.finish() == status


def test_wait_holds_an_interrupt(tui, tmp_path):
    file, other = tmp_path / "fault", tmp_path / "other"
    file.write_text("tui.interrupt:wait")
    other.write_text("")
    terminal = tui(fault=f"@{file}")
    terminal.ready()
    terminal.type("slow 30\r")
    terminal.says(state="working")
    terminal.type("\x1b")
    terminal.take(0.3)
    assert terminal.reports()[-1]["state"] == "working"
    other.replace(file)
    terminal.says(state="idle")
