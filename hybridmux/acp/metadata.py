"""Plan, commands, config options, usage: what an agent says of its session, in the chat's shapes. Pure."""

from collections.abc import Iterator
from typing import Any

from hybridmux.acp.content import Room
from hybridmux.acp.reading import Json, items, maybe_text, number, obj, present, text, whole
from hybridmux.budgets import LIST_ITEMS

DESCRIPTION_CHARS = 4096
ENTRY_BYTES = 64
"""What an entry of a list costs beyond its words."""


def read_plan(entries: Any) -> list[Json]:
    """`[{content, status, priority?}]`."""
    room = Room()
    return [
        {
            "content": _said(one, "content", room, DESCRIPTION_CHARS),
            "status": text(one.get("status")) or "pending",
            **present(priority=maybe_text(one.get("priority"))),
        }
        for one in _entries(entries, room)
        if isinstance(one.get("content"), str)
    ]


def read_commands(commands: Any) -> list[Json]:
    """`[{name, description, hint?}]`."""
    room = Room()
    return [
        {
            "name": text(one.get("name")),
            "description": _said(one, "description", room, DESCRIPTION_CHARS),
            **present(hint=_said(obj(one.get("input")), "hint", room, DESCRIPTION_CHARS) or None),
        }
        for one in _entries(commands, room)
        if maybe_text(one.get("name"))
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
    room = Room()
    return [
        _option(one, room)
        for one in _entries(options, room)
        if maybe_text(one.get("id")) and one.get("type") in ("select", "boolean")
    ]


def _option(one: Json, room: Room) -> Json:
    boolean = one["type"] == "boolean"
    value = one.get("currentValue")
    return {
        "id": text(one["id"]),
        "name": text(one.get("name")) or text(one["id"]),
        "type": one["type"],
        "value": value is True if boolean else maybe_text(value),
        **present(
            description=_said(one, "description", room, DESCRIPTION_CHARS) or None,
            category=maybe_text(one.get("category")),
            choices=None if boolean else _choices(one.get("options"), "value", room),
        ),
    }


def _choices(options: Any, key: str, room: Room, deep: int = 1) -> list[Json]:
    """The values of a select; groups of values are laid flat."""
    choices: list[Json] = []
    for one in _entries(options, room):
        if isinstance(one.get("options"), list) and deep:
            choices += _choices(one["options"], key, room, deep - 1)
        elif isinstance(one.get(key), str):
            choices.append(_choice(text(one[key]), one, room))
    return choices[:LIST_ITEMS]


def _choice(value: str, one: Json, room: Room) -> Json:
    description = _said(one, "description", room, DESCRIPTION_CHARS) or None
    return {
        "value": value,
        "name": _said(one, "name", room) or value,
        **present(description=description),
    }


def _entries(value: Any, room: Room) -> Iterator[Json]:
    """The objects of an array, as long as there is room."""
    for one in items(value)[:LIST_ITEMS]:
        room.left -= ENTRY_BYTES
        if room.left <= 0:
            return
        yield obj(one)


def _said(one: Json, key: str, room: Room, limit: int = 512) -> str:
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
    legacy = [
        _legacy(LEGACY_MODE, obj(result.get("modes")), ("currentModeId", "availableModes", "id")),
        _legacy(LEGACY_MODEL, obj(result.get("models")), ("currentModelId", "availableModels", "modelId")),
    ]
    return [one for one in legacy if one["choices"]] or None


def legacy_ids(result: Any) -> set[str]:
    """Which options of this answer stand for the older `modes` and `models`."""
    if isinstance(obj(result).get("configOptions"), list):
        return set()
    return {one["id"] for one in config_from_result(result) or ()}


def _legacy(option_id: str, found: Json, keys: tuple[str, str, str]) -> Json:
    current, available, key = keys
    return {
        "id": option_id,
        "name": option_id.capitalize(),
        "type": "select",
        "value": maybe_text(found.get(current)),
        "category": option_id,
        "choices": _choices(found.get(available), key, Room(), deep=0),
    }


def with_current(options: list[Json], name: str, value: Any) -> list[Json] | None:
    """The options after the current `name` (mode, model) became `value`; None if that changes nothing."""
    at = next((n for n, one in enumerate(options) if name in (one.get("category"), one["id"])), None)
    if at is None or not maybe_text(value) or options[at]["value"] == text(value):
        return None
    return [*options[:at], {**options[at], "value": text(value)}, *options[at + 1 :]]
