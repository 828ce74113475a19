"""What the agent asks while it works: permission requests and forms.

They are kept here, not in any viewer: a reload or a second device shows the same open requests, and an
answer counts once. In mode `auto` permissions are granted silently; forms always wait for a person, those
too that are a permission request in fact and are shown as one.
"""

import secrets
from collections.abc import Mapping
from typing import Protocol

import orjson
import trio
from attrs import define, field

from hybridmux.acp.messages import CANCELLED, Option, read_form, read_permission, selected
from hybridmux.agents.profile import FormPermission
from hybridmux.budgets import PENDING_REQUESTS, REQUESTS_BYTES
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.sides import Plan
from hybridmux.errors import BadRequest, Conflict
from hybridmux.wire.chat_commands import RequestAnswer
from hybridmux.wire.convert import Json, write
from hybridmux.wire.types import PermissionMode, utc_now

_CANCELLED: Json = {"outcome": CANCELLED}
_NO_ANSWER: Json = {"action": "cancel"}


class Host(Protocol):
    """What asking needs of its session."""

    log: ChatLog
    plan: Plan

    def changed(self) -> None:
        """Tells viewers."""


@define
class Pending:
    """Something the agent asked and nobody has answered."""

    request: Json
    """As clients see it: all of it is in the chat state and in the log."""
    withdrawn: Json
    """What the agent gets if nobody answers."""
    results: Mapping[str, Json] = field(factory=dict)
    """What the agent gets, by the option that is selected."""
    granting: str | None = None
    """The option that mode `auto` selects; None: this one is for a person."""
    answered: trio.Event = field(factory=trio.Event)
    result: Json | None = None
    outcome: str = "cancelled"
    since: str = field(factory=utc_now)

    def settle(self, result: Json, outcome: str) -> None:
        """The answer; the first one counts."""
        if self.result is None:
            self.result, self.outcome = result, outcome
            self.answered.set()


def _granting(options: list[Option]) -> str | None:
    """The option that `auto` picks: the first allow_once, else the first allow_always."""
    for kind in ("allow_once", "allow_always"):
        for option in options:
            if option.kind == kind:
                return option.option_id
    return None


def _disguised(form: FormPermission) -> Pending:
    """A form that asks for permission, as a permission request; its answers are those of a form."""
    answers = ((form.allow, "allow_once"), (form.deny, "reject_once"))
    return Pending(
        {
            "kind": "permission",
            "title": form.title,
            "options": [{"optionId": value, "name": value, "kind": kind} for value, kind in answers],
        },
        _NO_ANSWER,
        {value: {"action": "accept", "content": {form.key: value}} for value, _ in answers},
    )


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
            pending.settle(pending.withdrawn, "cancelled")

    async def permission(self, params: Json) -> Json:
        """`session/request_permission`: answered by the mode or by a person."""
        asked = read_permission(params)
        results = {one.option_id: {"outcome": selected(one.option_id)} for one in asked.options}
        granting = _granting(asked.options)
        if granting is not None and self.mode == "auto" and not self.refusing:
            return results[granting]
        request: Json = {
            "kind": "permission",
            "title": asked.title or "The agent asks for permission",
            "options": [write(one) for one in asked.options],
        }
        if asked.tool_call_id:
            request["toolCallId"] = asked.tool_call_id
            self._host.log.asks_for(asked.tool_call)
        return await self._ask(Pending(request, _CANCELLED, results, granting))

    async def form(self, params: Json) -> Json:
        """`elicitation/create`: always answered by a person."""
        form = read_form(params)
        title = form.message or "The agent asks"
        if form.schema is None:
            self._host.log.say("form_too_large", f"A form is too large to be shown: {title}", level="warning")
            return _NO_ANSWER
        permission = self._host.plan.profile.form_permission(title, form.schema)
        if permission is not None:
            return await self._ask(_disguised(permission))
        return await self._ask(Pending({"kind": "form", "title": title, "schema": form.schema}, _NO_ANSWER))

    async def _ask(self, pending: Pending) -> Json:
        if self.refusing or self._is_full(pending):
            return pending.withdrawn
        request_id = f"r-{secrets.token_hex(6)}"
        pending.request = {"requestId": request_id, **pending.request}
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
        return pending.result or pending.withdrawn

    def _is_full(self, new: Pending) -> bool:
        if len(self._pending) >= PENDING_REQUESTS:
            return True
        return len(orjson.dumps([*self.open_requests(), new.request])) > REQUESTS_BYTES

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
            pending.settle(pending.withdrawn, "cancelled")
            return
        if answer.outcome != "selected" or answer.option_id is None:
            raise BadRequest("outcome must be selected with an optionId, or cancelled")
        if answer.option_id not in pending.results:
            raise BadRequest("optionId is none of the request's options")
        pending.settle(pending.results[answer.option_id], answer.option_id)

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
                if pending.granting is not None:
                    pending.settle(pending.results[pending.granting], pending.granting)
        self._host.changed()
