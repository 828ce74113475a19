"""From the lines of a session file to a conversation; pure.

A line is a JSON object with a `type`:

* `session` {id, cwd, title, createdAt}: the first one
* `user` {messageId, blocks, at, steered?}: blocks are ACP content blocks; `steered` came into a running turn
* `agent`, `thought` {messageId, text}: one streamed chunk
* `tool` {toolCallId, …}: a patch of an ACP tool call · `plan` {entries}
* `title` {title} · `config` {values} · `end` {stopReason, at, error?}: the end of a turn
"""

import base64
import binascii
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

Line = dict[str, Any]


def dump(message: Any) -> bytes:
    """One line of JSON, with its line break; a lone surrogate stays escaped, for UTF-8 cannot carry it."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def parse(data: bytes) -> list[Line]:
    """The whole lines of a session file; torn and foreign ones (a writer that died) are left out."""
    found = []
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("type"), str):
            found.append(line)
    return found


class Conversation(NamedTuple):
    """What a session file says; `items` are its lines in order, chunks joined and tool patches applied."""

    id: str
    cwd: str
    title: str
    created_at: str
    config: dict[str, Any]
    items: list[Line]

    @property
    def turns(self) -> int:
        return sum(starts_turn(item) for item in self.items)

    def without_last_turn(self) -> "Conversation":
        starts = [i for i, item in enumerate(self.items) if starts_turn(item)]
        return self._replace(items=self.items[: starts[-1]] if starts else [])


def starts_turn(line: Line) -> bool:
    return line["type"] == "user" and not line.get("steered")


def fold(lines: Iterable[Line]) -> Conversation:
    """Joins the lines of one session; tolerates a missing head."""
    head: Line = {}
    config: dict[str, Any] = {}
    items: list[Line] = []
    seen: dict[tuple[str, Any], Line] = {}
    title, turn = "", 0
    for line in lines:
        kind = line["type"]
        turn += starts_turn(line)
        if kind == "session":
            head = head or line
        elif kind == "config":
            config |= line.get("values", {})
        if kind in ("session", "title"):
            title = str(line.get("title") or title)
        elif kind != "config":
            _merge(line, _key(line, turn), seen, items)
    return Conversation(
        str(head.get("id", "")),
        str(head.get("cwd", "")),
        title,
        str(head.get("createdAt", "")),
        config,
        items,
    )


def _key(line: Line, turn: int) -> tuple[str, Any] | None:
    match line["type"]:
        case "agent" | "thought":
            return (line["type"], line.get("messageId"))
        case "tool":
            return ("tool", line.get("toolCallId"))
        case "plan":
            return ("plan", turn)
    return None


def _merge(
    line: Line, key: tuple[str, Any] | None, seen: dict[tuple[str, Any], Line], items: list[Line]
) -> None:
    first = seen.get(key) if key else None
    if first is None:
        first = dict(line)
        items.append(first)
        if key:
            seen[key] = first
    elif key and key[0] in ("agent", "thought"):
        first["text"] = first.get("text", "") + line.get("text", "")
    else:
        first |= line


def text_of(blocks: Iterable[Line]) -> str:
    """The text blocks of a prompt, joined by line breaks."""
    return "\n".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")


def labels_of(blocks: Iterable[Line]) -> tuple[str, ...]:
    """What else a prompt carries: `image/png 68 bytes`, `text/plain 13 bytes`, `link README.md`."""
    return tuple(_label(b) for b in blocks if b.get("type") != "text")


def _label(block: Line) -> str:
    match block.get("type"):
        case "image" | "audio":
            return f"{block.get('mimeType', block['type'])} {_decoded(block.get('data', ''))} bytes"
        case "resource":
            inner = block.get("resource", {})
            size = len(inner["text"].encode()) if "text" in inner else _decoded(inner.get("blob", ""))
            return f"{inner.get('mimeType', 'resource')} {size} bytes"
        case "resource_link":
            return f"link {block.get('name') or block.get('uri', '')}"
    return str(block.get("type", "unknown block"))


def _decoded(data: str) -> int:
    try:
        return len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return 0


def shown(blocks: Iterable[Line]) -> str:
    """A prompt as one text, its attachments named."""
    blocks = list(blocks)
    return " ".join(filter(None, [text_of(blocks), *(f"[{label}]" for label in labels_of(blocks))]))
