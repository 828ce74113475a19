"""Byte streams in memory, as both ends of a connector's pipes, with a full pipe that blocks if asked for."""

import trio

PIPE = 64 * 1024


class MemoryStream:
    """One end: what it sends the other receives. `limit` bytes may wait unread, then `send_all` blocks."""

    def __init__(self, limit: int | None = None) -> None:
        self.incoming = bytearray()
        self.ended = False
        self.limit = limit
        self.peer: MemoryStream = self
        self.piece = PIPE
        """The most one read gives."""
        self._changed = trio.lowlevel.ParkingLot()

    async def receive_some(self) -> bytes:
        await trio.lowlevel.checkpoint()
        while not self.incoming and not self.ended:
            await self._changed.park()
        data = bytes(self.incoming[: self.piece])
        del self.incoming[: self.piece]
        self._changed.unpark_all()
        return data

    async def send_all(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        other = self.peer
        while other.limit is not None and len(other.incoming) > other.limit and not other.ended:
            await other._changed.park()
        if other.ended:
            raise trio.BrokenResourceError("broken pipe")
        other.incoming += data
        other._changed.unpark_all()

    def feed(self, data: bytes) -> None:
        """Puts bytes in to be read here."""
        self.incoming += data
        self._changed.unpark_all()

    def end(self) -> None:
        """End of file for whoever reads here; what was sent is still read. Writing to it breaks."""
        self.ended = True
        self._changed.unpark_all()

    async def close_output(self) -> None:
        await trio.lowlevel.checkpoint()
        self.peer.end()


def stream_pair(limit: int | None = None) -> tuple[MemoryStream, MemoryStream]:
    """Two connected ends."""
    ours, theirs = MemoryStream(limit), MemoryStream(limit)
    ours.peer, theirs.peer = theirs, ours
    return ours, theirs
