"""OpenAI Responses (codex): requests read, answers written (named and numbered events, or one object)."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from tests.agents.model.behaviour import Plan, Turn, turn_of
from tests.agents.model.events import Json, Timed, event, texts

_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 110,
}


def read(body: Json) -> Turn:
    """The turn a request is about; what a tool said is an item of its own."""
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return turn_of((part for item in items for part in _parts(item)), _tools(body.get("tools") or []))


def _parts(item: Json) -> Iterator[tuple[str, str]]:
    if str(item.get("type", "")).endswith("_call_output"):
        yield "tool", "\n".join(texts(item.get("output")))
    else:
        yield from ((str(item.get("role")), text) for text in texts(item.get("content")))


def _tools(tools: list[Json]) -> Iterator[str]:
    """Names; tools may stand in a namespace."""
    for tool in tools:
        yield str(tool.get("name") or tool.get("type"))
        yield from _tools(tool.get("tools") or [])


@frozen
class _Item:
    """One output item: as it begins, as it ends, and the events between: (kind, data, pause)."""

    start: Json
    full: Json
    between: tuple[tuple[str, Json, float], ...] = ()


def _items(plan: Plan, number: int) -> Iterator[_Item]:
    if plan.thought:
        yield _reasoning(plan.thought, f"rs_{number}")
    if plan.words:
        yield _words(plan, f"msg_{number}")
    if plan.tool:
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        start = {**call, "name": plan.tool, "arguments": json.dumps(plan.arguments), "status": "in_progress"}
        yield _Item(start, {**start, "status": "completed"})


def _reasoning(thought: str, name: str) -> _Item:
    part = {"type": "summary_text", "text": thought}
    at = {"item_id": name, "summary_index": 0}
    between = (
        ("response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}, 0.0),
        ("response.reasoning_summary_text.delta", {**at, "delta": thought}, 0.0),
        ("response.reasoning_summary_text.done", {**at, "text": thought}, 0.0),
        ("response.reasoning_summary_part.done", {**at, "part": part}, 0.0),
    )
    start: Json = {"type": "reasoning", "id": name, "summary": []}
    return _Item(start, {**start, "summary": [part]}, between)


def _words(plan: Plan, name: str) -> _Item:
    part = {"type": "output_text", "text": plan.text, "annotations": []}
    at = {"item_id": name, "content_index": 0}
    deltas = (("response.output_text.delta", {**at, "delta": word}, plan.pause) for word in plan.words)
    between = (
        ("response.content_part.added", {**at, "part": {**part, "text": ""}}, 0.0),
        *deltas,
        ("response.output_text.done", {**at, "text": plan.text}, 0.0),
        ("response.content_part.done", {**at, "part": part}, 0.0),
    )
    start: Json = {"type": "message", "id": name, "role": "assistant", "status": "in_progress", "content": []}
    return _Item(start, {**start, "status": "completed", "content": [part]}, between)


def _head(body: Json, number: int) -> Json:
    head = {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": body["model"]}
    return {**head, "status": "in_progress", "output": []}


def stream(plan: Plan, body: Json, number: int) -> Iterator[Timed]:
    """The events of an answer."""
    numbers = itertools.count()

    def send(kind: str, pause: float = 0.0, **data: Any) -> Timed:
        return event({"type": kind, "sequence_number": next(numbers), **data}, kind, pause)

    yield send("response.created", response=_head(body, number))
    for index, item in enumerate(_items(plan, number)):
        yield send("response.output_item.added", output_index=index, item=item.start)
        for kind, data, pause in item.between:
            yield send(kind, pause, output_index=index, **data)
        yield send("response.output_item.done", output_index=index, item=item.full)
    yield send("response.completed", response=whole(plan, body, number))


def whole(plan: Plan, body: Json, number: int) -> Json:
    """The answer to a request that does not stream."""
    output = [item.full for item in _items(plan, number)]
    return {**_head(body, number), "status": "completed", "output": output, "usage": _USAGE}
