"""What a TUI says once it has given the terminal back, and the conversation it names there. Pure.

A conversation may hold the very words of a farewell. So only whole lines count, among the last ones, after
the alternate screen (or, where there is none, the mode for pastes) was left.
"""

import re
from collections.abc import Callable

UUID = r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
LINES = 8
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\r\x00-\x08]"
)
_TAKEN_MODES = ("1049", "2004")
"""The alternate screen, which holds all the program draws; else the pastes, which all of them switch."""


def plain(output: str) -> str:
    """The text without control sequences."""
    return _ESCAPES.sub("", output)


def last_words(output: str) -> str:
    """The plain text after the program's leaving; empty if it did not leave, all of it if it took nothing."""
    for mode in _TAKEN_MODES:
        on, off = f"\x1b[?{mode}h", f"\x1b[?{mode}l"
        taken = output.rfind(on)
        left = output.find(off, taken + 1)
        if left >= 0:
            return plain(output[left:])
        if taken >= 0:
            return ""
    return plain(output)


def farewell(pattern: str) -> Callable[[str], str | None]:
    """A profile's `farewell`: the one group of the last match; the pattern is for whole lines."""
    compiled = re.compile(rf"^(?:{pattern})$", re.MULTILINE)

    def read(text: str) -> str | None:
        lines = [line.rstrip() for line in text.split("\n") if line.strip()][-LINES:]
        found = compiled.findall("\n".join(lines))
        return found[-1] if found else None

    return read
