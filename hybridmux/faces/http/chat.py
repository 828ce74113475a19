"""Routes: what a person tells the chat side. Every body carries a `clientRequestId`."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from quart import Blueprint, Response

from hybridmux.conversation.session import HybridSession
from hybridmux.errors import BadRequest, Conflict, NotFound
from hybridmux.faces.http.answers import Answer
from hybridmux.faces.http.context import Context, command
from hybridmux.wire.chat_commands import (
    CommandBody,
    ConfigBody,
    PermissionModeBody,
    PromptAnswer,
    PromptBody,
    QueueEdit,
    RequestAnswer,
)

T = TypeVar("T")
NOTHING = Answer(204)


Act = Callable[[HybridSession], Awaitable[None]]


def chat_routes(context: Context) -> Blueprint:
    """`/api/sessions/{id}/chat`."""
    routes = Blueprint("chat", __name__, url_prefix="/api/sessions/<session_id>/chat")
    _turn_routes(routes, context)
    _queue_routes(routes, context)
    _setting_routes(routes, context)
    return routes


async def _on_chat(
    context: Context, session_id: str, kind: type[T], act: Callable[[HybridSession, T], Awaitable[Answer]]
) -> Response:
    """A command for a session that rests on the chat side."""
    session = context.hub.hybrid(session_id)

    async def work(body: T) -> Answer:
        session.require("acp")
        return await act(session, body)

    return await command(context, session_id, kind, work)


async def _simple(context: Context, session_id: str, act: Act) -> Response:
    """A command on the chat side that has no more to say than that it is done."""

    async def work(session: HybridSession, _: CommandBody) -> Answer:
        await act(session)
        return NOTHING

    return await _on_chat(context, session_id, CommandBody, work)


def _turn_routes(routes: Blueprint, context: Context) -> None:
    @routes.post("/prompts")
    async def prompt(session_id: str) -> Response:
        return await _on_chat(context, session_id, PromptBody, _prompt)

    @routes.post("/cancel")
    async def cancel(session_id: str) -> Response:
        return await _simple(context, session_id, lambda s: s.turns.cancel())

    @routes.post("/requests/<request_id>")
    async def answer(session_id: str, request_id: str) -> Response:
        async def work(session: HybridSession, body: RequestAnswer) -> Answer:
            session.turns.asking.answer(request_id, body)
            return NOTHING

        return await _on_chat(context, session_id, RequestAnswer, work)


async def _prompt(session: HybridSession, body: PromptBody) -> Answer:
    session.store.check()
    if body.attachments:
        raise BadRequest("attachments[0].path is no upload of this session")
    if body.mode == "steer":
        raise Conflict("this agent takes no messages into a running turn", "steering_unavailable")
    item = await session.turns.prompt(body.text)
    return Answer(200, PromptAnswer(queued=item is not None, item_id=item.id if item else None))


def _queue_routes(routes: Blueprint, context: Context) -> None:
    @routes.patch("/queue/<item_id>")
    async def edit(session_id: str, item_id: str) -> Response:
        async def work(session: HybridSession, body: QueueEdit) -> Answer:
            await session.turns.waiting.edit(item_id, body.text, up=body.move == "up")
            return NOTHING

        return await _on_chat(context, session_id, QueueEdit, work)

    @routes.delete("/queue/<item_id>")
    async def remove(session_id: str, item_id: str) -> Response:
        return await _simple(context, session_id, lambda s: s.turns.waiting.remove(item_id))

    @routes.post("/queue/<item_id>/send-now")
    async def send_now(session_id: str, item_id: str) -> Response:
        return await _simple(context, session_id, lambda s: s.turns.send_now(item_id))

    @routes.post("/queue/resume")
    async def unpause(session_id: str) -> Response:
        return await _simple(context, session_id, lambda s: s.turns.unpause())

    @routes.post("/queue/clear")
    async def clear(session_id: str) -> Response:
        return await _simple(context, session_id, lambda s: s.turns.waiting.clear())


def _setting_routes(routes: Blueprint, context: Context) -> None:
    @routes.put("/config/<option_id>")
    async def config(session_id: str, option_id: str) -> Response:
        async def work(session: HybridSession, body: ConfigBody) -> Answer:
            if (body.value is None) == (body.enabled is None):
                raise BadRequest("give either value or enabled")
            if not any(option["id"] == option_id for option in session.log.facts.options):
                raise NotFound(f"there is no option {option_id}")
            value = body.value if body.value is not None else bool(body.enabled)
            await session.set_option(option_id, value)
            return NOTHING

        return await _on_chat(context, session_id, ConfigBody, work)

    @routes.put("/permission-mode")
    async def permission_mode(session_id: str) -> Response:
        session = context.hub.hybrid(session_id)

        async def work(body: PermissionModeBody) -> Answer:
            session.operations.check_free()
            await session.save(permission_mode="ask" if body.mode == "ask" else None)
            session.turns.asking.set_mode(body.mode)
            return NOTHING

        return await command(context, session_id, PermissionModeBody, work)
