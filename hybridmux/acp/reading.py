"""Reading JSON values of unknown shape: what is missing or wrong becomes a default, nothing raises. Pure."""

from typing import Any

Json = dict[str, Any]
NAME_CHARS = 512
"""Ids, names, kinds and the like."""
MAX_INT = 2**53


def obj(value: Any) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any, default: str = "", limit: int = NAME_CHARS) -> str:
    """The value if it is a string, cut at `limit` characters."""
    return value[:limit] if isinstance(value, str) else default


def maybe_text(value: Any, limit: int = NAME_CHARS) -> str | None:
    """As `text`; None for anything that is not a string with something in it."""
    return text(value, limit=limit) or None


def whole_text(value: Any, limit: int = NAME_CHARS) -> str | None:
    """A string that is used as a name, so that a part of it is of no use; None if it is empty or longer."""
    return value if isinstance(value, str) and 0 < len(value) <= limit else None


def whole(value: Any) -> int | None:
    """A whole number that JavaScript can hold, else None."""
    return value if type(value) is int and abs(value) <= MAX_INT else None


def number(value: Any) -> float | int | None:
    """A finite number, else None."""
    if type(value) is float:
        return value if abs(value) < float("inf") else None
    return whole(value)


def flag(value: Any) -> bool:
    """True for true only."""
    return value is True


def offered(value: Any) -> bool:
    """A capability: an object (even an empty one) or true means yes; false, null or nothing means no."""
    return value is True or isinstance(value, dict)


def present(**fields: Any) -> Json:
    """An object of the fields that are not None."""
    return {key: value for key, value in fields.items() if value is not None}
