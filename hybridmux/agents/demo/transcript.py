"""The conversation as rows of text for a screen of any width; pure.

Rows are kept per block and width, and only the last paragraph of a growing block is wrapped again, so that
a long conversation and a flood of chunks stay cheap to draw.
"""

import re
from typing import NamedTuple

from prompt_toolkit.utils import get_cwidth

from hybridmux.agents.demo.history import Line, shown

Row = tuple[str, str]
"""A style name and a text that fits the width."""

USER_MARK = "❯"
_MARKS = {
    "user": f"{USER_MARK} ",
    "agent": "● ",
    "thought": "∴ ",
    "tool": "$ ",
    "plan": "≡ ",
    "notice": "· ",
    "error": "✗ ",
}
_STATES = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_SIGNS = {"in_progress": " …", "completed": " ✓", "failed": " ✗"}
_SEQUENCE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ENDS = {
    "cancelled": ("notice", "Interrupted"),
    "refusal": ("error", "The model refused."),
    "auth_required": ("error", "Error: authentication required"),
}


def clean(text: str) -> str:
    """Without colors and what would move the cursor: tabs become blanks, other control characters dots."""
    return _CONTROL.sub("·", _SEQUENCE.sub("", text).replace("\r\n", "\n").expandtabs(4))


def wrap(text: str, width: int) -> list[str]:
    """Breaks one paragraph between words, and inside a word only if it is wider than `width` cells."""
    if len(text) <= width and text.isascii():
        return [text]
    rows, start, blank, used, at = [], 0, -1, 0, 0
    while at < len(text):
        cells = get_cwidth(text[at])
        if used + cells > width and at > start:
            cut = blank if blank > start else at
            rows.append(text[start:cut])
            start = cut + 1 if cut == blank or text[cut] == " " else cut
            at, used, blank = start, 0, -1
            continue
        if text[at] == " ":
            blank = at
        used += cells
        at += 1
    return [*rows, text[start:]]


class Block:
    """One message, tool call or notice."""

    def __init__(self, kind: str, text: str = "") -> None:
        self.kind = kind
        self._paragraphs: list[str] = [""]
        self._width = 0
        self._rows: list[str] = []
        self._done = 0
        self.append(text)

    def append(self, text: str) -> None:
        head, *rest = clean(text).split("\n")
        self._paragraphs[-1] += head
        self._paragraphs += rest

    def replace(self, text: str) -> None:
        self._paragraphs, self._rows, self._done = [""], [], 0
        self.append(text)

    def rows(self, width: int) -> list[Row]:
        """At least one row; the first one carries the mark of the kind, the others are indented."""
        inner = max(width - 2, 1)
        if inner != self._width:
            self._width, self._rows, self._done = inner, [], 0
        for paragraph in self._paragraphs[self._done : -1]:
            self._rows += wrap(paragraph, inner)
        self._done = len(self._paragraphs) - 1
        last = wrap(self._paragraphs[-1], inner) if self._paragraphs[-1] or not self._rows else []
        texts = [*self._rows, *last]
        return [(self.kind, (_MARKS[self.kind] if i == 0 else "  ") + row) for i, row in enumerate(texts)]


class View(NamedTuple):
    """What fits the screen, and how many rows before the end it ends."""

    rows: list[Row]
    back: int


class Transcript:
    """All blocks of one conversation, in order."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._named: dict[str, Block] = {}
        self._tools: dict[str, Line] = {}
        self._turn = 0

    def note(self, text: str, kind: str = "notice") -> None:
        """Something that is not part of the conversation."""
        self.blocks.append(Block(kind, text))

    def apply(self, line: Line) -> None:
        """Shows one line of the conversation (`history` has their shapes)."""
        match line["type"]:
            case "user":
                self._turn += not line.get("steered")
                self.blocks.append(Block("user", shown(line["blocks"])))
            case "agent" | "thought" as role:
                self._block(line["messageId"] + role, role).append(line["text"])
            case "tool":
                tool = self._tools.setdefault(line["toolCallId"], {})
                tool.update(line)
                self._block(line["toolCallId"], "tool").replace(tool_text(tool))
            case "plan":
                rows = [f"{_STATES.get(e['status'], '[ ]')} {e['content']}" for e in line["entries"]]
                self._block(f"plan {self._turn}", "plan").replace("\n".join(rows))
            case "end":
                self._end(line)

    def _end(self, line: Line) -> None:
        if line["stopReason"] in _ENDS:
            kind, text = _ENDS[line["stopReason"]]
            self.note(text, kind)
        elif line["stopReason"] == "error":
            self.note(f"Error: {line.get('error', 'unknown')}", "error")

    def _block(self, name: str, kind: str) -> Block:
        if name not in self._named:
            self._named[name] = Block(kind)
            self.blocks.append(self._named[name])
        return self._named[name]

    def view(self, width: int, height: int, back: int) -> View:
        """The rows that end `back` rows before the end, or the first ones; earlier blocks are not wrapped."""
        found: list[Row] = []
        for block in reversed(self.blocks):
            if len(found) >= height + back:
                break
            gap: list[Row] = [("", "")] if block.kind == "user" and block is not self.blocks[0] else []
            found[:0] = gap + block.rows(width)
        back = min(back, max(len(found) - height, 0))
        end = len(found) - back
        return View(found[max(end - height, 0) : end], back)


def tool_text(tool: Line) -> str:
    """A tool call: its title and state, and what came out of it."""
    parts = [tool.get("title", "tool") + _SIGNS.get(tool.get("status", ""), "")]
    for item in tool.get("content", []):
        if item.get("type") == "diff":
            old, new = item.get("oldText") or "", item.get("newText", "")
            parts += [f"- {row}" for row in old.splitlines() if row not in new.splitlines()]
            parts += [f"+ {row}" for row in new.splitlines() if row not in old.splitlines()]
        else:
            parts.append(str(item.get("content", {}).get("text", "")).rstrip("\n"))
    return "\n".join(part for part in parts if part)
