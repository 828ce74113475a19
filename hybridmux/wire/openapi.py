"""The OpenAPI document of the contract, made from the attrs types.

`python -m hybridmux.wire.openapi` prints its schemas; the page's TypeScript types are generated from them.
The paths come from who serves them.
"""

import sys
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import orjson

from hybridmux import __version__
from hybridmux.wire import chat, chat_commands, chat_events, launch, problems, sessions, terminal, types
from hybridmux.wire.convert import Json, camel

MODULES: tuple[ModuleType, ...] = (types, sessions, launch, chat, chat_events, chat_commands, terminal)
REQUESTS = frozenset(
    {
        types.LoginBody,
        sessions.CreateSession, sessions.RenameSession, sessions.SwitchRequest, sessions.ResumeRequest,
        launch.LaunchConfigBody, launch.SupportQuery, chat_commands.AttachmentRef, chat_commands.PromptBody,
        chat_commands.CommandBody, chat_commands.QueueEdit, chat_commands.RequestAnswer,
        chat_commands.ConfigBody, chat_commands.PermissionModeBody,
        terminal.ClientResize,
    }
)  # fmt: skip
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema_of(kind: Any) -> Json:
    """The JSON schema of one annotation."""
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if attrs.has(kind):
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    origin, args = get_origin(kind), get_args(kind)
    if origin is list:
        return {"type": "array", "items": schema_of(args[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(arg) for arg in args]}
    raise TypeError(f"no schema for {kind!r}")


def _optional(cls: type, attribute: "attrs.Attribute[Any]") -> bool:
    """Requests may leave out what has a default; answers leave out only what `maybe()` made."""
    return bool(attribute.metadata.get("omit")) or (
        cls in REQUESTS and attribute.default is not attrs.NOTHING
    )


def object_schema(cls: type) -> Json:
    """The schema of one attrs class."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(attrs.resolve_types(cls))
    omitted = {a.name for a in fields if a.metadata.get("omit")}
    return {
        "type": "object",
        "description": (cls.__doc__ or "").strip(),
        "properties": {
            camel(a.name): schema_of(_bare(a.type) if a.name in omitted else a.type) for a in fields
        },
        "required": [camel(a.name) for a in fields if not _optional(cls, a)],
        "additionalProperties": False,
    }


def _bare(kind: Any) -> Any:
    """`X` of `X | None`: a field that is left out is never null."""
    rest = [arg for arg in get_args(kind) if arg is not NoneType]
    return rest[0] if get_origin(kind) in (Union, UnionType) and len(rest) == 1 else kind


def classes() -> list[type]:
    """Every public type of the contract."""
    written = [
        value
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, type)
        and attrs.has(value)
        and value.__module__ == module.__name__
        and name[0] != "_"
    ]
    return [*written, *problems.BODIES.values()]


def document(paths: Json | None = None) -> Json:
    """The whole document; `paths` as OpenAPI has them."""
    schemas = {cls.__name__: object_schema(cls) for cls in classes()}
    schemas["ChatEvent"] = {
        "oneOf": [schema_of(cls) for cls in chat_events.EVENTS],
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "hybridmux", "version": __version__},
        "security": [{"token": []}],
        "paths": paths or {},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
