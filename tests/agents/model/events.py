"""Server-sent events, as every dialect writes them."""

import json
from typing import Any

Json = dict[str, Any]
Timed = tuple[str, float]
"""One event as it goes over the wire, and the seconds to wait after it."""


def event(value: Json | str, name: str = "", pause: float = 0.0) -> Timed:
    """One event: a JSON value or plain text, with a name in the dialects that name theirs."""
    data = value if isinstance(value, str) else json.dumps(value)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n", pause


def texts(content: Any) -> list[str]:
    """The text parts of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if isinstance(part, dict) and "text" in part]
