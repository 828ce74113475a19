"""OpenAI Chat Completions: requests read, answers written (a stream of chunks, or one object)."""

import json
from collections.abc import Iterator
from typing import Any

from tests.agents.model.behaviour import Plan, Turn

Json = dict[str, Any]
_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def read(body: Json) -> Turn:
    """The turn a request is about; system messages say nothing."""
    said = [(m["role"], _text(m.get("content"))) for m in body.get("messages", []) if m["role"] != "system"]
    spoken = [(role, text) for role, text in said if role in {"user", "tool"}]
    role, text = spoken[-1] if spoken else ("user", "")
    return Turn(
        role=role,
        text=text,
        users=tuple(text for role, text in spoken if role == "user"),
        tools=frozenset(tool["function"]["name"] for tool in body.get("tools") or []),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if part.get("type") == "text")


def _call(plan: Plan, number: int) -> Json:
    function = {"name": plan.tool, "arguments": json.dumps(plan.arguments)}
    return {"index": 0, "id": f"call_{number}", "type": "function", "function": function}


def stream(plan: Plan, body: Json, number: int) -> Iterator[tuple[str, float]]:
    """(data of one server-sent event, seconds to wait after it)."""
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "model": body["model"]}

    def chunk(delta: Json, finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps({**head, "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""}), 0
    if plan.thought:
        yield chunk({"reasoning_content": plan.thought}), 0
    for word in plan.words:
        yield chunk({"content": word}), plan.pause
    if plan.tool:
        yield chunk({"tool_calls": [_call(plan, number)]}), 0
    yield chunk({}, "tool_calls" if plan.tool else "stop", usage=_USAGE), 0
    yield "[DONE]", 0


def whole(plan: Plan, body: Json, number: int) -> Json:
    """The answer to a request that does not stream."""
    message: Json = {"role": "assistant", "content": "".join(plan.words)}
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
