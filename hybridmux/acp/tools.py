"""Tool calls: their titles and their output, which agents tell in four different ways. Pure."""

import re
from typing import Any

import orjson
from attrs import define

from hybridmux.acp.content import Room, clip, cut
from hybridmux.acp.reading import Json, items, maybe_text, obj, present, whole
from hybridmux.budgets import TEXT_FIELD

TITLE_CHARS = 2048
TITLE_FROM = ("command", "cmd", "file_path", "path", "url", "query", "pattern")
"""Fields of a tool's input that make a title, best first."""


BARE_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
"""The name of an agent's tool (`exec_command`): for programs, not for people."""


def title_from_input(raw_input: Any) -> str | None:
    """A title for a tool call that has none."""
    fields = obj(raw_input)
    for name in TITLE_FROM:
        value = fields.get(name)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = " ".join(value)
        if found := maybe_text(value, limit=TITLE_CHARS):
            return found.strip() or None
    return None


@define
class Output:
    """Text that grows with each delta of a tool's terminal.

    Sent whole each time, it would cost the square of its length; so it is sent again when an eighth is new,
    when the tool changes otherwise, or when the translator is flushed.
    """

    text: str = ""
    truncated: bool = False
    sent: int = 0
    ended: Json | None = None
    """`exitCode`, `signal`, once known."""

    def add(self, words: str) -> None:
        """Appends, up to `TEXT_FIELD` bytes."""
        if not self.truncated and words:
            self.text, self.truncated = cut(self.text + words, TEXT_FIELD)

    def due(self) -> bool:
        """Enough is new."""
        return self.pending() and (len(self.text) - self.sent) * 8 >= self.sent

    def pending(self) -> bool:
        """Something is new."""
        return len(self.text) > self.sent

    def take(self) -> Json:
        """The output as it is now."""
        self.sent = len(self.text)
        truncated = {"truncated": True} if self.truncated else {}
        return {"text": self.text, **(self.ended or {}), **truncated}


def terminal_delta(meta: Json) -> str | None:
    """What Codex adds to a tool's output, None if this update adds nothing."""
    for key in ("terminal_output_delta", "terminal_output"):
        data = obj(meta.get(key)).get("data")
        if isinstance(data, str):
            return data
    return None


def terminal_exit(meta: Json) -> Json | None:
    """`{exitCode?, signal?}` of a terminal that ended."""
    if not isinstance(meta.get("terminal_exit"), dict):
        return None
    ended = meta["terminal_exit"]
    return present(exitCode=whole(ended.get("exit_code")), signal=maybe_text(ended.get("signal"), limit=32))


def raw_output(value: Any, room: Room) -> Json:
    """Any agent's `rawOutput` as `{text, exitCode?, truncated?}`.

    A string, `{output, metadata: {exit}}`, `{error}` and `{content: [{type: "text", text}]}` are known;
    anything else is shown as JSON.
    """
    fields = obj(value)
    words = value if isinstance(value, str) else _words(fields)
    if words is None:
        words = orjson.dumps(clip(value, Room()), option=orjson.OPT_INDENT_2).decode()
    kept, was_cut = room.take(words)
    code = whole(obj(fields.get("metadata")).get("exit"))
    return {"text": kept, **present(exitCode=code), **({"truncated": True} if was_cut else {})}


def _words(fields: Json) -> str | None:
    for name in ("output", "error"):
        if isinstance(fields.get(name), str):
            return str(fields[name])
    texts = [one.get("text") for one in map(obj, items(fields.get("content"))) if one.get("type") == "text"]
    known = [one for one in texts if isinstance(one, str)]
    return "\n".join(known) if known else None
