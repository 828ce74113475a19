"""Keys with conditions: opencode's interrupt over a screen that counts Esc as opencode does."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from hybridmux.agents.launch import Launch
from hybridmux.agents.opencode import PROFILE
from hybridmux.agents.profile import Press
from hybridmux.budgets import Budgets
from hybridmux.conversation.sides import Plan
from hybridmux.conversation.tui import Tui
from hybridmux.terminal.terminal import Terminal

PLAN = Plan(
    profile=PROFILE, launch=Launch(agent="opencode", program="opencode"), session="s1", cwd="/", env={}
)
RUNNING, AGAIN, IDLE = "esc interrupt  ctrl+p commands", "esc again to interrupt", "ctrl+p commands"


class CountingScreen:
    """A terminal whose program counts Esc up to two, `lag` seconds late, and forgets them after `resets`."""

    def __init__(self, *, lag: float = 0.1, resets: tuple[float, ...] = ()) -> None:
        self.text, self.changes, self.exit_code = RUNNING, 0, None
        self.child = SimpleNamespace(pid=1, start_ticks=1, tty_name="/dev/pts/1")
        self.screen = SimpleNamespace(text=lambda: self.text)
        self.typed: list[float] = []
        self._lag, self._resets, self._count = lag, resets, 0
        self._lot = trio.lowlevel.ParkingLot()
        self._keys, self._keys_due = trio.open_memory_channel[float](16)

    async def write(self, data: bytes) -> None:
        """One key."""
        assert data == b"\x1b"
        self.typed.append(trio.current_time())
        await self._keys.send(trio.current_time())

    async def changed(self, seen: int) -> int:
        """As the real terminal's."""
        while self.changes == seen:
            await self._lot.park()
        return self.changes

    async def run(self) -> None:
        """The program."""
        async with trio.open_nursery() as nursery:
            for after in self._resets:
                nursery.start_soon(self._forget, after)
            async for typed_at in self._keys_due:
                await trio.sleep_until(typed_at + self._lag)
                self._counted(self._count + 1)

    async def _forget(self, after: float) -> None:
        await trio.sleep(after)
        self._counted(0)

    def _counted(self, count: int) -> None:
        if self.text != IDLE:
            self._count, self.text = count, (RUNNING, AGAIN, IDLE)[count]
            self.changes += 1
            self._lot.unpark_all()


async def interrupted(terminal: CountingScreen) -> list[float]:
    """When the profile pressed Esc, in seconds from the start."""
    tui = Tui(cast("Terminal", terminal), PLAN, 0.0, Budgets())
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(terminal.run)
        await tui.press(PROFILE.interrupt)
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    return [round(at - began, 3) for at in terminal.typed]


async def test_the_second_key_follows_once_the_first_has_shown(autojump_clock: Any) -> None:
    terminal = CountingScreen(lag=0.1)
    assert await interrupted(terminal) == [0.0, 0.1]
    assert terminal.text == IDLE


async def test_a_reset_between_the_keys_costs_one_more(autojump_clock: Any) -> None:
    terminal = CountingScreen(lag=0.1, resets=(0.15,))
    assert await interrupted(terminal) == [0.0, 0.1, 1.6]
    assert terminal.text == IDLE


async def test_a_reset_after_both_keys_costs_two_more(autojump_clock: Any) -> None:
    terminal = CountingScreen(lag=0.1, resets=(0.15, 0.25))
    assert await interrupted(terminal) == [0.0, 0.1, 1.6, 3.1]
    assert terminal.text == IDLE


async def test_a_program_that_shows_nothing_gets_four_keys_and_no_more(autojump_clock: Any) -> None:
    terminal = CountingScreen(lag=60)
    assert await interrupted(terminal) == pytest.approx([0.0, 2.0, 3.5, 5.0])
    assert terminal.text == RUNNING


@pytest.mark.parametrize("pause", [0.0, 0.4])
async def test_keys_without_a_pattern_wait_for_their_pause(autojump_clock: Any, pause: float) -> None:
    terminal = CountingScreen()
    tui = Tui(cast("Terminal", terminal), PLAN, 0.0, Budgets())
    began = trio.current_time()
    await tui.press((Press(b"\x1b", pause=pause), Press(b"\x1b")))
    assert [at - began for at in terminal.typed] == pytest.approx([0.0, pause])
