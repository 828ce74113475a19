"""Idempotent commands: the same `clientRequestId` gets the same answer and runs nothing twice.

A command runs in a nursery of the server, not in its request: a client that goes away does not stop it, and
its repeat waits for the same answer. Answers of one session are kept for 30 minutes, the latest 256.
"""

import hashlib
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

import trio
from attrs import define, field, frozen

from hybridmux.budgets import REQUEST_ID_SECONDS, REQUEST_IDS
from hybridmux.errors import BadRequest, HybridmuxError, ServerStopping

log = logging.getLogger(__name__)
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@frozen
class Answer:
    """A status and a JSON body (None for 204)."""

    status: int
    body: Any = None


@define
class _Slot:
    fingerprint: str
    since: float
    done: trio.Event = field(factory=trio.Event)
    answer: Answer | None = None


Work = Callable[[], Awaitable[Answer]]


def fingerprint(method: str, path: str, body: bytes) -> str:
    """What makes two requests the same."""
    return hashlib.sha256(b"\0".join([method.encode(), path.encode(), body])).hexdigest()


async def answered(work: Work) -> Answer:
    """Runs a command and turns its failure into an answer."""
    try:
        return await work()
    except HybridmuxError as exc:
        return Answer(exc.status, exc.body())
    except Exception:
        log.exception("command failed")
        return Answer(500, {"error": "the server failed; this is a bug, its log says more"})


class Answers:
    """The kept answers of every session."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._sessions: dict[str, OrderedDict[str, _Slot]] = {}

    async def run(self, work: Work) -> Answer:
        """Runs a command that has no id, outside its request."""
        slot = _Slot("", 0.0)
        self._nursery.start_soon(self._fill, slot, work)
        await slot.done.wait()
        assert slot.answer is not None
        return slot.answer

    async def once(self, session: str, request_id: str, print_: str, work: Work) -> Answer:
        """Runs a command, or waits for and returns the answer of the one with the same id."""
        if not _ID.fullmatch(request_id):
            raise BadRequest("clientRequestId must be 8 to 64 letters, digits, _ or -")
        slots = self._sessions.setdefault(session, OrderedDict())
        self._expire(slots)
        slot = slots.get(request_id)
        if slot is None:
            slot = slots[request_id] = _Slot(print_, trio.current_time())
            self._nursery.start_soon(self._fill, slot, work)
        elif slot.fingerprint != print_:
            raise BadRequest("clientRequestId was used for another request")
        await slot.done.wait()
        assert slot.answer is not None
        if slot.answer.status in (400, 401) and slots.get(request_id) is slot:
            del slots[request_id]
        return slot.answer

    def forget(self, session: str) -> None:
        """The session is gone from the list."""
        self._sessions.pop(session, None)

    @staticmethod
    async def _fill(slot: _Slot, work: Work) -> None:
        try:
            slot.answer = await answered(work)
        finally:
            if slot.answer is None:
                stopping = ServerStopping()
                slot.answer = Answer(stopping.status, stopping.body())
            slot.done.set()

    @staticmethod
    def _expire(slots: OrderedDict[str, _Slot]) -> None:
        deadline = trio.current_time() - REQUEST_ID_SECONDS
        old = [key for key, slot in slots.items() if slot.done.is_set() and slot.since < deadline]
        spare = [key for key, slot in slots.items() if slot.done.is_set() and key not in old]
        for key in [*old, *spare[: max(0, len(slots) - len(old) - REQUEST_IDS + 1)]]:
            del slots[key]
