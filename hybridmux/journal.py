"""The one stream primitive: a bounded log with rising positions.

A stream is written once, synchronously, into a journal. A viewer holds nothing but a position and pulls:
`read(position)`, send, move on. No queue per viewer exists, so a stuck viewer costs nothing and delays
nobody, and one that is behind gets one big piece. When the oldest entries have made room for new ones a
position before `tail` raises `FellBehind`.

    bytes   positions are byte offsets, an entry is a chunk            `ByteJournal`
    items   positions are sequence numbers, an entry is one item       `ItemJournal`

Both keep entries, their starts and a moving head; finding a position is a bisection.
"""

from bisect import bisect_right
from typing import Any, Generic, TypeVar

import trio

T = TypeVar("T")


class FellBehind(Exception):
    """The position asked for is no longer (or not yet) in the journal; `tail` and `end` are what is there."""

    def __init__(self, position: int, tail: int, end: int) -> None:
        super().__init__(f"position {position} is outside {tail}..{end}")
        self.position, self.tail, self.end = position, tail, end


class _Journal(Generic[T]):
    """Entries with a start position and a cost in bytes; at most `limit` bytes of them are kept."""

    def __init__(self, limit: int, start: int = 0) -> None:
        self.limit = limit
        self.end = start
        """The position after the last entry."""
        self.closed = False
        self._entries: list[Any] = []
        self._costs: list[int] = []
        self._starts: list[int] = []
        self._head = 0
        self._cost = 0
        self._lot = trio.lowlevel.ParkingLot()

    @property
    def tail(self) -> int:
        """The oldest position that can still be read."""
        return self._starts[self._head] if self._head < len(self._starts) else self.end

    @property
    def cost(self) -> int:
        """Bytes held."""
        return self._cost

    def close(self) -> None:
        """No more will be written; wakes everyone who waits."""
        self.closed = True
        self._lot.unpark_all()

    async def wait(self, position: int) -> bool:
        """Waits for something at `position` or later; False when the journal was closed before that."""
        await trio.lowlevel.checkpoint()
        # No await between the test and the parking: a write in between would be missed.
        while self.end <= position and not self.closed:
            await self._lot.park()
        return self.end > position

    def _append(self, entry: T, length: int, cost: int) -> None:
        self._entries.append(entry)
        self._starts.append(self.end)
        self._costs.append(cost)
        self.end += length
        self._cost += cost
        while self._cost > self.limit and self._head < len(self._entries) - 1:
            self._cost -= self._costs[self._head]
            self._entries[self._head] = None  # freed now; the lists are shortened later, all at once
            self._head += 1
        if self._head > 1024 and self._head * 2 > len(self._entries):
            del self._entries[: self._head], self._starts[: self._head], self._costs[: self._head]
            self._head = 0
        self._lot.unpark_all()

    def _find(self, position: int) -> int:
        """The index of the entry that holds `position`."""
        if not self.tail <= position <= self.end:
            raise FellBehind(position, self.tail, self.end)
        return (
            bisect_right(self._starts, position, lo=self._head) - 1
            if position < self.end
            else len(self._starts)
        )


class ByteJournal(_Journal[bytes]):
    """A stream of bytes; positions are offsets from the stream's start."""

    def write(self, data: bytes) -> None:
        """Appends one chunk; empty chunks are ignored."""
        if data:
            self._append(data, len(data), len(data))

    def read(self, position: int, at_most: int) -> bytes:
        """The bytes from `position` on, at most `at_most` of them; empty at the end. Raises `FellBehind`."""
        index = self._find(position)
        pieces: list[bytes] = []
        room = at_most
        skip = position - self._starts[index] if index < len(self._starts) else 0
        while index < len(self._entries) and room > 0:
            piece = self._entries[index][skip : skip + room]
            pieces.append(piece)
            room -= len(piece)
            skip = 0
            index += 1
        return b"".join(pieces)


class ItemJournal(_Journal[T]):
    """A stream of items; positions are sequence numbers, the first item's is `first`."""

    def __init__(self, limit: int, first: int = 1) -> None:
        super().__init__(limit, first)

    def write(self, item: T, cost: int) -> int:
        """Appends one item that weighs `cost` bytes and returns its position."""
        position = self.end
        self._append(item, 1, cost)
        return position

    def read(self, position: int, at_most: int) -> list[T]:
        """Items from `position` on whose costs add up to about `at_most` (always one, if there is one)."""
        first = index = self._find(position)
        room = at_most
        while index < len(self._entries) and room > 0:
            room -= self._costs[index]
            index += 1
        return self._entries[first:index]
