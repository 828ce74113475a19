"""What a peer reads from and writes to, and the one that is made of a child's pipes."""

import os
from typing import Protocol

import trio

READ = 64 * 1024


class ByteStream(Protocol):
    """Bytes both ways."""

    async def receive_some(self) -> bytes:
        """The next bytes, `b""` at the end. Always a checkpoint. Raises trio's Closed/BrokenResourceError."""

    async def send_all(self, data: bytes) -> None:
        """Writes all of `data`. Raises trio's Closed/BrokenResourceError."""

    async def close_output(self) -> None:
        """Ends our direction (the other side reads end of file); reading goes on."""


class Piped(Protocol):
    """Owns our non-blocking ends of a program's standard input and output; None once closed."""

    @property
    def stdin(self) -> int | None: ...
    @property
    def stdout(self) -> int | None: ...
    def close_stdin(self) -> None: ...


class PipeStream:
    """A program's standard input and output as one stream. The descriptors stay the program's to close."""

    def __init__(self, program: Piped) -> None:
        self._program = program

    async def receive_some(self) -> bytes:
        while True:
            fd = _open(self._program.stdout)
            await trio.lowlevel.wait_readable(fd)
            # One read per readiness: it takes what the pipe holds, and then others get their turn.
            try:
                return os.read(fd, READ)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(f"cannot read: {error.strerror}") from error

    async def send_all(self, data: bytes) -> None:
        rest = memoryview(data)
        await trio.lowlevel.checkpoint()
        while rest:
            fd = _open(self._program.stdin)
            try:
                rest = rest[os.write(fd, rest[:READ]) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(fd)
            except OSError as error:
                raise trio.BrokenResourceError(f"cannot write: {error.strerror}") from error

    async def close_output(self) -> None:
        self._program.close_stdin()
        await trio.lowlevel.checkpoint()


def _open(fd: int | None) -> int:
    if fd is None:
        raise trio.ClosedResourceError("the pipe is closed")
    return fd
