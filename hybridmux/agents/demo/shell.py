"""Runs one command of a user in a process group of its own."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable

from hybridmux.agents.demo import limits


class Output:
    """What a command has printed so far, cut at `OUTPUT_BYTES`."""

    def __init__(self) -> None:
        self._data = b""
        self.cut = False

    def add(self, data: bytes) -> None:
        room = limits.OUTPUT_BYTES - len(self._data)
        self.cut = self.cut or len(data) > room
        self._data += data[:room]

    def __str__(self) -> str:
        return self._data.decode(errors="replace") + ("\n… (cut)" if self.cut else "")


async def run(command: str, cwd: str, on_output: Callable[[str], None]) -> tuple[int, str]:
    """Runs `command` with sh; answers its exit status (negative: a signal) and its output.

    When cancelled, the whole process group is killed before the cancellation goes on. `on_output` gets the output so far,
    at most every `OUTPUT_PAUSE`.
    """
    async with _process(command, cwd) as process:
        output = Output()
        reader = asyncio.ensure_future(_drain(process, output, on_output))
        try:
            status = await process.wait()
            await asyncio.wait([reader], timeout=limits.OUTPUT_DRAIN)
        finally:
            reader.cancel()
        return status, str(output)


@contextlib.asynccontextmanager
async def _process(command: str, cwd: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]  # a grandchild may keep the pipe open


async def _drain(
    process: asyncio.subprocess.Process, output: Output, on_output: Callable[[str], None]
) -> None:
    clock = asyncio.get_running_loop().time
    told = clock()
    assert process.stdout is not None
    while data := await process.stdout.read(16 * 1024):
        output.add(data)
        if clock() - told >= limits.OUTPUT_PAUSE:
            told = clock()
            on_output(str(output))
