"""How deep JSON of others may nest: parsers take more than encoders, so it is bounded where it is read."""

from typing import Any

from hybridmux.budgets import JSON_DEPTH

_NESTING = frozenset({dict, list})


def may_be_deep(data: bytes | str) -> bool:
    """A quick look at the text: without so many brackets nothing can nest so deep."""
    if isinstance(data, str):
        return data.count("{") + data.count("[") > JSON_DEPTH
    return data.count(b"{") + data.count(b"[") > JSON_DEPTH


def prune(value: Any, levels: int = JSON_DEPTH) -> bool:
    """Empties what nests deeper in parsed JSON, in place; whether there was anything.

    Level by level, and no call for each value: a long message is mostly numbers, strings and empty lists.
    """
    level = [value] if value and type(value) in _NESTING else []
    for _ in range(levels):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _NESTING and inner
        ]
    for one in level:
        one.clear()
    return bool(level)
