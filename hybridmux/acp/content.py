"""Content of any origin, made small and of known shape. Pure.

A content block becomes `{type: "text", text, truncated?}`, `{type: "image", mimeType, size}`,
`{type: "resource", name, mimeType, size?}` or `{type: "unsupported", was}`. Image data is dropped: only its
size stays.
"""

import re
from typing import Any

from attrs import define

from hybridmux.acp.reading import Json, items, maybe_text, obj, present, text, whole
from hybridmux.budgets import EVENT_DEPTH, EVENT_NODES, EVENT_TEXT, LIST_ITEMS, TEXT_FIELD

PATH_CHARS = 4096
_IMAGE_AS_TEXT = re.compile(r"\[@image\]\(data:(image/[\w.+-]{1,64});base64,([A-Za-z0-9+/=\s]*)\)")
"""How Codex replays an image of the user."""


def cut(words: str, limit: int) -> tuple[str, bool]:
    """`words` in at most `limit` bytes of UTF-8, never inside a character, and whether something was cut."""
    if len(words) * 4 <= limit or (len(words) <= limit and words.isascii()):
        return words, False
    data = words[: limit + 1].encode("utf-8", "replace")
    if len(words) <= limit and len(data) <= limit:
        return words, False
    return data[:limit].decode("utf-8", "ignore"), True


@define
class Room:
    """What may still go into one event."""

    left: int = EVENT_TEXT
    """Bytes of text."""
    nodes: int = EVENT_NODES
    """Values of arbitrary JSON."""

    def take(self, words: str, limit: int = TEXT_FIELD) -> tuple[str, bool]:
        """The text as far as there is room, and whether it was cut."""
        kept, was_cut = cut(words, min(limit, self.left))
        self.left -= len(kept) if kept.isascii() else len(kept.encode())
        return kept, was_cut


def clip(value: Any, room: Room, depth: int = 0) -> Any:
    """Arbitrary JSON within the room; an object that lost texts or items says `truncated: true`."""
    room.nodes -= 1
    if isinstance(value, str):
        return room.take(value)[0]
    if isinstance(value, dict):
        return _clip_object(value, room, depth)
    if isinstance(value, list):
        return _clip_list(value, room, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else None
    return value if isinstance(value, float) and abs(value) < float("inf") else None


def _clip_list(value: list[Any], room: Room, depth: int) -> list[Any]:
    clipped: list[Any] = []
    for one in value if depth < EVENT_DEPTH else ():
        if room.nodes <= 0:
            break
        clipped.append(clip(one, room, depth + 1))
    return clipped


def _clip_object(value: Json, room: Room, depth: int) -> Json:
    clipped: Json = {}
    if depth >= EVENT_DEPTH:
        return {"truncated": True} if value else clipped
    for key, one in value.items():
        name, was_cut = room.take(str(key), limit=PATH_CHARS)
        if room.nodes <= 0 or was_cut:
            clipped["truncated"] = True
            break
        if isinstance(one, str):
            clipped[name], was_cut = room.take(one)
            room.nodes -= 1
        else:
            clipped[name] = clip(one, room, depth + 1)
            was_cut = isinstance(one, list) and len(clipped[name]) < len(one)
        if was_cut:
            clipped["truncated"] = True
    return clipped


def text_content(words: str, *, truncated: bool = False) -> Json:
    """A text block."""
    return {"type": "text", "text": words, **({"truncated": True} if truncated else {})}


def unsupported(was: Any) -> Json:
    """The placeholder of a block we do not show."""
    return {"type": "unsupported", "was": text(was, limit=64) or "unknown"}


def read_content(block: Any, room: Room) -> Json:
    """One content block of the protocol."""
    block = obj(block)
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        found = _IMAGE_AS_TEXT.fullmatch(block["text"].strip()) if "[@image](" in block["text"][:64] else None
        if found:
            return {"type": "image", "mimeType": found[1], "size": _decoded(found[2])}
        words, was_cut = room.take(block["text"])
        return text_content(words, truncated=was_cut)
    if kind == "image":
        return {"type": "image", "mimeType": _mime(block), "size": _decoded(block.get("data"))}
    if kind == "resource_link":
        return _resource(block, block.get("name"), whole(block.get("size")), room)
    if kind == "resource":
        return _embedded(obj(block.get("resource")), room)
    return unsupported(kind)


def _embedded(resource: Json, room: Room) -> Json:
    words = resource.get("text")
    size = len(words.encode("utf-8", "replace")) if isinstance(words, str) else _decoded(resource.get("blob"))
    return _resource(resource, None, size, room)


def _resource(block: Json, name: Any, size: int | None, room: Room) -> Json:
    uri = text(block.get("uri"), limit=PATH_CHARS)
    shown = maybe_text(name) or uri.rstrip("/").rpartition("/")[2] or uri or "resource"
    return {"type": "resource", "name": room.take(shown)[0], "mimeType": _mime(block), **present(size=size)}


def _mime(block: Json) -> str:
    return text(block.get("mimeType"), limit=128) or "application/octet-stream"


def _decoded(data: Any) -> int:
    """How many bytes base64 text stands for."""
    if not isinstance(data, str):
        return 0
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def read_tool_content(value: Any, room: Room) -> list[Json]:
    """The `content` of a tool call: content blocks as above, diffs, and terminals by their id."""
    return [_tool_content(obj(one), room) for one in items(value)[:LIST_ITEMS]]


def _tool_content(one: Json, room: Room) -> Json:
    kind = one.get("type")
    if kind == "content":
        return read_content(one.get("content"), room)
    if kind == "diff":
        return _diff(one, room)
    if kind == "terminal":
        return {"type": "terminal", "terminalId": room.take(text(one.get("terminalId")))[0]}
    return unsupported(kind)


def _diff(one: Json, room: Room) -> Json:
    """`{type: "diff", path, oldText, newText, truncated?}`; `oldText` is null for a new file."""
    old, new = one.get("oldText"), one.get("newText")
    old_words, old_cut = room.take(old) if isinstance(old, str) else (None, False)
    new_words, new_cut = room.take(new) if isinstance(new, str) else ("", False)
    diff = {
        "type": "diff",
        "path": room.take(text(one.get("path"), limit=PATH_CHARS))[0],
        "oldText": old_words,
        "newText": new_words,
    }
    return {**diff, "truncated": True} if old_cut or new_cut else diff


def read_locations(value: Any, room: Room) -> list[Json]:
    """`[{path, line?}]`."""
    return [
        {"path": room.take(path)[0], **present(line=whole(one.get("line")))}
        for one in map(obj, items(value)[:LIST_ITEMS])
        if room.left > 0 and (path := maybe_text(one.get("path"), limit=PATH_CHARS))
    ]
