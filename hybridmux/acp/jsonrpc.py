"""JSON-RPC 2.0 over newline-delimited JSON, both directions at once, with an agent we do not trust.

    reader task    one read -> whole lines -> each dispatched synchronously, in order
      notification   handed to `notified` at once
      response       resolves the call that waits for it
      request        a task of the peer's nursery, or an error answer at once
    writer task    sends what `request`, `notify` and answers have queued, in order

The notifications that came before a response have been handled when the caller of that request runs again,
because lines are dispatched in order and synchronously. The reader never waits for the writer, so an agent
that stops reading cannot stop us reading it.

A line that makes no sense is counted and remembered (`Peer.counts`, `Peer.notes`), and the peer lives on.
It ends by end of file, a broken pipe, an overlong line, or an agent that asks and never reads the answers.
"""

from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
import trio

from hybridmux.acp.background import background
from hybridmux.acp.calls import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    Call,
    PeerClosed,
    RpcError,
    read_error,
)
from hybridmux.acp.lines import LineSplitter, LineTooLong, decode, encode
from hybridmux.acp.outbox import Outbox
from hybridmux.acp.streams import ByteStream
from hybridmux.budgets import ACP_BATCH, ACP_LINE, ACP_OPEN_REQUESTS

__all__ = ["Call", "Peer", "PeerClosed", "RpcError", "open_peer"]

CANCEL_REQUEST = "$/cancel_request"
NOTES = 32
"""Error notes that are kept, each cut at `NOTE_CHARS`."""
NOTE_CHARS = 200
UNREAD_ANSWERS = 4 * ACP_OPEN_REQUESTS
"""Answers the agent asked for and does not read; more of them end the peer."""

Requested = Callable[[Any], Awaitable[Any]]
Notified = Callable[[str, Any], None]
RequestId = int | str | float | None


class Peer:
    """One end of a connection; made by `open_peer`."""

    def __init__(
        self, stream: ByteStream, *, notified: Notified, requests: Mapping[str, Requested], line_limit: int
    ) -> None:
        self.closed = trio.Event()
        self.reason: str | None = None
        """Why it is closed, as a clause (`the agent closed its output`)."""
        self.ended_cleanly = False
        """It ended with the end of the agent's output, and with nothing worse."""
        self.counts: Counter[str] = Counter()
        """garbage, invalid, unknown_response, unknown_method, refused."""
        self.notes: deque[str] = deque(maxlen=NOTES)
        self.lines = 0
        """Lines read so far."""
        self._stream = stream
        self._notified = notified
        self._requests = requests
        self._splitter = LineSplitter(line_limit)
        self._outbox = Outbox(stream)
        self._calls: dict[int, Call] = {}
        self._last_id = 0
        self._open: dict[RequestId, trio.CancelScope] = {}
        self._nursery: trio.Nursery | None = None

    @property
    def deaf(self) -> bool:
        """Whether nothing more can be said to it; what was written before may still be answered."""
        return self._outbox.failure is not None

    # --- our side ---

    def start(self, method: str, params: Any) -> Call:
        """Queues a request and returns at once; the caller waits for `call.result()`."""
        self._last_id += 1
        call = Call(self._last_id, method)
        if self.reason is not None or self.deaf:
            call.fail(PeerClosed(self.reason or self._outbox.failure or ""))
            return call
        self._calls[call.id] = call
        self._outbox.put(
            encode({"jsonrpc": "2.0", "id": call.id, "method": method, "params": params}), call.sent
        )
        return call

    async def request(self, method: str, params: Any, *, cancel_remote: bool = False) -> Any:
        """The result of `method`. Raises `RpcError`, `PeerClosed`.

        Cancelled, it forgets the call; a late answer is then an unknown one. With `cancel_remote` the other
        side is told too.
        """
        call = self.start(method, params)
        try:
            return await call.result()
        except trio.Cancelled:
            if cancel_remote and not call.done.is_set():
                self.notify(CANCEL_REQUEST, {"requestId": call.id})
            raise
        finally:
            self.forget(call)

    def forget(self, call: Call) -> None:
        """No one waits for this call any more."""
        self._calls.pop(call.id, None)

    def notify(self, method: str, params: Any) -> None:
        """Queues a notification. Dropped when the peer is closed."""
        if self.reason is None:
            self._outbox.put(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    async def flush(self) -> None:
        """Waits until everything queued so far is written, or cannot be."""
        await self._outbox.flush()

    async def close_output(self) -> None:
        """Writes what is queued, then ends our direction."""
        await self.flush()
        self._write_failed("our direction is closed")
        self._outbox.fail("our direction is closed")
        await self._stream.close_output()

    def close(self, reason: str) -> None:
        """Ends the connection at once; nothing more is read."""
        self._end(reason)
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()

    # --- their side ---

    async def run(self) -> None:
        """Reads and writes until the end; then every waiter has its `PeerClosed`."""
        async with trio.open_nursery() as self._nursery:
            self._nursery.start_soon(self._outbox.run, self._write_failed)
            try:
                self._end(await self._read())
            finally:
                self._end("the connection was closed by us")
            self._nursery.cancel_scope.cancel()

    async def _read(self) -> str:
        """Dispatches until the stream ends; the reason why it did."""
        try:
            while data := await self._stream.receive_some():
                await self._dispatch_all(self._splitter.feed(data))
                if self._outbox.answers > UNREAD_ANSWERS:
                    return "the agent sends requests and does not read the answers"
        except LineTooLong as error:
            await self._dispatch_all(error.lines)
            return f"the agent sent {error}"
        except trio.BrokenResourceError as error:
            return f"the connection to the agent broke: {error}"
        except trio.ClosedResourceError:
            return "the connection was closed by us"
        if rest := self._splitter.rest():
            self._dispatch(rest)
        self.ended_cleanly = True
        return "the agent closed its output"

    async def _dispatch_all(self, lines: list[bytes]) -> None:
        for number, line in enumerate(lines, 1):
            self._dispatch(line)
            if number % ACP_BATCH == 0:
                await trio.lowlevel.checkpoint()

    def _dispatch(self, line: bytes) -> None:
        self.lines += 1
        try:
            message = decode(line)
        except orjson.JSONDecodeError:
            if line and not line.isspace():
                self._note("garbage", line)
            return
        if type(message) is not dict:
            self._note("invalid", line)
            return
        method = message.get("method")
        if type(method) is str:
            if "id" in message:
                self._on_request(message["id"], method, message.get("params"), line)
            else:
                self._on_notification(method, message.get("params"))
        elif method is None and "id" in message and ("result" in message or "error" in message):
            self._on_response(message, line)
        else:
            self._note("invalid", line)

    def _on_notification(self, method: str, params: Any) -> None:
        if method != CANCEL_REQUEST:
            self._notified(method, params)
            return
        request_id = params.get("requestId") if isinstance(params, dict) else None
        scope = self._open.get(request_id) if _is_id(request_id) else None
        if scope is not None:
            scope.cancel()

    def _on_response(self, message: dict[str, Any], line: bytes) -> None:
        request_id = message["id"]
        call = self._calls.pop(request_id, None) if type(request_id) is int else None
        if call is None:
            self._note("unknown_response", line)
        elif message.get("error") is None:
            call.resolve(message.get("result"))
        else:
            call.fail(read_error(message["error"]))

    def _on_request(self, request_id: Any, method: str, params: Any, line: bytes) -> None:
        if not _is_id(request_id):
            self._note("invalid", line)
        elif (handler := self._requests.get(method)) is None:
            self.counts["unknown_method"] += 1
            self._refuse(request_id, METHOD_NOT_FOUND, f"Method not found: {method[:NOTE_CHARS]}")
        elif request_id in self._open:
            self._note("invalid", line)
            self._refuse(request_id, INVALID_REQUEST, "A request with this id is open")
        elif len(self._open) >= ACP_OPEN_REQUESTS:
            self._note("refused", line)
            self._refuse(request_id, INTERNAL_ERROR, "Too many open requests")
        else:
            assert self._nursery is not None
            self._open[request_id] = trio.CancelScope()
            self._nursery.start_soon(self._answer, request_id, handler, params)

    async def _answer(self, request_id: RequestId, handler: Requested, params: Any) -> None:
        """Runs one handler. An exception other than `RpcError` is our bug and ends the peer's owner."""
        scope = self._open[request_id]
        answer: dict[str, Any] = {"error": RpcError(REQUEST_CANCELLED, "Request cancelled").as_json()}
        try:
            with scope:
                answer = {"result": await handler(params)}
        except RpcError as error:
            answer = {"error": error.as_json()}
        finally:
            del self._open[request_id]
        self._outbox.put_answer(encode({"jsonrpc": "2.0", "id": request_id, **answer}))

    def _refuse(self, request_id: RequestId, code: int, message: str) -> None:
        error = RpcError(code, message).as_json()
        self._outbox.put_answer(encode({"jsonrpc": "2.0", "id": request_id, "error": error}))

    def _write_failed(self, reason: str) -> None:
        """Calls that were not written get no answer; others still may."""
        for call in [call for call in self._calls.values() if not call.sent.is_set()]:
            self.forget(call)
            call.fail(PeerClosed(reason))

    def _end(self, reason: str) -> None:
        if self.reason is not None:
            return
        self.reason = reason
        self._outbox.fail(reason)
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.fail(PeerClosed(reason))
        self.closed.set()

    def _note(self, kind: str, line: bytes) -> None:
        self.counts[kind] += 1
        self.notes.append(f"{kind}: {line[:NOTE_CHARS]!r}")


@asynccontextmanager
async def open_peer(
    stream: ByteStream, *, notified: Notified, requests: Mapping[str, Requested], line_limit: int = ACP_LINE
) -> AsyncIterator[Peer]:
    """A running peer; leaving the block ends it. The stream stays the caller's to close.

    `notified(method, params)` is called synchronously and in order. `requests` maps a method to an async
    function of the params; other methods are answered -32601 at once.
    """
    peer = Peer(stream, notified=notified, requests=requests, line_limit=line_limit)
    async with background() as nursery:
        nursery.start_soon(peer.run)
        yield peer


def _is_id(value: Any) -> bool:
    return value is None or type(value) in (int, str, float)
