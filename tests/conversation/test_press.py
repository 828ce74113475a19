"""Keys with conditions: interrupts over screens that take Esc as opencode and codex do."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
from attrs import evolve

from hybridmux.agents import claudecode, codex, omp
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
RUNNING, AGAIN, IDLE = (
    f"     You press esc interrupt, then esc again to interrupt.\n  ╹▀▀▀▀▀▀▀▀\n   {footer}"
    for footer in ("⬝⬝■■  esc interrupt  ctrl+p commands", "⬝⬝■■  esc again to interrupt", "ctrl+p commands")
)


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
    assert await interrupted(terminal) == [0.0, 0.1, 1.6, 1.7]
    assert terminal.text == IDLE


async def test_a_third_reset_costs_one_more_again(autojump_clock: Any) -> None:
    terminal = CountingScreen(lag=0.1, resets=(0.15, 0.25, 1.75))
    assert await interrupted(terminal) == [0.0, 0.1, 1.6, 1.7, 3.2]
    assert terminal.text == IDLE


async def test_a_program_that_shows_nothing_gets_five_keys_and_no_more(autojump_clock: Any) -> None:
    terminal = CountingScreen(lag=60)
    assert await interrupted(terminal) == pytest.approx([0.0, 2.0, 3.5, 5.5, 7.5])
    assert terminal.text == RUNNING


@pytest.mark.parametrize("pause", [0.0, 0.4])
async def test_keys_without_a_pattern_wait_for_their_pause(autojump_clock: Any, pause: float) -> None:
    terminal = CountingScreen()
    tui = Tui(cast("Terminal", terminal), PLAN, 0.0, Budgets())
    began = trio.current_time()
    await tui.press((Press(b"\x1b", pause=pause), Press(b"\x1b")))
    assert [at - began for at in terminal.typed] == pytest.approx([0.0, pause])


class EditingScreen:
    """A terminal whose program counts its turn as running only `lag` seconds after it has reported it.

    Esc before that offers to edit the last message, Esc then interrupts, and so does it with the offer open.
    """

    def __init__(self, *, lag: float, ends: float = 60.0) -> None:
        self.title, self.osc7501, self.exit_code, self.changes = "", "state=working:app=codex", None, 0
        self.child = SimpleNamespace(pid=1, start_ticks=1, tty_name="/dev/pts/1")
        self.screen = SimpleNamespace(text=lambda: f"{self._work}\n{self._foot}")
        self.typed: list[float] = []
        self.is_editing = False
        self._work, self._foot = "", "? for shortcuts"
        self._lag, self._ends = lag, ends
        self._lot = trio.lowlevel.ParkingLot()

    async def write(self, data: bytes) -> None:
        """One key."""
        assert data == b"\x1b"
        self.typed.append(trio.current_time())
        if self._work:
            self._end()
        elif self._foot.startswith("esc again"):
            self.is_editing = True
        else:
            self._show(foot="esc again to edit previous message")

    async def changed(self, seen: int) -> int:
        """As the real terminal's."""
        while self.changes == seen:
            await self._lot.park()
        return self.changes

    async def run(self) -> None:
        """The program."""
        await trio.sleep(self._lag)
        if self._ends:
            self._show(work="Working (0s, esc to interrupt)")
            await trio.sleep(self._ends)
        self._end()

    def _show(self, work: str = "", foot: str = "") -> None:
        self._work, self._foot = work or self._work, foot or self._foot
        self.changes += 1
        self._lot.unpark_all()

    def _end(self) -> None:
        self.osc7501, self._work = "state=idle:app=codex", ""
        self._show()


async def codex_interrupted(terminal: EditingScreen, after: float = 0.0) -> list[float]:
    """When the profile pressed Esc, in seconds from the start; asked for `after` so many."""
    plan = evolve(PLAN, profile=evolve(codex.PROFILE, evidence=None))
    tui = Tui(cast("Terminal", terminal), plan, 0.0, Budgets())
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(terminal.run)
        await trio.sleep(after)
        await tui.press(codex.PROFILE.interrupt)
        nursery.cancel_scope.cancel()
    assert tui.state().turn == "idle"
    assert not terminal.is_editing
    return [round(at - began, 3) for at in terminal.typed]


async def test_an_offer_to_edit_is_followed_by_a_second_key_once_the_turn_runs(autojump_clock: Any) -> None:
    assert await codex_interrupted(EditingScreen(lag=0.06)) == [0.0, 0.06]


async def test_a_turn_that_runs_takes_one_key(autojump_clock: Any) -> None:
    assert await codex_interrupted(EditingScreen(lag=0.06), after=0.1) == [0.1]


async def test_a_turn_that_ends_under_the_offer_gets_no_second_key(autojump_clock: Any) -> None:
    assert await codex_interrupted(EditingScreen(lag=0.06, ends=0.0)) == [0.0]


async def test_an_idle_terminal_gets_no_key(autojump_clock: Any) -> None:
    assert await codex_interrupted(EditingScreen(lag=0.0, ends=0.0), after=0.1) == []


@pytest.mark.parametrize("profile", [claudecode.PROFILE, codex.PROFILE, omp.PROFILE, PROFILE])
async def test_ctrl_z_is_kept_from_those_that_would_leave_the_terminal(profile):
    got: list[bytes] = []

    async def write(data: bytes) -> None:
        got.append(data)

    terminal = SimpleNamespace(
        write=write, child=SimpleNamespace(pid=1, start_ticks=1, tty_name="/dev/pts/1")
    )
    plan = evolve(PLAN, profile=profile)
    tui = Tui(cast(Terminal, terminal), plan, 0.0, Budgets(), entered=False)
    await tui.write(b"a\x1ab")
    assert got == [b"ab"]


async def test_ctrl_z_alone_is_no_key_at_all():
    """Nothing is pressed then that could have ended a turn."""
    screen = CountingScreen()
    tui = Tui(cast("Terminal", screen), PLAN, 0.0, Budgets())
    before = tui.stop_key_at
    await tui.write(b"\x1a")
    assert (screen.typed, tui.stop_key_at) == ([], before)
