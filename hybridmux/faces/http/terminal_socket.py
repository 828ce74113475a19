"""`/ws/s/{id}`: PTY bytes to a viewer, its input back (page 01 §10).

A viewer is a position in the terminal's journal. It is sent one piece at a time; what it could not take in
time has fallen off the journal's tail, and then it is closed with 4408 and comes back.
"""

from contextlib import suppress
from typing import Any

import orjson
import trio
from attrs import define
from quart import websocket

from hybridmux.budgets import (
    COALESCE_FROM,
    COALESCE_PAUSE,
    COALESCE_UNTIL,
    INPUT_FRAME,
    VIEWER_PIECE,
    Budgets,
)
from hybridmux.conversation.hub import Session
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sizing import Size, SizedViewer
from hybridmux.errors import BadRequest, HybridmuxError
from hybridmux.faces.http.context import is_number
from hybridmux.faces.http.viewers import Close, Viewer
from hybridmux.journal import FellBehind
from hybridmux.terminal.pacing import Viewer as Pacing
from hybridmux.terminal.terminal import Terminal
from hybridmux.wire import terminal as frames
from hybridmux.wire.convert import dump, read

BAD_FRAME = 1003
"""Close code for a frame that is no frame of the contract."""


def visible_terminal(session: Session) -> Terminal:
    """The terminal to show; raises `Close` with 4409 when the session is elsewhere."""
    if not isinstance(session, HybridSession):
        return session.terminal
    tui = session.tui_now
    if tui is None:
        if session.over.is_set():
            raise Close(4410, "the session has ended")
        raise Close(4409, f"session moved: {session.position.side}")
    return tui.terminal


@define
class TerminalViewer:
    """One viewer of one terminal."""

    session: Session
    terminal: Terminal
    viewer: Viewer
    budgets: Budgets
    position: int
    acked: int | None
    """What the client has drawn; None without `flow=ack`."""
    sized: SizedViewer
    ack_came: trio.Event

    async def run(self, *, reset: bool, modes: bytes) -> None:
        """Sends until something ends it with `Close`. `modes`: what comes before a truncated beginning."""
        terminal, truncated = self.terminal, reset and self.position > 0
        hello = frames.Hello(
            type="hello",
            cols=terminal.cols,
            rows=terminal.rows,
            epoch=terminal.epoch,
            offset=self.position,
            reset=reset,
            truncated=truncated,
            modes=modes.decode("ascii"),
        )
        await self.viewer.send(dump(hello).decode())
        if truncated:
            terminal.repaint(self.position)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._receive)
            nursery.start_soon(self._watch)
            with terminal.viewer() as pace:
                pace.position = self.position
                await self._send_to(terminal.journal.end, pace)
                await self.viewer.send(dump(frames.Live(type="live")).decode())
                while await terminal.journal.wait(self.position):
                    await self._send_piece(pace)
            await self._finish()

    # --- out ---

    async def _send_to(self, end: int, pace: Pacing) -> None:
        while self.position < end:
            await self._send_piece(pace)

    async def _send_piece(self, pace: Pacing) -> None:
        journal = self.terminal.journal
        room = await self._room()
        try:
            data = journal.read(self.position, min(VIEWER_PIECE, room))
        except FellBehind:
            raise Close(4408, "too slow") from None
        await self.viewer.send(data)
        self.position += len(data)
        pace.position = self.position
        if len(data) >= COALESCE_FROM and journal.end - self.position < COALESCE_UNTIL:
            await trio.sleep(COALESCE_PAUSE)

    async def _room(self) -> int:
        """Bytes that may be sent now; waits for acknowledgements where the client gives them."""
        if self.acked is None:
            return VIEWER_PIECE
        while (room := self.budgets.viewer_window - (self.position - self.acked)) <= 0:
            self.ack_came = trio.Event()
            with trio.move_on_after(self.budgets.viewer_stall) as waited:
                await self.ack_came.wait()
            if waited.cancelled_caught:
                raise Close(4408, "no acknowledgement")
        return room

    async def _watch(self) -> None:
        """Size, title, and whether the session is still here."""
        terminal, seen = self.terminal, self.session.bell.version
        size, title = (terminal.cols, terminal.rows), ""
        while True:
            if visible_terminal(self.session) is not terminal:
                raise Close(4409, "session moved: tui")
            if (terminal.cols, terminal.rows) != size:
                size = (terminal.cols, terminal.rows)
                resized = frames.Resized(type="resize", cols=size[0], rows=size[1])
                await self.viewer.send(dump(resized).decode())
            if terminal.title != title:
                title = terminal.title
                await self.viewer.send(dump(frames.Titled(type="title", title=title)).decode())
            seen = await self.session.bell.wait(seen)

    async def _finish(self) -> None:
        """The program has ended and everything is sent."""
        visible_terminal(self.session)
        code = self.terminal.exit_code
        if code is not None:
            await self.viewer.send(dump(frames.Exited(type="exit", exit_code=code)).decode())
        # A switch ends the program too; let the session say which of the two it was.
        with trio.move_on_after(self.budgets.stopping_step):
            while isinstance(self.session, HybridSession) and not self.session.over.is_set():
                visible_terminal(self.session)
                await self.session.bell.wait(self.session.bell.version)
        raise Close(4410, "the session has ended")

    # --- in ---

    async def _receive(self) -> None:
        while True:
            frame = await websocket.receive()
            if frame is None or len(frame) > INPUT_FRAME:
                continue
            if isinstance(frame, bytes):
                await self._input(frame)
            else:
                await self._control(frame)

    async def _input(self, data: bytes) -> None:
        if visible_terminal(self.session) is not self.terminal:
            raise Close(4409, "session moved: tui")
        data = self.terminal.sift(data)
        if not data:
            return
        self._apply(self.session.sizing.typed(self.sized))
        with suppress(HybridmuxError, trio.BrokenResourceError, trio.ClosedResourceError):  # it has ended
            if isinstance(self.session, HybridSession):
                tui = self.session.tui_now
                if tui is not None:
                    await tui.write(data)
            else:
                await self.terminal.write(data)

    async def _control(self, text: str) -> None:
        try:
            value = orjson.loads(text)
            kind = frames.CLIENT_FRAMES[value["type"]]
            frame: Any = read(value, kind)
        except (orjson.JSONDecodeError, KeyError, TypeError, BadRequest):
            raise Close(BAD_FRAME, "not a frame of this socket") from None
        if isinstance(frame, frames.ClientResize):
            self._apply(self.session.sizing.resized(self.sized, frame.cols, frame.rows, own=frame.own))
        elif isinstance(frame, frames.ClientAck):
            if self.acked is not None and self.acked < frame.offset <= self.position:
                self.acked = frame.offset
                self.ack_came.set()
        else:
            await self.viewer.send(dump(frames.Pong(type="pong")).decode())

    def _apply(self, size: Size | None) -> None:
        if size is None or size == (self.terminal.cols, self.terminal.rows):
            return
        self.terminal.resize(*size)
        if isinstance(self.session, HybridSession):
            self.session.sides.size = size
        self.session.changed()


async def serve_terminal(session: Session, viewer: Viewer, budgets: Budgets) -> None:
    """One accepted socket, until it ends with `Close`."""
    terminal = visible_terminal(session)
    epoch, offset = websocket.args.get("epoch"), websocket.args.get("offset", "")
    journal = terminal.journal
    if epoch == terminal.epoch and is_number(offset) and journal.tail <= int(offset) <= journal.end:
        start, modes, reset = int(offset), b"", False
    else:
        (start, modes), reset = await terminal.opening(), True
    sized = SizedViewer()
    try:
        await TerminalViewer(
            session=session,
            terminal=terminal,
            viewer=viewer,
            budgets=budgets,
            position=start,
            acked=start if websocket.args.get("flow") == "ack" else None,
            sized=sized,
            ack_came=trio.Event(),
        ).run(reset=reset, modes=modes)
    finally:
        session.sizing.left(sized)
