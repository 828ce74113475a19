"""Chat events folded into the timeline that a person sees. Pure.

The web page has the same fold in TypeScript; the vectors in `fixtures/chat/fold` hold both to it. Rules:

    item       shape (fields with ? only once known)
    message    {kind, role, id, content: [...]}: texts that follow one another are joined
    tool       {kind, role: "agent", id, title?, toolKind?, status?, input?, content?, locations?, output?}
    compaction {kind, role: "agent", id, status?, text?}
    request    {kind, role: "agent", id, requestKind, title, toolCallId?, options?, schema?, outcome?}
    turn       {kind, role: "agent", id, startedAt, endedAt, stopReason, error?}, where it ended
    notice     {kind, role: "system", level, code, text}
    marker     {kind, role: "system", marker}

* An item stays where its first event put it. Messages, tools, compactions and requests are found again by id.
* A patch replaces the fields it has and leaves the others.
* An event whose `seq` is not above the last one applied is skipped: after a reconnect some come twice.
* `plan.set`, `commands.set`, `config.set`, `usage.set`, `info.set` and `turn.start` make no item but `state`:
  `plan`, `commands`, `options`, `usage`, `info` (merged), `turn` (`{id, startedAt}` while one runs or null).
* An event of an unknown type, or one without the fields it needs, is skipped.
"""

from collections.abc import Callable
from typing import Any

from hybridmux.acp.reading import Json, obj, text

_TOOL_FIELDS = ("title", "status", "input", "content", "locations", "output")
_REQUEST_FIELDS = ("title", "toolCallId", "options", "schema")
_STATE = {
    "plan.set": ("plan", "entries"),
    "commands.set": ("commands", "commands"),
    "config.set": ("options", "options"),
    "usage.set": ("usage", "usage"),
}


class Timeline:
    """Apply events in order, read `items()` and `state`."""

    def __init__(self) -> None:
        self.seq = 0
        """The last event applied."""
        self.state: Json = {
            "plan": [],
            "commands": [],
            "options": [],
            "usage": None,
            "info": {},
            "turn": None,
        }
        self._items: list[Json] = []
        self._by_id: dict[tuple[str, str], Json] = {}

    def items(self) -> list[Json]:
        """The timeline. The list is new, the items are the fold's own."""
        for item in self._items:
            for block in item.get("content") or () if item["kind"] == "message" else ():
                if type(block.get("text")) is list:
                    block["text"] = "".join(block["text"])
        return list(self._items)

    def apply(self, event: Json) -> None:
        """Folds one event in."""
        seq = event.get("seq")
        if isinstance(seq, int):
            if seq <= self.seq:
                return
            self.seq = seq
        kind = text(event.get("type"))
        if kind in _STATE:
            key, source = _STATE[kind]
            self.state[key] = event.get(source)
        elif kind in _FOLDERS:
            needed, folder = _FOLDERS[kind]
            if needed is None or isinstance(event.get(needed), str):
                folder(self, event)

    def _item(self, kind: str, role: str, item_id: Any, **fields: Any) -> Json:
        """The item of that id, made if it is new."""
        item = self._by_id.get((kind, text(item_id)))
        if item is None:
            item = self._add(kind, role, id=text(item_id), **fields)
            self._by_id[kind, text(item_id)] = item
        return item

    def _add(self, kind: str, role: str, **fields: Any) -> Json:
        item = {"kind": kind, "role": role, **fields}
        self._items.append(item)
        return item

    def _message(self, event: Json) -> None:
        content = obj(event.get("content"))
        item = self._item("message", text(event.get("role")), event.get("messageId"), content=[])
        blocks = item["content"]
        if content.get("type") != "text":
            blocks.append(content)
            return
        # Appending to a string would copy it for every chunk; the pieces are joined when somebody looks.
        if not blocks or blocks[-1].get("type") != "text":
            blocks.append({"type": "text", "text": []})
        last = blocks[-1]
        if type(last["text"]) is str:
            last["text"] = [last["text"]]
        last["text"].append(content.get("text", ""))
        if content.get("truncated"):
            last["truncated"] = True

    def _tool(self, event: Json) -> None:
        item = self._item("tool", "agent", event.get("toolCallId"))
        if "kind" in event:
            item["toolKind"] = event["kind"]
        item.update(_picked(event, _TOOL_FIELDS))

    def _compaction(self, event: Json) -> None:
        self._item("compaction", "agent", event.get("id")).update(_picked(event, ("status", "text")))

    def _request_open(self, event: Json) -> None:
        item = self._item("request", "agent", event.get("requestId"), requestKind=event.get("kind"))
        item.update(_picked(event, _REQUEST_FIELDS))

    def _request_close(self, event: Json) -> None:
        item = self._by_id.get(("request", text(event.get("requestId"))))
        if item is not None:
            item["outcome"] = event.get("outcome")

    def _turn_start(self, event: Json) -> None:
        self.state["turn"] = {"id": event.get("turnId"), "startedAt": event.get("startedAt")}

    def _turn_end(self, event: Json) -> None:
        self.state["turn"] = None
        fields = _picked(event, ("startedAt", "endedAt", "stopReason", "error"))
        self._add("turn", "agent", id=event.get("turnId"), **fields)

    def _notice(self, event: Json) -> None:
        self._add("notice", "system", **_picked(event, ("level", "code", "text")))

    def _marker(self, event: Json) -> None:
        self._add("marker", "system", marker=event.get("kind"))

    def _info(self, event: Json) -> None:
        self.state["info"] = {**self.state["info"], **_picked(event, ("title", "updatedAt"))}


_FOLDERS: dict[str, tuple[str | None, Callable[[Timeline, Json], None]]] = {
    "message.append": ("messageId", Timeline._message),
    "tool.upsert": ("toolCallId", Timeline._tool),
    "compaction.upsert": ("id", Timeline._compaction),
    "request.open": ("requestId", Timeline._request_open),
    "request.close": ("requestId", Timeline._request_close),
    "turn.start": (None, Timeline._turn_start),
    "turn.end": (None, Timeline._turn_end),
    "notice": (None, Timeline._notice),
    "marker": (None, Timeline._marker),
    "info.set": (None, Timeline._info),
}
"""By event type: the id it needs, and what it does."""


def fold(events: list[Json]) -> Timeline:
    """A timeline of these events."""
    timeline = Timeline()
    for event in events:
        timeline.apply(event)
    return timeline


def _picked(event: Json, names: tuple[str, ...]) -> Json:
    return {name: event[name] for name in names if name in event}
