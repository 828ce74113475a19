"""OpenAI Chat Completions: requests read, answers written (a stream of chunks, or one object)."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.model.behaviour import Plan, Turn, turn_of
from tests.agents.model.events import Json, Timed, event, texts

_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def read(body: Json) -> Turn:
    """The turn a request is about; system messages say nothing."""
    said = (part for message in body.get("messages", []) for part in _parts(message))
    return turn_of(said, (tool["function"]["name"] for tool in body.get("tools") or []))


def _parts(message: Json) -> Iterator[tuple[str, str]]:
    """Each part of what a person said counts by itself: an agent's notes stand beside it."""
    parts = texts(message.get("content"))
    for text in ["\n".join(parts)] if message["role"] == "tool" else parts:
        yield message["role"], text


def _call(plan: Plan, number: int) -> Json:
    function = {"name": plan.tool, "arguments": json.dumps(plan.arguments)}
    return {"index": 0, "id": f"call_{number}", "type": "function", "function": function}


def stream(plan: Plan, body: Json, number: int) -> Iterator[Timed]:
    """The events of an answer."""
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "model": body["model"]}

    def chunk(delta: Json, finish: str | None = None, pause: float = 0.0, **more: Any) -> Timed:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event({**head, "choices": [choice], **more}, pause=pause)

    yield chunk({"role": "assistant", "content": ""})
    if plan.thought:
        yield chunk({"reasoning_content": plan.thought})
    for word in plan.words:
        yield chunk({"content": word}, pause=plan.pause)
    if plan.tool:
        yield chunk({"tool_calls": [_call(plan, number)]})
    yield chunk({}, "tool_calls" if plan.tool else "stop", usage=_USAGE)
    yield event("[DONE]")


def whole(plan: Plan, body: Json, number: int) -> Json:
    """The answer to a request that does not stream."""
    message: Json = {"role": "assistant", "content": plan.text}
    if plan.tool:
        message["tool_calls"] = [_call(plan, number)]
    finish = "tool_calls" if plan.tool else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _USAGE,
    }
