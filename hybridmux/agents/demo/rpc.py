"""JSON-RPC 2.0 over stdin and stdout, one message a line: just what one agent needs.

Two threads do the blocking reads and writes, so that any kind of file works as stdin and stdout, a client
that stops reading never keeps us from hearing a cancel, and fds stay as blocking as they were for others.
"""

import asyncio
import contextlib
import itertools
import json
import os
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

from hybridmux.agents.demo import limits
from hybridmux.agents.demo.history import Line, dump


class RpcError(Exception):
    """An error answer; also what a request of ours was answered with."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Line = {"code": code, "message": message} | ({"data": data} if data is not None else {})


class Reader:
    """Lines of stdin; ends at its end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        pending = bytearray()
        while data := self._some():
            pending += data
            if b"\n" in data:
                *lines, rest = pending.split(b"\n")
                pending = rest
                self._hand_over([bytes(line) for line in lines])
        self._hand_over([bytes(pending), None] if pending else [None])

    def _some(self) -> bytes:
        try:
            return os.read(0, 256 * 1024)
        except OSError:
            return b""

    def _hand_over(self, lines: Sequence[bytes | None]) -> None:
        def put() -> None:
            for line in lines:
                self._lines.put_nowait(line)

        with contextlib.suppress(RuntimeError):  # the loop is closed: the process is about to end
            self._loop.call_soon_threadsafe(put)

    async def lines(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line


class Writer:
    """Bytes to stdout; `write` never waits, `room` does."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._change = threading.Condition()
        self._pending = bytearray()
        self._busy = 0
        self._hurrying = False
        self._waiting: set[asyncio.Future[None]] = set()
        threading.Thread(target=self._work, daemon=True).start()

    @property
    def unwritten(self) -> int:
        return len(self._pending) + self._busy

    def write(self, data: bytes) -> None:
        with self._change:
            self._pending += data
            self._change.notify()

    async def room(self, most: int = limits.STDOUT_HIGH) -> None:
        """Returns when at most `most` bytes are unwritten, or at once after `hurry`."""
        while self.unwritten > most and not self._hurrying:
            await self._progress()

    def hurry(self) -> None:
        """From now on nobody waits for the client: the process is about to end."""
        self._hurrying = True
        self._wake()

    async def flushed(self, patience: float) -> None:
        """Returns when all is written, or after `patience` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self.unwritten:
                    await self._progress()

    async def _progress(self) -> None:
        future = self._loop.create_future()
        self._waiting.add(future)
        await future

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._pending)
                self._busy = len(self._pending)
                data, self._pending = self._pending, bytearray()
            self._write_all(memoryview(data))
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)

    def _write_all(self, data: memoryview) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more: stdin will tell
            while data:
                data = data[os.write(1, data[: 64 * 1024]) :]
                self._busy = len(data)
        self._busy = 0

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)


class Wire:
    """Messages in and out, with our own requests matched to their answers."""

    def __init__(self) -> None:
        self._reader = Reader()
        self.writer = Writer()
        self._ids = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}

    async def messages(self) -> AsyncIterator[Line]:
        """Requests and notifications; lines that are no messages are passed over."""
        async for line in self._reader.lines():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("method"), str):
                yield message
            elif isinstance(message, dict):
                self._answered(message)

    def _answered(self, message: Line) -> None:
        number = message.get("id")
        future = self._open.get(number) if isinstance(number, int) else None
        if future is None or future.done():
            return
        if "error" in message:
            error = message["error"] if isinstance(message["error"], dict) else {}
            future.set_exception(
                RpcError(error.get("code", 0), str(error.get("message", "")), error.get("data"))
            )
        else:
            future.set_result(message.get("result"))

    def send(self, **message: Any) -> None:
        self.writer.write(dump({"jsonrpc": "2.0", **message}))

    async def request(self, method: str, params: Line) -> Any:
        """Raises `RpcError` when the client answers with one."""
        number = next(self._ids)
        self._open[number] = asyncio.get_running_loop().create_future()
        try:
            self.send(id=number, method=method, params=params)
            return await self._open[number]
        finally:
            del self._open[number]
