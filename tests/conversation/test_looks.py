"""How often an agent's files are read: a glance may be a little behind, a decision sees them as they are."""

from types import SimpleNamespace
from typing import cast

import pytest
import trio

from hybridmux.agents import testimony as files
from hybridmux.agents.codex import PROFILE
from hybridmux.agents.launch import Launch
from hybridmux.budgets import Budgets
from hybridmux.conversation import tui as room
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.sides import Plan
from hybridmux.conversation.tui import GLANCE_AGE, Tui
from hybridmux.terminal.terminal import Terminal

from .play import WATCHED, play
from .world import World


@pytest.fixture
def looks(monkeypatch):
    """When the files were read, on Trio's clock; each look finds another conversation in them."""
    times: list[float] = []

    def look(profile, subject):
        times.append(trio.current_time())
        return files.Testimony(session_id=f"number {len(times)}")

    monkeypatch.setattr(room, "testimony", look)
    return times


def terminal_of() -> SimpleNamespace:
    """A terminal that shows nothing and never ends."""
    bell = Bell()
    return SimpleNamespace(
        child=SimpleNamespace(pid=1, start_ticks=1, tty_name="/dev/pts/1"),
        screen=SimpleNamespace(text=str),
        title="",
        osc7501="state=idle",
        exit_code=None,
        changes=0,
        changed=bell.wait,
        bell=bell,
    )


def tui_of(terminal: SimpleNamespace) -> Tui:
    plan = Plan(profile=PROFILE, launch=Launch(agent="codex", program="codex"), session="s", cwd="/", env={})
    return Tui(cast("Terminal", terminal), plan, 0.0, Budgets())


async def test_glances_share_a_look(autojump_clock, looks):
    tui = tui_of(terminal_of())
    for _ in range(100):
        assert tui.glance().session_id == f"number {len(looks)}"
        await trio.sleep(0.03)
    assert len(looks) == pytest.approx(3.0 / GLANCE_AGE, abs=1)


async def test_a_state_is_never_behind(autojump_clock, looks):
    tui = tui_of(terminal_of())
    assert [tui.state().session_id for _ in range(3)] == ["number 1", "number 2", "number 3"]
    assert tui.glance().session_id == "number 3"


async def test_whoever_waits_for_a_state_looks_again_without_any_output(autojump_clock, looks):
    tui = tui_of(terminal_of())
    with trio.fail_after(5):
        state = await tui.watch(lambda state: state.session_id == "number 5")
    assert state.session_id == "number 5"
    assert looks[-1] == pytest.approx(looks[0] + 4 * 0.25, abs=0.01)


async def test_a_waiting_look_at_every_change_reads_ten_times_a_second(autojump_clock, looks):
    terminal = terminal_of()
    tui = tui_of(terminal)
    with trio.move_on_after(2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tui.watch, lambda _: False)
            while True:
                await trio.sleep(0.01)
                terminal.bell.ring()
    assert 15 <= len(looks) <= 20


async def test_a_beat_sees_what_the_files_say_after_the_last_output(autojump_clock):
    async with play(World(), profile=WATCHED) as p:
        p.sides.tui.set("idle")
        await trio.testing.wait_all_tasks_blocked()
        p.sides.tui.session_id = "demo_9"  # nothing is painted for it
        await trio.sleep(2 * Budgets().evidence_beat)
        assert p.record.agent_session_id == "demo_9"
