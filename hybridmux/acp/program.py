"""A connector's process: its pipes, its stderr, its end."""

import os
import re
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from signal import SIGKILL, Signals

import trio

from hybridmux.acp.background import background
from hybridmux.acp.streams import READ, ByteStream, PipeStream
from hybridmux.budgets import EXIT_GRACE, STDERR_LINE, STDERR_TAIL, Budgets
from hybridmux.proc.family import LADDER, EndReport, Family
from hybridmux.proc.mark import Mark
from hybridmux.proc.spawn import PIPE, Child, spawn

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


_PIDS = re.compile(r"\(node:\d+\) ?|(?<=' )\(\d+\) (?=panicked)|(?<=\bpid)[ =:#]*\d+", re.IGNORECASE)
"""How Node.js, Rust and others name themselves in what they say last: by a number that is told nobody."""


class Tail:
    """The last lines of a stream of text, without colours, control characters and the program's pid."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=STDERR_TAIL)
        self._open = b""

    def feed(self, data: bytes) -> None:
        """Takes what was read."""
        *whole, rest = (self._open + data).split(b"\n")
        self._lines.extend(filter(None, map(_plain, whole[-STDERR_TAIL:])))
        self._open = rest[: 4 * STDERR_LINE]

    def lines(self) -> list[str]:
        """Oldest first; an unfinished line counts."""
        return [*self._lines, *filter(None, [_plain(self._open)])][-STDERR_TAIL:]


def _plain(line: bytes) -> str:
    text = _CONTROL.sub("", line.decode("utf-8", "replace"))
    return _PIDS.sub("", text).strip()[:STDERR_LINE]


class Program:
    """A running connector; made by `open_program`."""

    def __init__(self, name: str, child: Child, budgets: Budgets) -> None:
        self.name = name
        """For sentences."""
        self.family = Family(child)
        self.stderr = Tail()
        self.stream: ByteStream = PipeStream(child)
        self._child = child
        self._budgets = budgets

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative is a signal's number."""
        return self._child.returncode

    async def wait(self) -> int:
        """Waits for its end."""
        return await self._child.wait()

    def look(self) -> None:
        """Remembers who belongs to it, while they still hang below it: before it is asked to end."""
        self.family.look()

    async def end(self, steps: Sequence[Signals] = LADDER) -> EndReport:
        """Ends it and everything it started; not cancellable, each step bounded."""
        with trio.CancelScope(shield=True):
            report = await self.family.end(self._budgets.stopping_step, steps=steps)
            with trio.move_on_after(EXIT_GRACE):
                await self.wait()
        return report

    def close(self) -> None:
        """Lets go of it."""
        if self.exit_code is None:
            self._child.disown()
        self._child.close()

    async def kill(self) -> EndReport:
        """Ends everything at once."""
        return await self.end((SIGKILL,))

    def pids(self) -> frozenset[int]:
        """It and everything it started."""
        return self.family.pids()

    def strike(self) -> None:
        """SIGKILL to everything, at once."""
        self.family.signal(SIGKILL)

    async def drain(self) -> None:
        """Reads stderr to its end."""
        while (fd := self._child.stderr) is not None:
            try:
                await trio.lowlevel.wait_readable(fd)
                data = os.read(fd, READ)
            except BlockingIOError:
                continue
            except (trio.ClosedResourceError, OSError):
                return
            if not data:
                return
            self.stderr.feed(data)


@asynccontextmanager
async def open_program(
    argv: Sequence[str], *, cwd: str, env: dict[str, str], mark: Mark, budgets: Budgets, name: str = ""
) -> AsyncIterator[Program]:
    """Starts a program on three pipes; leaving the block ends all of it. Raises `SpawnFailed`.

    `name`: for sentences; without one the file's, which in a wrapper is the shell's.
    """
    child = await spawn(argv, cwd=cwd, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE, mark=mark)
    program = Program(name or os.path.basename(argv[0]), child, budgets)  # noqa: PTH119 - a name, not a file
    try:
        async with background() as nursery:
            nursery.start_soon(program.drain)
            try:
                yield program
            finally:
                program.look()
                child.close_stdin()
                await program.end()
    finally:
        program.close()
