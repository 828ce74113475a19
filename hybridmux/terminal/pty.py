"""A pseudo-terminal: the pair, its size, and a program on it."""

import fcntl
import os
import struct
import termios
from collections.abc import Mapping, Sequence
from typing import Self

import trio
from attrs import define, field

from hybridmux.budgets import SIZE_MAX, SIZE_MIN
from hybridmux.proc.mark import Mark
from hybridmux.proc.spawn import Child, spawn

_IUTF8 = 0o40000
"""Linux: erasing in the kernel's line editor takes whole UTF-8 characters. `termios` has no name for it."""


def clamp(size: int) -> int:
    """A number of columns or rows within `SIZE_MIN`..`SIZE_MAX`."""
    return max(SIZE_MIN, min(SIZE_MAX, size))


@define(eq=False)
class Pty:
    """The master's end, non-blocking. Who opens it closes it."""

    master: int
    cols: int
    rows: int
    _slave: int | None = field(repr=False)

    @classmethod
    def open(cls, cols: int, rows: int) -> Self:
        """A new pair of this (clamped) size. Raises OSError when the machine has no more."""
        master, slave = os.openpty()
        pty = cls(master, 0, 0, slave)
        try:
            os.set_blocking(master, False)
            attributes = termios.tcgetattr(slave)
            attributes[0] |= _IUTF8
            termios.tcsetattr(slave, termios.TCSANOW, attributes)
            pty.resize(cols, rows)
        except BaseException:
            pty.close()
            raise
        return pty

    def resize(self, cols: int, rows: int) -> None:
        """Sets the clamped size; the kernel sends SIGWINCH to the foreground group if it is another."""
        self.cols, self.rows = clamp(cols), clamp(rows)
        self.tell(self.cols, self.rows)

    def tell(self, cols: int, rows: int) -> None:
        """The same, but only the program learns of it."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def spawn(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], mark: Mark) -> Child:
        """Starts the one program of this terminal; see `proc.spawn.spawn`. From here on only programs hold
        the other end, so that reading ends when the last of them lets go."""
        assert self._slave is not None, "one program for each PTY"
        slave = self._slave
        try:
            return await spawn(
                argv,
                cwd=cwd,
                env=env,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                mark=mark,
                tty_name=os.ttyname(slave),
            )
        finally:
            self._close_slave()

    def _close_slave(self) -> None:
        if self._slave is not None:
            os.close(self._slave)
            self._slave = None

    def close(self) -> None:
        """Closes our ends; the kernel hangs up on whoever still has the other."""
        self._close_slave()
        if self.master >= 0:
            trio.lowlevel.notify_closing(self.master)
            os.close(self.master)
            self.master = -1
