"""How deep JSON of others may nest: parsers take more than encoders, so it is bounded where it is read."""

from collections.abc import Iterable
from typing import Any

from hybridmux.budgets import JSON_DEPTH


def may_be_deep(data: bytes | str) -> bool:
    """A quick look at the text: without so many brackets nothing can nest so deep."""
    if isinstance(data, str):
        return data.count("{") + data.count("[") > JSON_DEPTH
    return data.count(b"{") + data.count(b"[") > JSON_DEPTH


def prune(value: Any, levels: int = JSON_DEPTH) -> bool:
    """Empties what nests deeper, in place; whether there was anything."""
    inner: Iterable[Any]
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        return False
    if levels == 0:
        was_full = bool(value)
        value.clear()
        return was_full
    return sum(prune(one, levels - 1) for one in inner) > 0  # a sum, as it has to get to all
