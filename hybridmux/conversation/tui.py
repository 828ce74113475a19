"""The terminal side over a real program: a profile's reading of a terminal, and its keys."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from signal import SIGKILL

import trio
from attrs import evolve

from hybridmux.agents import farewell
from hybridmux.agents.installed import apart_from_shared_server
from hybridmux.agents.profile import Look, Press, TuiState
from hybridmux.agents.temp import temp_folder
from hybridmux.agents.testimony import Subject, Testimony, testimony
from hybridmux.budgets import KIB, Budgets
from hybridmux.conversation.sides import OccupiedElsewhere, Plan, SideFailed
from hybridmux.conversation.typed import Typed, without_suspend
from hybridmux.errors import HybridmuxError
from hybridmux.proc.family import EndReport
from hybridmux.proc.mark import Mark
from hybridmux.terminal.keyboard import InputStuck
from hybridmux.terminal.terminal import Terminal, open_terminal

_TAIL = 16 * KIB
_REST = 0.3
"""Seconds without input before a state counts as the answer to it."""
GLANCE_AGE = 1.0
"""Seconds that what a `glance` tells of the agent's files may be behind."""
_WATCH_AGE, _WATCH_BEAT = 0.1, 0.25
"""Seconds that what the agent's files said is good for while a state is waited for, and between two looks at
them without output."""
_RESTLESS = 3.0
"""Seconds after which a screen that keeps changing (a spinner, a clock) is read all the same, and a program
counts as started that has not reported."""


class Tui:
    """One program on its PTY, read through its profile."""

    def __init__(
        self,
        terminal: Terminal,
        plan: Plan,
        started_at: float,
        budgets: Budgets,
        *,
        entered: bool = False,
        opens: bool = False,
    ) -> None:
        self.terminal = terminal
        self.started_at = started_at
        self._profile, self._budgets = plan.profile, budgets
        self._subject = Subject(
            pid=terminal.child.pid,
            start_ticks=terminal.child.start_ticks,
            tty=terminal.child.tty_name or "",
            cwd=plan.cwd,
            env=plan.seen.env,
            started_at=started_at,
        )
        self._stated, self._stated_at = Testimony(), -1e9
        self._opening = opens
        self._last_input = -1e9
        self._typed = Typed(entered=entered)
        self.stop_key_at = -1e9
        """When a key that ends turns in most agents was last pressed, on Trio's clock."""
        self.enter_at = -1e9
        """The same for Enter."""
        self._beat = _WATCH_BEAT if plan.profile.evidence else float("inf")
        self.report: EndReport | None = None
        """How its processes ended, after `stop()`."""

    @property
    def exit_code(self) -> int | None:
        """How the program ended."""
        return self.terminal.exit_code

    @property
    def entered(self) -> bool:
        """Whether anything was entered since the start, or may have been with the command."""
        return self._typed.entered

    @property
    def unsent(self) -> bool:
        """Whether text was typed and, as far as the keys tell, neither sent nor cleared."""
        return self._typed.unsent

    def state(self) -> TuiState:
        """Reads the terminal and what the agent's files say of it, now."""
        return self._read(0.0)

    def _read(self, age: float) -> TuiState:
        return self._look("" if self._profile.identity == "report" else self.terminal.screen.text(), age)

    def glance(self) -> TuiState:
        """The same without the screen, and from files as they were up to `GLANCE_AGE` ago: a look at every
        change must cost little."""
        return self._look("", GLANCE_AGE)

    def _look(self, screen: str, age: float) -> TuiState:
        stated = self._testimony(age)
        starting = self._opening and stated.session_id is None
        look = Look(screen=screen, title=self.terminal.title, report=self.terminal.osc7501, starting=starting)
        state = self._profile.observe(look)
        if state.source != "report" and stated.turn != "unknown":
            # What the agent keeps about itself is worth more than what can be read off its window.
            state = evolve(state, turn=stated.turn, source="registry")
        if stated.session_id is not None:
            state = evolve(state, session_id=stated.session_id, stored=stated.stored)
        if stated.not_root:
            state = evolve(state, not_root=True)
        return state

    def _testimony(self, age: float) -> Testimony:
        now = trio.current_time()
        if self._profile.evidence is not None and now - self._stated_at >= age:
            self._stated, self._stated_at = testimony(self._profile, self._subject), now
        return self._stated

    def pids(self) -> frozenset[int]:
        """The program and everything it started."""
        return self.terminal.family.pids()

    async def write(self, data: bytes) -> None:
        """Input of a viewer, or of ours."""
        if self._profile.suspends:
            data = without_suspend(data)
        if not data:
            return
        self._last_input = trio.current_time()
        before = self._typed.enters
        self._typed.feed(data)
        if b"\x03" in data or not data.strip(b"\x1b"):
            self.stop_key_at = self._last_input
        if self._typed.enters > before:
            self.enter_at = self._last_input
        # A program that has gone takes no input; its end is told where it is waited for.
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self.terminal.write(data)

    async def watch(self, want: Callable[[TuiState], bool]) -> TuiState:
        """Waits for a state that is wanted; raises `SideFailed` when the program ends first."""
        seen = self.terminal.changes
        while True:
            state = self._read(_WATCH_AGE)
            if self.terminal.exit_code is not None:
                raise self._ended()
            if state.trouble:
                raise (OccupiedElsewhere if state.occupied else SideFailed)(state.trouble)
            if want(state):
                return state
            with trio.move_on_after(self._beat):
                seen = await self.terminal.changed(seen)

    async def settled(self) -> TuiState:
        """The state once recent input has had time to show and the screen is quiet (at most 2 s)."""
        with trio.move_on_after(_RESTLESS):
            await trio.sleep_until(self._last_input + _REST)
            await self._quiet(self._profile.quiet)
        return self.state()

    async def _quiet(self, seconds: float) -> None:
        seen = self.terminal.changes
        while self.terminal.exit_code is None:
            with trio.move_on_after(seconds):
                seen = await self.terminal.changed(seen)
                continue
            return

    async def ready(self) -> TuiState:
        """Waits until it takes input; raises `SideFailed`. A screen that never rests does not hold it up, nor
        does a report that does not come."""
        await self.watch(lambda state: state.ready)
        with trio.move_on_after(_RESTLESS):
            if self._profile.reports:
                await self.watch(lambda state: state.source == "report")
            await self._quiet(self._profile.quiet)
        state = await self.watch(lambda state: state.ready)
        self._opening = False
        return state

    async def press(self, keys: Sequence[Press]) -> None:
        """Sends keys with their conditions and pauses."""
        for press in keys:
            if self._calls_for(press):
                await self.write(press.keys)
                with trio.move_on_after(press.pause):
                    await self._taken(press)

    def _calls_for(self, press: Press) -> bool:
        if press.unless_idle and self.state().turn == "idle":
            return False
        return press.only_if is None or bool(press.only_if.search(self.terminal.screen.text()))

    async def _taken(self, press: Press) -> None:
        """Waits until the keys have done what they are for; for ever if that does not show."""
        seen = self.terminal.changes
        while self.terminal.exit_code is None and (press.until or press.unless_idle):
            if press.until and press.until.search(self.terminal.screen.text()):
                return
            if press.unless_idle and self._read(_WATCH_AGE).turn == "idle":
                return
            seen = await self.terminal.changed(seen)
        await trio.sleep_forever()

    async def stop(self, *, clean: bool) -> str:
        """Quit keys if `clean`, then SIGTERM and SIGKILL to all its processes; returns its last text."""
        self.terminal.family.look()  # remembered: what the program leaves behind is still found then
        if clean and self.terminal.exit_code is None:
            await self._quit()
        report = self.report = await self.terminal.family.end(self._budgets.stopping_step)
        if report.survivors:
            raise SideFailed(f"these processes did not end: {', '.join(report.survivors)}")
        with trio.move_on_after(self._budgets.stopping_step):
            await self.terminal.wait_exited()
        return self.last_words()

    async def _quit(self) -> None:
        """The quit keys; where they do not help in half the time, the agent's own command."""
        for keys in (self._profile.quit, self._profile.quit_command):
            with trio.move_on_after(self._budgets.stopping_step / 2), suppress(InputStuck):
                await self.press(keys)
                await self.terminal.wait_exited()
                return

    def strike(self) -> None:
        """SIGKILL to all its processes."""
        self.terminal.family.signal(SIGKILL)

    def last_words(self) -> str:
        """What it said after it had given the terminal back, as plain text."""
        modes = self.terminal.screen.modes()
        return "" if modes.alternate or 2004 in modes.private else farewell.last_words(self._tail())

    def _tail(self) -> str:
        """The newest output."""
        journal = self.terminal.journal
        return journal.read(max(journal.tail, journal.end - _TAIL), _TAIL).decode("utf-8", "replace")

    async def ended(self) -> int:
        """Waits for the program's end."""
        return await self.terminal.wait_exited()

    def _ended(self) -> SideFailed:
        why = farewell.reason(self._tail())[:300]
        pattern = self._profile.occupied
        kind = OccupiedElsewhere if pattern and pattern.match(why) else SideFailed
        how = f"the terminal program ended ({_how(self.terminal.exit_code)})"
        return kind(f"{how}: {why}" if why else how)


def _how(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


@asynccontextmanager
async def own_temp(plan: Plan) -> AsyncIterator[dict[str, str]]:
    """The environment of one start, with a temp folder that goes with it where the profile asks for one."""
    if not plan.profile.own_temp:
        yield plan.env
        return
    async with temp_folder() as folder:
        yield {**plan.env, "TMPDIR": folder, "BUN_TMPDIR": folder}


@asynccontextmanager
async def open_tui(
    plan: Plan, mark: Mark, session_id: str | None, cols: int, rows: int, budgets: Budgets
) -> AsyncIterator[Tui]:
    """The TUI on a new PTY; with a session id it opens that conversation. Raises `SideFailed`."""
    seen = await plan.seen.known()
    launch = await apart_from_shared_server(plan.profile, plan.launch, seen, plan.cwd)
    if isinstance(launch, str):
        raise SideFailed(launch)
    argv = launch.resumed(plan.profile.resume_args(session_id)) if session_id else launch.argv()
    async with AsyncExitStack() as stack:
        env = await stack.enter_async_context(own_temp(plan))
        env = {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        started_at = time.time()
        try:
            terminal = await stack.enter_async_context(
                open_terminal(
                    argv,
                    cwd=plan.cwd,
                    env=env,
                    mark=mark,
                    cols=cols,
                    rows=rows,
                    budgets=budgets,
                    answer_osc7501=plan.profile.answer_osc7501,
                )
            )
        except HybridmuxError as exc:
            raise SideFailed(f"{plan.profile.title} cannot be started: {exc}") from exc
        # A first prompt may be among the arguments; those that a resume keeps have none.
        entered = session_id is None and bool(plan.launch.args)
        opens = session_id is not None
        yield Tui(terminal, plan, started_at, budgets, entered=entered, opens=opens)
