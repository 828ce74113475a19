"""Messages on their way out: queued without waiting, written in order by one task."""

from collections import deque
from collections.abc import Callable

import trio
from attrs import define

from hybridmux.acp.streams import ByteStream

PIECE = 64 * 1024
"""Small messages are joined up to about this size for one write."""


@define(eq=False)
class _Entry:
    data: bytes
    sent: trio.Event | None
    written: Callable[[], None] | None
    answer: bool


class Outbox:
    """A queue of encoded lines and the task that writes them."""

    def __init__(self, stream: ByteStream) -> None:
        self.failure: str | None = None
        """Why nothing can be written any more."""
        self.answers = 0
        """Answers to the other side's requests that are not written yet."""
        self._stream = stream
        self._entries: deque[_Entry] = deque()
        self._wake = trio.lowlevel.ParkingLot()

    def put(
        self, data: bytes, sent: trio.Event | None = None, written: Callable[[], None] | None = None
    ) -> None:
        """Queues a line; `written` is called once it is, `sent` is set then or when it never will be."""
        self._put(_Entry(data, sent, written, answer=False))

    def put_answer(self, data: bytes) -> None:
        """Queues an answer, which counts in `answers` until it is written."""
        self._put(_Entry(data, None, None, answer=True))

    def _put(self, entry: _Entry) -> None:
        if self.failure is not None:
            if entry.sent is not None:
                entry.sent.set()
            return
        self.answers += entry.answer
        self._entries.append(entry)
        self._wake.unpark_all()

    async def flush(self) -> None:
        """Waits until what is queued now is written, or cannot be."""
        if self._entries:
            sent = trio.Event()
            self.put(b"", sent)
            await sent.wait()
        else:
            await trio.lowlevel.checkpoint()

    def fail(self, reason: str) -> None:
        """Drops what is queued; later lines are dropped too."""
        if self.failure is None:
            self.failure = reason
        entries, self._entries = self._entries, deque()
        self.answers = 0
        for entry in entries:
            if entry.sent is not None:
                entry.sent.set()
        self._wake.unpark_all()

    async def run(self, failed: Callable[[str], None]) -> None:
        """Writes until cancelled or until writing fails; then calls `failed(reason)` before waiters wake."""
        try:
            while self.failure is None:
                if self._entries:
                    await self._write_some()
                else:
                    await self._wake.park()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            reason = f"the agent closed its input ({error})"
            failed(reason)
            self.fail(reason)

    async def _write_some(self) -> None:
        """Entries leave the queue only when they are written, so that `fail` finds them."""
        batch: list[_Entry] = []
        size = 0
        for entry in self._entries:
            if batch and size + len(entry.data) > PIECE:
                break
            batch.append(entry)
            size += len(entry.data)
        await self._stream.send_all(b"".join(entry.data for entry in batch))
        for entry in batch:
            if self._entries and self._entries[0] is entry:
                self._entries.popleft()
                self.answers -= entry.answer
            if entry.written is not None:
                entry.written()
            if entry.sent is not None:
                entry.sent.set()
