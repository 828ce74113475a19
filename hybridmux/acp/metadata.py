"""Plan, commands, config options, usage: what an agent says of its session, in the chat's shapes. Pure."""

from collections.abc import Iterator
from typing import Any

from hybridmux.acp.content import Room
from hybridmux.acp.reading import (
    NAME_CHARS,
    Json,
    items,
    maybe_text,
    number,
    obj,
    present,
    text,
    whole,
    whole_text,
)
from hybridmux.budgets import LIST_ITEMS, LIST_TEXT

DESCRIPTION_CHARS = 4096
ENTRY_BYTES = 64
"""What an entry of a list costs beyond its words."""


def read_plan(entries: Any) -> list[Json]:
    """`[{content, status, priority?}]`."""
    room = Room(left=LIST_TEXT)
    return [
        {
            "content": _said(one, "content", room, DESCRIPTION_CHARS),
            "status": _said(one, "status", room) or "pending",
            **present(priority=_said(one, "priority", room) or None),
        }
        for one in _entries(entries, room)
        if isinstance(one.get("content"), str)
    ]


def read_commands(commands: Any) -> list[Json]:
    """`[{name, description, hint?}]`."""
    room = Room(left=LIST_TEXT)
    return [
        {
            "name": name,
            "description": _said(one, "description", room, DESCRIPTION_CHARS),
            **present(hint=_said(obj(one.get("input")), "hint", room, DESCRIPTION_CHARS) or None),
        }
        for one in _entries(commands, room)
        if (name := _name(one, "name", room))
    ]


def read_usage(update: Json) -> Json:
    """`{used?, size?, cost?, currency?}` of a usage update."""
    cost = obj(update.get("cost"))
    return present(
        used=whole(update.get("used")),
        size=whole(update.get("size")),
        cost=number(cost.get("amount")),
        currency=maybe_text(cost.get("currency"), limit=16),
    )


def read_options(options: Any) -> list[Json]:
    """`[{id, name, type, value, category?, description?, choices?}]`; not those of an unknown type."""
    room = Room(left=LIST_TEXT)
    return [
        _option(option_id, one, room)
        for one in _entries(options, room)
        if one.get("type") in ("select", "boolean") and (option_id := _name(one, "id", room))
    ]


def _option(option_id: str, one: Json, room: Room) -> Json:
    boolean = one["type"] == "boolean"
    return {
        "id": option_id,
        "name": _said(one, "name", room) or room.take(option_id)[0],
        "type": one["type"],
        "value": one.get("currentValue") is True if boolean else _name(one, "currentValue", room) or None,
        **present(
            description=_said(one, "description", room, DESCRIPTION_CHARS) or None,
            category=_said(one, "category", room) or None,
            choices=None if boolean else _choices(one.get("options"), "value", room),
        ),
    }


def _choices(options: Any, key: str, room: Room, deep: int = 1) -> list[Json]:
    """The values of a select; groups of values are laid flat."""
    choices: list[Json] = []
    for one in _entries(options, room):
        if isinstance(one.get("options"), list) and deep:
            choices += _choices(one["options"], key, room, deep - 1)
        elif (value := _name(one, key, room)) is not None:
            choices.append(_choice(value, one, room))
    return choices[:LIST_ITEMS]


def _choice(value: str, one: Json, room: Room) -> Json:
    description = _said(one, "description", room, DESCRIPTION_CHARS) or None
    return {
        "value": value,
        "name": _said(one, "name", room) or room.take(value)[0],
        **present(description=description),
    }


def _entries(value: Any, room: Room) -> Iterator[Json]:
    """The objects of an array, as long as there is room."""
    for one in items(value)[:LIST_ITEMS]:
        room.left -= ENTRY_BYTES
        if room.left <= 0:
            return
        yield obj(one)


def _name(one: Json, key: str, room: Room) -> str | None:
    """What something is called by programs: whole, or not at all."""
    value = one.get(key)
    words, was_cut = room.take(value) if isinstance(value, str) and len(value) <= NAME_CHARS else ("", True)
    return None if was_cut else words


def _said(one: Json, key: str, room: Room, limit: int = NAME_CHARS) -> str:
    return room.take(text(one.get(key), limit=limit))[0]


LEGACY_MODE, LEGACY_MODEL = "mode", "model"
"""Ids of the options that stand for the older `modes` and `models`: `session/set_mode` sets the one,
`session/set_model` the other."""


def config_from_result(result: Any) -> list[Json] | None:
    """The options in an answer to new, load, resume or set; None if it says nothing about them.

    The older `modes` and `models` count only where `configOptions` is absent.
    """
    result = obj(result)
    if isinstance(result.get("configOptions"), list):
        return read_options(result["configOptions"])
    room = Room(left=LIST_TEXT)
    modes, models = obj(result.get("modes")), obj(result.get("models"))
    legacy = [
        _legacy(LEGACY_MODE, modes, ("currentModeId", "availableModes", "id"), room),
        _legacy(LEGACY_MODEL, models, ("currentModelId", "availableModels", "modelId"), room),
    ]
    return [one for one in legacy if one["choices"]] or None


def legacy_ids(result: Any) -> set[str]:
    """Which options of this answer stand for the older `modes` and `models`."""
    if isinstance(obj(result).get("configOptions"), list):
        return set()
    return {one["id"] for one in config_from_result(result) or ()}


def _legacy(option_id: str, found: Json, keys: tuple[str, str, str], room: Room) -> Json:
    current, available, key = keys
    return {
        "id": option_id,
        "name": option_id.capitalize(),
        "type": "select",
        "value": whole_text(found.get(current)),
        "category": option_id,
        "choices": _choices(found.get(available), key, room, deep=0),
    }


def with_current(options: list[Json], name: str, value: Any) -> list[Json] | None:
    """The options after the current `name` (mode, model) became `value`; None if that changes nothing."""
    at = next((n for n, one in enumerate(options) if name in (one.get("category"), one["id"])), None)
    words = whole_text(value)
    if at is None or words is None or options[at]["value"] == words:
        return None
    return [*options[:at], {**options[at], "value": words}, *options[at + 1 :]]
