"""OpenAI's Chat Completions, streamed or whole."""

import json
from collections.abc import Iterator

from tests.agents.model.behaviour import Prompt, Reply
from tests.agents.model.protocol import PAUSE, Event, Json, spoken, texts


class Completions:
    """`POST …/chat/completions`."""

    path = "/chat/completions"

    def read(self, body: Json) -> Prompt:
        """The newest user text; a tool's result if that is newer."""
        text, result = "", None
        for message in body.get("messages") or ():
            if message.get("role") == "user":
                text, result = spoken(message.get("content")) or text, None
            elif message.get("role") == "tool":
                result = " ".join(texts(message.get("content")))
        tools = frozenset(tool.get("function", {}).get("name", "") for tool in body.get("tools") or ())
        return Prompt(text=text, tools=tools, result=result)

    def events(self, reply: Reply, body: Json, key: str) -> Iterator[Event]:
        """Chunks, the last with the finish reason and the usage, and `[DONE]`."""
        deltas: list[Json | None] = [{"role": "assistant", "content": ""}]
        if reply.thought:
            deltas.append({"reasoning_content": reply.thought})
        for piece in reply.pieces:
            deltas += [{"content": piece}, None]
        if reply.call:
            deltas.append({"tool_calls": [_call(reply, key)]})
        for delta in deltas:
            yield PAUSE if delta is None else Event(_chunk(delta, None, body, key))
        yield Event({**_chunk({}, _finish(reply), body, key), "usage": _usage(reply, body)})
        yield Event("[DONE]")

    def whole(self, reply: Reply, body: Json, key: str) -> Json:
        """One `chat.completion`."""
        message: Json = {"role": "assistant", "content": reply.text}
        if reply.call:
            message["tool_calls"] = [_call(reply, key)]
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
        head = _head("chat.completion", body, key)
        return {**head, "choices": [choice], "usage": _usage(reply, body)}


def _head(kind: str, body: Json, key: str) -> Json:
    return {"id": f"chatcmpl-{key}", "object": kind, "created": 0, "model": body.get("model")}


def _chunk(delta: Json, finish: str | None, body: Json, key: str) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_head("chat.completion.chunk", body, key), "choices": [choice]}


def _call(reply: Reply, key: str) -> Json:
    assert reply.call is not None
    function = {"name": reply.call.name, "arguments": json.dumps(reply.call.arguments)}
    return {"index": 0, "id": f"call_{key}", "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.call else "stop"


def _usage(reply: Reply, body: Json) -> Json:
    read, written = len(json.dumps(body)) // 4, len(reply.text) // 4 + 1
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
