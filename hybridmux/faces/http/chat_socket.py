"""`/ws/s/{id}/chat` and `/ws/events`: state and events to viewers.

A chat viewer is a position in the session's chat log; the state is sent whole whenever it has changed. When
the log is replaced (a load was committed) the viewer gets the new state, then 1013, and comes back.
"""

from contextlib import suppress

import orjson
import trio
from quart import websocket

from hybridmux.budgets import KIB
from hybridmux.conversation.hub import Hub, info
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.view import state_frame
from hybridmux.errors import StoreUnusable
from hybridmux.faces.http.context import is_number
from hybridmux.faces.http.viewers import Close, Viewer
from hybridmux.journal import FellBehind
from hybridmux.wire.convert import dump

PIECE = 256 * KIB
"""Bytes of events in one frame, about."""


async def drain() -> None:
    """Reads and drops what a client sends: an unread one would hide its own disconnect."""
    while True:
        await websocket.receive()


class ChatViewer:
    """One viewer of one chat."""

    def __init__(self, session: HybridSession, viewer: Viewer) -> None:
        self._session, self._viewer = session, viewer
        self._log = session.log
        self._position = 1
        self._state_key: object = None

    async def run(self, generation: str | None, seq: str | None) -> None:
        """Sends until something ends it with `Close`."""
        await self._snapshot(generation, seq)
        first = True
        while True:
            seen = self._session.bell.version
            await self._send_state()
            if self._session.log is not self._log:
                raise Close(1013, "the log was reset")
            sent = await self._send_events(even_none=first)
            first = False
            if sent:
                continue
            if self._session.over.is_set():
                raise Close(4410, "the session has ended")
            await self._session.bell.wait(seen)

    async def _snapshot(self, generation: str | None, seq: str | None) -> None:
        journal = self._log.journal
        asked = int(seq) + 1 if seq is not None and is_number(seq) else None
        known = (
            generation == self._log.generation and asked is not None and journal.tail <= asked <= journal.end
        )
        self._position = asked if known and asked is not None else journal.tail
        self._state_key, state = state_frame(self._session)
        head = {
            "type": "snapshot",
            "generation": self._log.generation,
            "from": journal.tail,
            "next": journal.end,
        }
        if generation is not None and not known:
            head["reset"] = True
        if self._log.truncated:
            head["truncated"] = True
        await self._viewer.send(orjson.dumps({**head, "state": orjson.Fragment(state)}).decode())

    async def _send_state(self) -> None:
        key, state = state_frame(self._session)
        if key != self._state_key:
            self._state_key = key
            await self._viewer.send(orjson.dumps({"type": "state", "state": orjson.Fragment(state)}).decode())

    async def _send_events(self, *, even_none: bool) -> bool:
        try:
            entries = self._log.journal.read(self._position, PIECE)
        except FellBehind:
            raise Close(4408, "too slow") from None
        if not entries and not even_none:
            return False
        frame = {
            "type": "events",
            "generation": self._log.generation,
            "from": self._position,
            "items": [orjson.Fragment(entry.encoded) for entry in entries],
        }
        await self._viewer.send(orjson.dumps(frame).decode())
        self._position += len(entries)
        return bool(entries)


async def serve_chat(session: HybridSession, viewer: Viewer) -> None:
    """One accepted chat socket, until it ends with `Close`."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(drain)
        await ChatViewer(session, viewer).run(websocket.args.get("generation"), websocket.args.get("seq"))


class ListViewer:
    """One viewer of the list: it remembers what it was sent and gets what differs."""

    def __init__(self, hub: Hub, viewer: Viewer) -> None:
        self._hub, self._viewer = hub, viewer
        self._sent: dict[tuple[str, str], bytes] = {}

    def _now(self) -> dict[tuple[str, str], bytes]:
        now = {("session", s.id): dump(info(s)) for s in self._hub.all()}
        with suppress(StoreUnusable):  # the list of sessions works on without the records
            now |= {("record", r.id): dump(r) for r in self._hub.shown_records()}
        return now

    async def run(self) -> None:
        """The snapshot, then every difference."""
        seen = self._hub.bell.version
        self._sent = self._now()
        parts = {
            f"{kind}s": [orjson.Fragment(data) for (k, _), data in self._sent.items() if k == kind]
            for kind in ("session", "record")
        }
        await self._viewer.send(orjson.dumps({"type": "snapshot", **parts}).decode())
        while True:
            seen = await self._hub.bell.wait(seen)
            await self._send_differences()

    async def _send_differences(self) -> None:
        before, self._sent = self._sent, self._now()
        for (kind, key), data in self._sent.items():
            if before.get((kind, key)) != data:
                frame = {"type": f"{kind}.set", kind: orjson.Fragment(data)}
                await self._viewer.send(orjson.dumps(frame).decode())
        for kind, key in before.keys() - self._sent.keys():
            await self._viewer.send(orjson.dumps({"type": f"{kind}.removed", "id": key}).decode())


async def serve_list(hub: Hub, viewer: Viewer) -> None:
    """One accepted `/ws/events` socket, until it ends."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(drain)
        await ListViewer(hub, viewer).run()
