"""What a TUI says once it has given the terminal back, and the conversation it names there. Pure.

A conversation may hold the very words of a farewell. So only whole lines count, among the last ones, after
the alternate screen and the mode for pastes were left.
"""

import re
from collections.abc import Callable

UUID = r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
LINES = 8
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x00-\x08\x0b-\x1f]"
)
_ERROR = re.compile(r"error\b", re.IGNORECASE)
_TAKEN_MODES = ("1049", "2004")
"""The alternate screen, which may hold all that a program draws, and the pastes, which all of them switch."""


def plain(output: str) -> str:
    """The text without control sequences."""
    return _ESCAPES.sub("", output)


def last_words(output: str) -> str:
    """The plain text after the program's leaving; empty if it did not leave, all of it if it took nothing."""
    start = 0
    for mode in _TAKEN_MODES:
        taken = output.rfind(f"\x1b[?{mode}h")
        left = output.find(f"\x1b[?{mode}l", taken + 1)
        if left < 0 <= taken:
            return ""
        start = max(start, left)
    return plain(output[start:])


def reason(output: str) -> str:
    """The line that says why a program has ended: the last that calls itself an error, else the last one."""
    lines = [line.strip() for line in plain(output).split("\n") if line.strip()][-LINES:]
    return next((line for line in reversed(lines) if _ERROR.match(line)), lines[-1] if lines else "")


def farewell(pattern: str) -> Callable[[str], str | None]:
    """A profile's `farewell`: the one group of the last match; the pattern is for whole lines."""
    compiled = re.compile(rf"^(?:{pattern})$", re.MULTILINE)

    def read(text: str) -> str | None:
        lines = [line.rstrip() for line in text.split("\n") if line.strip()][-LINES:]
        found = compiled.findall("\n".join(lines))
        return found[-1] if found else None

    return read
