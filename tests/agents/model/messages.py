"""Anthropic Messages (Claude Code): requests read, answers written (named events, or one object)."""

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from tests.agents.model.behaviour import Plan, Turn, turn_of
from tests.agents.model.events import Json, Timed, event, texts

_USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def read(body: Json) -> Turn:
    """The turn a request is about; tool results stand in user messages."""
    said = (part for m in body.get("messages", []) for part in _parts(m["role"], m.get("content")))
    return turn_of(said, (tool["name"] for tool in body.get("tools") or []))


def _parts(role: str, content: Any) -> Iterator[tuple[str, str]]:
    for part in [content] if isinstance(content, str) else content or []:
        if isinstance(part, dict) and part.get("type") == "tool_result":
            yield "tool", "\n".join(texts(part.get("content")))
        else:
            yield from ((role, text) for text in texts(part if isinstance(part, str) else [part]))


@frozen
class _Block:
    """One content block: how it begins, and the deltas that fill it with their pauses."""

    start: Json
    deltas: tuple[tuple[Json, float], ...]
    full: Json
    """As it stands in an answer that does not stream."""


def _blocks(plan: Plan, number: int) -> Iterator[_Block]:
    if plan.thought:
        thinking = {"type": "thinking_delta", "thinking": plan.thought}
        signature = {"type": "signature_delta", "signature": "ZmFrZQ=="}
        full = {"type": "thinking", "thinking": plan.thought, "signature": "ZmFrZQ=="}
        yield _Block({**full, "thinking": "", "signature": ""}, ((thinking, 0), (signature, 0)), full)
    if plan.words:
        deltas = tuple(({"type": "text_delta", "text": word}, plan.pause) for word in plan.words)
        yield _Block({"type": "text", "text": ""}, deltas, {"type": "text", "text": plan.text})
    if plan.tool:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(plan.arguments)}
        start = {"type": "tool_use", "id": f"toolu_{number}", "name": plan.tool, "input": {}}
        yield _Block(start, ((delta, 0),), {**start, "input": plan.arguments})


def _message(body: Json, number: int) -> Json:
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"]}
    return {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": _USAGE}


def _stop(plan: Plan) -> Json:
    return {"stop_reason": "tool_use" if plan.tool else "end_turn", "stop_sequence": None}


def stream(plan: Plan, body: Json, number: int) -> Iterator[Timed]:
    """The events of an answer."""

    def send(kind: str, pause: float = 0.0, **data: Any) -> Timed:
        return event({"type": kind, **data}, kind, pause)

    yield send("message_start", message=_message(body, number))
    for index, block in enumerate(_blocks(plan, number)):
        yield send("content_block_start", index=index, content_block=block.start)
        for delta, pause in block.deltas:
            yield send("content_block_delta", pause, index=index, delta=delta)
        yield send("content_block_stop", index=index)
    yield send("message_delta", delta=_stop(plan), usage=_USAGE)
    yield send("message_stop")


def whole(plan: Plan, body: Json, number: int) -> Json:
    """The answer to a request that does not stream."""
    content = [block.full for block in _blocks(plan, number)]
    return {**_message(body, number), **_stop(plan), "content": content}
