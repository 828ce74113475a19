"""Views of the WebSockets: read in the background, held to the contract, waited on; see `client`."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import trio
import trio_websocket

from hybridmux.acp.fold import Timeline
from hybridmux.terminal.emulator import Emulator

WAIT = 20.0
Json = dict[str, Any]


def must(holds: object, what: object) -> None:
    """Raises unless what the contract says holds."""
    if not holds:
        raise AssertionError(f"against the contract: {what}")


class SocketClosed(AssertionError):
    """The server closed the socket, or has gone, before what was waited for came."""


class View:
    """Something that reads a socket and can be waited on."""

    def __init__(self, ws: trio_websocket.WebSocketConnection) -> None:
        self.ws = ws
        self.closed: tuple[int, str] | None = None
        """Close code (1006 without a close frame) and reason, once the server has closed it."""
        self._lot = trio.lowlevel.ParkingLot()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Self]:
        """Reads in the background. What the body raises leaves as itself, not in the nursery's group."""
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.run)
            try:
                yield self
            except Exception as exc:
                failure = exc
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def run(self) -> None:
        """Reads until the end."""
        try:
            while True:
                message = await self.ws.get_message()
                if isinstance(message, bytes):
                    await self._take_bytes(message)
                else:
                    self._take(json.loads(message))
                self._lot.unpark_all()
        except trio_websocket.ConnectionClosed as exc:
            reason = exc.reason
            self.closed = (reason.code, reason.reason or "") if reason else (1006, "")
            self._lot.unpark_all()

    def _take(self, frame: Json) -> None:
        raise NotImplementedError

    async def _take_bytes(self, data: bytes) -> None:
        must(False, f"no binary frames here, {len(data)} bytes")

    def describe(self) -> str:
        """What is there now, for a failing wait."""
        return ""

    async def until(self, want: Callable[[Any], Any], seconds: float = WAIT) -> Any:
        """Waits until `want(self)` is true and returns that."""
        with trio.move_on_after(seconds):
            while not (found := want(self)) and self.closed is None:
                await self._lot.park()
            if found:
                return found
        kind = AssertionError if self.closed is None else SocketClosed
        raise kind(f"not within {seconds} s; closed {self.closed}; there is:\n{self.describe()}")

    async def until_closed(self, seconds: float = WAIT) -> tuple[int, str]:
        """Waits for the server's close: (code, reason)."""
        closed: tuple[int, str] = await self.until(lambda v: v.closed, seconds)
        return closed


class TerminalView(View):
    """A terminal's bytes, drawn by pyte when somebody looks. Says where the cursor is, as terminals do."""

    def __init__(self, ws: trio_websocket.WebSocketConnection) -> None:
        super().__init__(ws)
        self.frames: list[Json] = []
        """The text frames, oldest first."""
        self.data = bytearray()
        self._emulator = Emulator(2, 2)
        self._drawn = 0

    def _take(self, frame: Json) -> None:
        kind = frame["type"]
        must((kind == "hello") == (not self.frames), f"hello comes first and once: {frame}")
        must(kind != "live" or not self._last("live"), "live comes once")
        if kind in ("hello", "resize"):
            self._draw()
            self._emulator.display.resize(frame["rows"], frame["cols"])
            self._emulator.feed(frame.get("modes", "").encode())
        self.frames.append(frame)

    async def _take_bytes(self, data: bytes) -> None:
        must(self.frames, "hello comes before the bytes")
        self.data += data
        if b"\x1b[6n" in data and self._last("live"):
            self._draw()
            row, column = self._emulator.display.reported_cursor()
            await self.ws.send_message(b"\x1b[%d;%dR" % (row, column))

    def _last(self, kind: str) -> Json:
        return next((frame for frame in reversed(self.frames) if frame["type"] == kind), {})

    def _draw(self) -> None:
        self._emulator.feed(bytes(self.data[self._drawn :]))
        self._drawn = len(self.data)

    @property
    def hello(self) -> Json:
        """The first frame."""
        return self.frames[0]

    @property
    def offset(self) -> int:
        """The position after what has come."""
        offset: int = self.hello["offset"]
        return offset + len(self.data)

    @property
    def title(self) -> str:
        """The last title that came; empty before one has."""
        title: str = self._last("title").get("title", "")
        return title

    @property
    def exit_code(self) -> int | None:
        """The program's, once it has ended."""
        return self._last("exit").get("exitCode")

    def text(self) -> str:
        """The screen, without trailing blanks and down to its last row that is not empty."""
        self._draw()
        return "\n".join(self._emulator.display.rows_text()).rstrip("\n")

    def describe(self) -> str:
        """The screen and the newest frames."""
        return f"{self.text()}\n{self.frames[-3:]}"

    async def until_text(self, pattern: str, seconds: float = WAIT) -> re.Match[str]:
        """Waits until the screen matches."""
        found: re.Match[str] = await self.until(lambda v: re.search(pattern, v.text()), seconds)
        return found

    async def until_no_text(self, pattern: str, seconds: float = WAIT) -> None:
        """Waits until the screen does not match any more."""
        await self.until(lambda v: not re.search(pattern, v.text()), seconds)

    async def until_quiet(self, quiet: float = 0.5, seconds: float = WAIT) -> None:
        """Waits until no frame has come for `quiet` seconds."""
        with trio.move_on_after(seconds):
            while self.closed is None:
                with trio.move_on_after(quiet) as still:
                    await self._lot.park()
                if still.cancelled_caught:
                    return
        raise AssertionError(
            f"never quiet in {seconds} s; closed {self.closed}; there is:\n{self.describe()}"
        )

    async def until_text_frame(self, kind: str) -> Json:
        """Waits for a text frame of that type; the first one."""
        frame: Json = await self.until(lambda v: next((f for f in v.frames if f["type"] == kind), None))
        return frame

    async def send(self, data: bytes) -> None:
        """Input, in one write."""
        await self.ws.send_message(data)

    async def type(self, text: str, *, enter: bool = True) -> None:
        """Types a text, and Enter as a second write."""
        await self.send(text.encode())
        if enter:
            await self.send(b"\r")

    async def submit(self, text: str) -> None:
        """As `type`, but Enter is pressed when the screen shows the text's beginning."""
        await self.send(text.encode())
        await self.until_text(re.escape(text[:24]))
        await self.send(b"\r")

    async def resize(self, cols: int, rows: int, *, own: bool = False) -> None:
        """Tells this viewer's size; `own` asks to be the one whose size counts."""
        await self.ws.send_message(json.dumps({"type": "resize", "cols": cols, "rows": rows, "own": own}))


class ChatView(View):
    """A chat's state and events."""

    def __init__(self, ws: trio_websocket.WebSocketConnection) -> None:
        super().__init__(ws)
        self.snapshot: Json | None = None
        self.state: Json = {}
        self.events: list[Json] = []
        self.timeline = Timeline()
        """The fold of the events."""
        self.caught_up = False
        """What the snapshot promised has come."""

    def _take(self, frame: Json) -> None:
        must((frame["type"] == "snapshot") == (self.snapshot is None), f"the snapshot comes first: {frame}")
        if frame["type"] == "snapshot":
            self.snapshot, self.state = frame, frame["state"]
        elif frame["type"] == "state":
            self.state = frame["state"]
        else:
            must(frame["type"] == "events", frame)
            self._take_events(frame)

    def _take_events(self, frame: Json) -> None:
        assert self.snapshot is not None
        must(frame["generation"] == self.snapshot["generation"], f"events of another generation: {frame}")
        seq = self.events[-1]["seq"] + 1 if self.events else max(frame["from"], self.snapshot["from"])
        must(frame["from"] == seq, f"events from {frame['from']}, not {seq}")
        for event in frame["items"]:
            must(event["seq"] == seq and event["type"] and event["at"], f"event {seq}: {event}")
            self.events.append(event)
            self.timeline.apply(event)
            seq += 1
        self.caught_up = self.caught_up or seq >= self.snapshot["next"]

    def messages(self) -> list[tuple[str, str]]:
        """(role, text) of the timeline's messages in order of first sight, chunks joined."""
        return [
            (item["role"], "".join(block.get("text", "") for block in item["content"]))
            for item in self.timeline.items()
            if item["kind"] == "message"
        ]

    def of(self, kind: str) -> list[Json]:
        """The events of one type."""
        return [event for event in self.events if event["type"] == kind]

    def describe(self) -> str:
        """The newest events and the state."""
        return f"{self.events[-5:]}\n{self.state}"

    async def until_turns_ended(self, count: int, seconds: float = WAIT) -> Json:
        """Waits for that many `turn.end`s and returns the last."""
        ends: list[Json] = await self.until(
            lambda v: len(v.of("turn.end")) >= count and v.of("turn.end"), seconds
        )
        return ends[-1]

    async def until_request(self) -> Json:
        """Waits for an open request."""
        requests: list[Json] = await self.until(lambda v: v.state.get("requests"))
        return requests[0]
