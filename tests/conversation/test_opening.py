"""A terminal that opens a conversation: what stops it, and what only looks like that."""

import re
from types import SimpleNamespace
from typing import cast

import pytest
import trio
from attrs import evolve

from hybridmux.agents import codex, opencode
from hybridmux.agents import testimony as files
from hybridmux.agents.launch import Launch
from hybridmux.budgets import Budgets
from hybridmux.conversation import tui as room
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.sides import OccupiedElsewhere, Plan, SideFailed
from hybridmux.conversation.tui import Tui
from hybridmux.journal import ByteJournal
from hybridmux.terminal.modes import Modes
from hybridmux.terminal.terminal import Terminal

LOCKED = """\
  🔒  This conversation is open in another app            r to retry
      Close it there and press R to continue here.

   r retry   f fork   ←/esc command center   ^c/q exit
"""
QUOTED = "     It said: Error: Session not found\n  ╹▀▀▀▀▀▀▀▀\n   ctrl+p commands\n"


@pytest.fixture
def held(monkeypatch):
    """What the agent's locks say."""
    said = SimpleNamespace(session_id=None)
    monkeypatch.setattr(room, "testimony", lambda *_: files.Testimony(session_id=said.session_id))
    return said


def tui_of(profile, screen: str, *, report: str | None = None, code: int | None = None, output: bytes = b""):
    bell = Bell()
    journal = ByteJournal(2**16)
    journal.write(output)
    terminal = SimpleNamespace(
        child=SimpleNamespace(pid=1, start_ticks=1, tty_name="/dev/pts/1"),
        screen=SimpleNamespace(text=lambda: screen, modes=Modes),
        title="",
        osc7501=report,
        exit_code=code,
        changes=0,
        changed=bell.wait,
        journal=journal,
    )
    launch = Launch(agent=profile.name, program=profile.name)
    plan = Plan(profile=profile, launch=launch, session="s", cwd="/", env={})
    return Tui(cast("Terminal", terminal), plan, 0.0, Budgets(), opens=True), terminal


async def test_a_conversation_that_another_program_holds_is_not_opened(autojump_clock, held):
    tui, _ = tui_of(codex.PROFILE, LOCKED, report="state=idle:app=codex")
    with pytest.raises(OccupiedElsewhere, match="open in another app"):
        await tui.ready()


async def test_a_lock_that_it_holds_says_more_than_any_words(autojump_clock, held):
    held.session_id = "its own"
    tui, _ = tui_of(codex.PROFILE, LOCKED, report="state=idle:app=codex")
    assert (await tui.ready()).turn == "idle"


async def test_once_it_was_ready_no_words_stop_it(autojump_clock, held):
    tui, terminal = tui_of(codex.PROFILE, "\u203a \n", report="state=idle:app=codex")
    await tui.ready()
    terminal.screen.text = lambda: LOCKED
    assert (await tui.watch(lambda state: state.ready)).trouble is None


async def test_a_history_that_speaks_of_trouble_is_ready(autojump_clock):
    tui, _ = tui_of(opencode.PROFILE, QUOTED)
    assert (await tui.ready()).turn == "idle"


@pytest.mark.parametrize("profile", [codex.PROFILE, opencode.PROFILE], ids=lambda one: one.name)
async def test_a_program_that_ends_at_once_says_why(autojump_clock, held, profile):
    tui, _ = tui_of(profile, "", code=1, output=b"\x1b[31mError: Session not found: x\x1b[0m\r\n\r\n")
    with pytest.raises(SideFailed, match=r"ended \(exit code 1\): Error: Session not found: x") as caught:
        await tui.ready()
    assert type(caught.value) is SideFailed


async def test_only_its_last_line_says_that_a_conversation_is_open_elsewhere(autojump_clock, held):
    says = evolve(codex.PROFILE, occupied=re.compile("Session x is open"))
    tui, _ = tui_of(says, "", code=1, output=b"Session x is open, one reads\r\nbroken\r\n")
    with pytest.raises(SideFailed) as caught:
        await tui.ready()
    assert type(caught.value) is SideFailed
    tui, _ = tui_of(says, "", code=1, output=b"Session x is open in another program\r\n")
    with pytest.raises(OccupiedElsewhere):
        await tui.ready()


@pytest.mark.parametrize(
    ("modes", "words"),
    [(Modes(), "last\n"), (Modes(alternate=True), ""), (Modes(private=frozenset({7, 25, 2004})), "")],
)
def test_a_program_that_kept_the_terminal_said_nothing_last(modes, words):
    tui, terminal = tui_of(opencode.PROFILE, "", output=b"drawn\x1b[?1049llast\r\n")
    terminal.screen.modes = lambda: modes
    assert tui.last_words() == words


async def test_one_that_reports_unasked_is_ready_with_its_first_report(autojump_clock, held):
    tui, terminal = tui_of(codex.PROFILE, "\u203a \n")
    said = Bell()
    terminal.changed = said.wait

    async def report():
        await trio.sleep(1.5)
        terminal.osc7501 = "state=idle:app=codex"
        said.ring()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(report)
        assert (await tui.ready()).turn == "idle"


async def test_a_report_that_does_not_come_is_not_waited_for_long(autojump_clock, held):
    tui, _ = tui_of(codex.PROFILE, "\u203a \n")
    began = trio.current_time()
    assert (await tui.ready()).ready
    assert 1 < trio.current_time() - began < 5


async def test_a_terminal_that_never_gets_ready_is_waited_for(autojump_clock):
    tui, _ = tui_of(opencode.PROFILE, "loading\n")
    with trio.move_on_after(60) as scope:
        await tui.ready()
    assert scope.cancelled_caught
