"""Runs one command of a user in a process group of its own."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator

from hybridmux.agents.demo import limits


class Output:
    """What a command prints, cut at `OUTPUT_BYTES`; `ended` is set at the end of the pipe."""

    def __init__(self, fd: int, on_output: Callable[[str], None]) -> None:
        self.ended = asyncio.Event()
        self._fd = fd
        self._on_output = on_output
        self._data = b""
        self._cut = False
        self._told = asyncio.get_running_loop().time()

    def ready(self) -> None:
        """Takes what the pipe has, and tells about it unless that was done a moment ago."""
        data = os.read(self._fd, 16 * 1024)
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
            self.ended.set()
            return
        room = limits.OUTPUT_BYTES - len(self._data)
        self._data += data[:room]
        self._cut = self._cut or len(data) > room
        now = asyncio.get_running_loop().time()
        if now - self._told >= limits.OUTPUT_PAUSE:
            self._told = now
            self._on_output(str(self))

    def __str__(self) -> str:
        return self._data.decode(errors="replace") + ("\n… (cut)" if self._cut else "")


async def run(command: str, cwd: str, on_output: Callable[[str], None]) -> tuple[int, str]:
    """Runs `command` with sh; answers its exit status (negative: a signal) and its output. Raises `OSError`.

    When cancelled, the whole process group is killed before the cancellation goes on. `on_output` gets the
    output so far, at most every `OUTPUT_PAUSE`. What a grandchild prints after the end is not waited for.
    """
    with _pipe() as (reader, writer):
        process = subprocess.Popen(  # noqa: ASYNC220  # starting a shell takes a millisecond
            ["/bin/sh", "-c", command],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            start_new_session=True,
        )
        os.close(writer)
        output = Output(reader, on_output)
        with _readable(reader, output.ready):
            try:
                await _exited(process.pid)
            finally:
                _kill(process)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(output.ended.wait(), limits.OUTPUT_DRAIN)
        return process.returncode, str(output)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the group if its leader still runs; collects the leader either way."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def _exited(pid: int) -> None:
    fd, ended = os.pidfd_open(pid), asyncio.Event()
    try:
        with _readable(fd, ended.set):
            await ended.wait()
    finally:
        os.close(fd)


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """Both ends; the reading one is closed at the end, the writing one by the caller once it is handed on."""
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        os.close(reader)


@contextlib.contextmanager
def _readable(fd: int, call: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_reader(fd, call)
    try:
        yield
    finally:
        loop.remove_reader(fd)
