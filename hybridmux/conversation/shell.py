"""An ordinary terminal: a program on a PTY, without an agent."""

import logging
import secrets

import trio

from hybridmux.budgets import Budgets
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.held import Held
from hybridmux.conversation.sizing import Sizing
from hybridmux.conversation.supervised import supervised
from hybridmux.proc.mark import Mark
from hybridmux.terminal.terminal import Terminal, open_terminal
from hybridmux.wire.sessions import SessionInfo
from hybridmux.wire.types import utc_now

log = logging.getLogger(__name__)


class ShellSession:
    """One ordinary terminal in the list."""

    def __init__(self, *, name: str, cmd: list[str], cwd: str, env: dict[str, str], bell: Bell) -> None:
        self.id = secrets.token_hex(6)
        self.name, self.cmd, self.cwd = name, cmd, cwd
        self.created_at = self.updated_at = utc_now()
        self.bell = Bell()
        self.sizing = Sizing()
        self.over = trio.Event()
        self._env, self._hub_bell = env, bell
        self._held: Held[Terminal] | None = None
        self._failed = False

    @property
    def terminal(self) -> Terminal:
        """The program on its PTY."""
        assert self._held is not None
        return self._held.value

    async def run(
        self,
        mark: Mark,
        size: tuple[int, int],
        budgets: Budgets,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Starts the program (raises what keeps it from that) and stays until the session leaves the list."""
        env = {**self._env, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        cols, rows = size
        manager = open_terminal(
            self.cmd, cwd=self.cwd, env=env, mark=mark, cols=cols, rows=rows, budgets=budgets
        )
        failure: Exception | None = None
        async with supervised(self.id, self._fail) as nursery:
            try:
                self._held = await Held.open(nursery, manager)
            except Exception as exc:
                failure = exc  # raised below, to whoever waits for the start: there is no session yet
            else:
                nursery.start_soon(self._watch, self._held.value)
                task_status.started()
                await self.over.wait()
                await self._held.release()
                nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        self._tell_of_survivors()

    async def _fail(self) -> None:
        """A fault of ours ended it: it stays in the list as exited until somebody closes it."""
        self._failed = True
        self.changed()

    def _tell_of_survivors(self) -> None:
        report = self.terminal.end_report
        if report is not None and report.survivors:
            names = ", ".join(report.survivors)
            log.error("these processes did not end: %s", names, extra={"session": self.id})

    async def _watch(self, terminal: Terminal) -> None:
        shown: tuple[str, int | None] | None = None
        seen = -1
        while terminal.exit_code is None:
            seen = await terminal.changed(seen)
            now = (terminal.title, terminal.exit_code)
            if now != shown:
                shown = now
                self.changed()

    def changed(self) -> None:
        """Tells everyone who looks."""
        self.updated_at = utc_now()
        self.bell.ring()
        self._hub_bell.ring()

    def info(self) -> SessionInfo:
        """The session in the list."""
        terminal = self.terminal
        return SessionInfo(
            id=self.id,
            name=self.name,
            title=self.name or terminal.title or self.cmd[0],
            cmd=self.cmd,
            cwd=self.cwd,
            created_at=self.created_at,
            updated_at=self.updated_at,
            status="idle" if terminal.exit_code is None and not self._failed else "exited",
            attention=None,
            preview="",
            cols=terminal.cols,
            rows=terminal.rows,
            exit_code=terminal.exit_code,
        )
