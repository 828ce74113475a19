"""What the agent asks while it works: permission requests and forms.

They are kept here, not in any viewer: a reload or a second device shows the same open requests, and an
answer counts once. In mode `auto` permissions are granted silently; forms always wait for a person.
"""

import secrets
from typing import Any, Protocol

import trio
from attrs import define, field

from hybridmux.budgets import PENDING_REQUESTS
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.errors import BadRequest, Conflict
from hybridmux.wire.chat_commands import RequestAnswer
from hybridmux.wire.convert import Json
from hybridmux.wire.types import PermissionMode, utc_now

_CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}


class Host(Protocol):
    """What asking needs of its session."""

    log: ChatLog

    def changed(self) -> None:
        """Tells viewers."""


@define
class Pending:
    """Something the agent asked and nobody has answered."""

    request: Json
    answered: trio.Event = field(factory=trio.Event)
    result: Json | None = None
    outcome: str = "cancelled"
    since: str = field(factory=utc_now)

    def settle(self, result: Json, outcome: str) -> None:
        """The answer; the first one counts."""
        if self.result is None:
            self.result, self.outcome = result, outcome
            self.answered.set()


def _selected(option_id: Any) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def _allowing(options: list[Json]) -> Json | None:
    """The option that `auto` picks: the first allow_once, else the first allow_always."""
    for kind in ("allow_once", "allow_always"):
        for option in options:
            if option.get("kind") == kind:
                return option
    return None


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _shown_option(option: Json) -> Json:
    option_id = str(option.get("optionId"))
    return {
        "optionId": option_id,
        "name": str(option.get("name") or option_id),
        "kind": str(option.get("kind") or ""),
    }


class Asking:
    """The open requests of one session."""

    def __init__(self, host: Host, mode: PermissionMode) -> None:
        self._host = host
        self.mode: PermissionMode = mode
        self.refusing = False
        """A turn is being cancelled: what the agent still asks is answered `cancelled` at once."""
        self._pending: dict[str, Pending] = {}

    def open_requests(self) -> list[Json]:
        """What waits for a person."""
        return [pending.request for pending in self._pending.values()]

    def waiting_since(self) -> str | None:
        """When the oldest open request came, UTC RFC 3339."""
        return min((pending.since for pending in self._pending.values()), default=None)

    def withdraw(self) -> None:
        """The turn ends: what is open is answered `cancelled`."""
        for pending in list(self._pending.values()):
            is_form = pending.request["kind"] == "form"
            pending.settle({"action": "cancel"} if is_form else _CANCELLED, "cancelled")

    async def permission(self, params: Json) -> Json:
        """`session/request_permission`: answered by the mode or by a person."""
        given = params.get("options")
        options = [option for option in given if isinstance(option, dict)] if isinstance(given, list) else []
        chosen = _allowing(options) if self.mode == "auto" and not self.refusing else None
        if chosen is not None:
            return _selected(chosen.get("optionId"))
        call = _object(params.get("toolCall"))
        request = {
            "kind": "permission",
            "title": str(call.get("title") or "The agent asks for permission"),
            "options": [_shown_option(option) for option in options],
        }
        if call.get("toolCallId"):
            request["toolCallId"] = str(call["toolCallId"])
            self._host.log.asks_for(call)
        return await self._ask(request, _CANCELLED)

    async def form(self, params: Json) -> Json:
        """`elicitation/create`: always answered by a person."""
        request = {
            "kind": "form",
            "title": str(params.get("message") or "The agent asks"),
            "schema": _object(params.get("requestedSchema")),
        }
        return await self._ask(request, {"action": "cancel"})

    async def _ask(self, request: Json, otherwise: Json) -> Json:
        if self.refusing or len(self._pending) >= PENDING_REQUESTS:
            return otherwise
        request_id = f"r-{secrets.token_hex(6)}"
        pending = Pending({"requestId": request_id, **request})
        self._pending[request_id] = pending
        self._host.log.append({"type": "request.open", **pending.request})
        self._host.changed()
        try:
            await pending.answered.wait()
        finally:
            del self._pending[request_id]
            self._host.log.append(
                {"type": "request.close", "requestId": request_id, "outcome": pending.outcome}
            )
            self._host.changed()
        return pending.result or otherwise

    def answer(self, request_id: str, answer: RequestAnswer) -> None:
        """A person's answer to an open request; raises `Conflict` (answered), `BadRequest`."""
        pending = self._pending.get(request_id)
        if pending is None or pending.result is not None:
            raise Conflict("that request was answered already", "answered")
        settle = self._answer_form if pending.request["kind"] == "form" else self._answer_permission
        settle(pending, answer)

    @staticmethod
    def _answer_permission(pending: Pending, answer: RequestAnswer) -> None:
        if answer.outcome == "cancelled":
            pending.settle(_CANCELLED, "cancelled")
            return
        known = {option["optionId"] for option in pending.request["options"]}
        if answer.outcome != "selected" or answer.option_id is None:
            raise BadRequest("outcome must be selected with an optionId, or cancelled")
        if answer.option_id not in known:
            raise BadRequest("optionId is none of the request's options")
        pending.settle(_selected(answer.option_id), answer.option_id)

    @staticmethod
    def _answer_form(pending: Pending, answer: RequestAnswer) -> None:
        if answer.outcome not in ("accept", "decline", "cancel"):
            raise BadRequest("outcome must be accept, decline or cancel")
        if answer.outcome != "accept":
            pending.settle({"action": answer.outcome}, answer.outcome)
        elif answer.content is None:
            raise BadRequest("missing field content")
        else:
            pending.settle({"action": "accept", "content": answer.content}, "accept")

    def set_mode(self, mode: PermissionMode) -> None:
        """Who answers permission requests; `auto` also answers those that wait."""
        self.mode = mode
        if mode == "auto":
            for pending in list(self._pending.values()):
                chosen = _allowing(pending.request.get("options") or [])
                if chosen is not None:
                    pending.settle(_selected(chosen["optionId"]), chosen["optionId"])
        self._host.changed()
