"""What is typed into a terminal: in order, in whole, and never waited for longer than a bound."""

import os

import trio

from hybridmux.errors import AgentFailed
from hybridmux.terminal.pty import Pty


class InputStuck(AgentFailed):
    """The program did not read its input within `Budgets.input_stall`; `written` bytes had gone through."""

    def __init__(self, written: int) -> None:
        super().__init__("the program does not read its input")
        self.written = written


class Keyboard:
    """Writes to the PTY's master, one caller after the other."""

    def __init__(self, pty: Pty, stall: float) -> None:
        self._pty = pty
        self._stall = stall
        self._turn = trio.Lock()
        self.nobody_reads = False
        """Set at the end of the output: the kernel would still take input, for nobody."""

    async def write(self, data: bytes) -> None:
        """See `Terminal.write`."""
        written = 0
        with trio.move_on_after(self._stall) as scope:
            async with self._turn:
                view = memoryview(data)
                while written < len(data):
                    written += await self._write_some(view[written:])
                    scope.deadline = trio.current_time() + self._stall
                    if written < len(data):
                        await trio.lowlevel.checkpoint()
        if scope.cancelled_caught:
            raise InputStuck(written)

    async def _write_some(self, data: memoryview) -> int:
        while True:
            if self._pty.master < 0:
                raise trio.ClosedResourceError
            if self.nobody_reads:
                raise trio.BrokenResourceError
            try:
                return os.write(self._pty.master, data)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._pty.master)
            except OSError as error:
                raise trio.BrokenResourceError from error
