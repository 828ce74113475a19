"""The viewers that are connected now: counted, told when the server stops, and cut when they stall."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from quart import websocket

from hybridmux.faces.http.transport import Connections


class Close(Exception):
    """Ends a socket with a close code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Viewer:
    """One WebSocket: sends are serialised and watched."""

    def __init__(self, connections: Connections, stall: float) -> None:
        self._connections, self._stall = connections, stall
        self._lock = trio.Lock()
        client = websocket.scope["client"] or ("", 0)
        self._address = (client[0], client[1] or 0)
        self._sending_since = trio.current_time()
        self._is_sending = False

    async def send(self, data: str | bytes) -> None:
        """Sends one frame; always a checkpoint, also when the peer has gone."""
        async with self._lock:
            self._is_sending, self._sending_since = True, trio.current_time()
            try:
                await websocket.send(data)
            finally:
                self._is_sending = False
        await trio.lowlevel.checkpoint()

    async def watch_stall(self) -> None:
        """Cuts the connection when one frame takes too long: the transport shields its writes."""
        while True:
            await trio.sleep(self._stall / 4)
            # Looked at four times in a stall's length, so that none takes longer than that in all.
            if self._is_sending and trio.current_time() - self._sending_since > 0.75 * self._stall:
                self.abort()

    def abort(self) -> None:
        """Ends the TCP connection without a close frame."""
        self._connections.abort(self._address)


class Viewers:
    """All viewers of this face."""

    def __init__(self, connections: Connections, stall: float) -> None:
        self.count = 0
        self._connections, self._stall = connections, stall
        self.stopping = trio.Event()

    @asynccontextmanager
    async def viewer(self) -> AsyncIterator[Viewer]:
        """One accepted WebSocket; `Close` raised inside becomes its close frame, the server's stop 1001."""
        viewer = Viewer(self._connections, self._stall)
        self.count += 1
        close: Close | None = None
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(viewer.watch_stall)
                nursery.start_soon(self._until_stop)
                yield viewer
                nursery.cancel_scope.cancel()
        except* Close as group:
            close = _first(group)
        finally:
            self.count -= 1
        if close is not None:
            await websocket.close(close.code, close.reason)

    async def _until_stop(self) -> None:
        await self.stopping.wait()
        raise Close(1001, "the server is stopping")


def _first(group: BaseExceptionGroup[Close]) -> Close:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
