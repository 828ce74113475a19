"""The one converter between JSON bodies and the attrs types of the contract.

Field names are camelCase on the wire and snake_case here. Reading is strict: an unknown field, a missing
one or a wrong type raises `BadRequest` that names the field by its path (`env.PATH`, `cmd[0]`). Writing
leaves out fields made with `maybe()` while they are None.
"""

from collections.abc import Callable, Iterator
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs
import orjson
from attrs import Attribute, field
from cattrs import BaseValidationError, ClassValidationError, Converter, IterableValidationError
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from hybridmux.budgets import JSON_DEPTH
from hybridmux.errors import BadRequest
from hybridmux.wire.nesting import may_be_deep, prune

T = TypeVar("T")
Json = dict[str, Any]


def maybe() -> Any:
    """An optional field: None by default and left out on the wire while it is None."""
    return field(default=None, metadata={"omit": True})


def camel(name: str) -> str:
    """The wire name of a snake_case field."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


class WrongType(Exception):
    """A value of another JSON type than the field wants; the message says which was expected."""


_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def _exact(kind: type) -> Any:
    def structure(value: Any, _: Any) -> Any:
        if type(value) is kind or (kind is float and type(value) is int):
            return value
        raise WrongType(f"must be {_NAMES[kind]}")

    return structure


def _literal(value: Any, target: Any) -> Any:
    allowed = get_args(target)
    if isinstance(value, str) and value in allowed:
        return value
    raise WrongType(f"must be one of {', '.join(map(repr, allowed))}")


def _optional(target: Any) -> Any:
    """Structures `X | None`; other unions are read by `type` where they are needed and never here."""
    inner = next(arg for arg in get_args(target) if arg is not type(None))
    return lambda value, _: None if value is None else converter.structure(value, inner)


def _is_optional(target: Any) -> bool:
    return (
        get_origin(target) in (Union, UnionType)
        and type(None) in get_args(target)
        and len(get_args(target)) == 2
    )


def _is_plain_union(target: Any) -> bool:
    return get_origin(target) in (Union, UnionType) and set(get_args(target)) <= {*_NAMES, type(None)}


def _plain_union(value: Any, target: Any) -> Any:
    """Structures `str | bool | None`: the JSON type decides."""
    if type(value) in get_args(target):
        return value
    raise WrongType("has another type than it may have")


def _renames(cls: type, *, writing: bool) -> dict[str, Any]:
    fields: tuple[Attribute[Any], ...] = attrs.fields(cls)
    return {
        a.name: override(rename=camel(a.name), omit_if_default=writing and bool(a.metadata.get("omit")))
        for a in fields
    }


def _mapping(value: Any) -> Any:
    if not isinstance(value, dict):
        raise WrongType("must be an object")
    return value


def _structure_class(cls: type) -> Any:
    inner: Any = make_dict_structure_fn(
        cls, converter, _cattrs_forbid_extra_keys=True, **_renames(cls, writing=False)
    )
    return lambda value, target: inner(_mapping(value), target)


def _list(target: Any) -> Any:
    (item,) = get_args(target)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise WrongType("must be a list")
        errors: list[Exception] = []
        out = []
        for index, each in enumerate(value):
            try:
                out.append(converter.structure(each, item))
            except Exception as exc:
                exc.__notes__ = [*getattr(exc, "__notes__", []), _Step(f"[{index}]")]
                errors.append(exc)
        if errors:
            raise IterableValidationError("list", errors, list)
        return out

    return structure


def _dict(target: Any) -> Any:
    _, item = get_args(target)

    def structure(value: Any, _: Any) -> Any:
        out = {}
        for key, each in _mapping(value).items():
            try:
                out[key] = converter.structure(each, item)
            except Exception as exc:
                exc.__notes__ = [*getattr(exc, "__notes__", []), _Step(key)]
                raise IterableValidationError("dict", [exc], dict) from None
        return out

    return structure


class _Step(str):
    """A note on an exception: one step of the path to the field."""

    __slots__ = ()


def _origin_is(kind: Any) -> Callable[[Any], bool]:
    return lambda target: get_origin(target) is kind


converter = Converter(prefer_attrib_converters=True)
converter.register_structure_hook_factory(attrs.has, _structure_class)
converter.register_unstructure_hook_factory(
    attrs.has, lambda cls: make_dict_unstructure_fn(cls, converter, **_renames(cls, writing=True))
)
converter.register_structure_hook_factory(_origin_is(list), _list)
converter.register_structure_hook_factory(_origin_is(dict), _dict)
converter.register_structure_hook_func(_is_plain_union, _plain_union)
converter.register_structure_hook_func(_is_optional, lambda value, t: _optional(t)(value, t))
converter.register_structure_hook_func(_origin_is(Literal), _literal)
for _kind in (str, int, float, bool):
    converter.register_structure_hook(_kind, _exact(_kind))


def _step_of(exc: BaseException) -> str | None:
    for note in getattr(exc, "__notes__", []):
        if isinstance(note, _Step):
            return str(note)
        name = getattr(note, "name", None)
        if isinstance(name, str):
            return camel(name)
    return None


def _join(path: str, step: str | None) -> str:
    if not step:
        return path
    return path + step if step.startswith("[") else f"{path}.{step}" if path else step


def _problems(exc: BaseException, path: str = "") -> Iterator[str]:
    """One sentence a problem, deepest first found."""
    here = _join(path, _step_of(exc))
    if isinstance(exc, BaseValidationError):
        if isinstance(exc, ClassValidationError | IterableValidationError):
            for inner in exc.exceptions:
                yield from _problems(inner, here)
    elif isinstance(exc, ForbiddenExtraKeysError):
        yield from (f"unknown field {_join(path, key)}" for key in sorted(exc.extra_fields))
    elif isinstance(exc, KeyError):
        yield f"missing field {here}"
    elif isinstance(exc, WrongType):
        yield f"{here or 'the body'} {exc}"
    else:
        yield f"{here or 'the body'}: {exc}"


def read(value: Any, kind: type[T]) -> T:
    """Reads one JSON value as `kind`; raises `BadRequest` with the path of what is wrong."""
    try:
        return converter.structure(value, kind)
    except (BaseValidationError, WrongType, KeyError, ValueError, TypeError) as exc:
        raise BadRequest(next(_problems(exc))) from None


def read_bytes(data: bytes | str, kind: type[T]) -> T:
    """Reads one JSON document; raises `BadRequest`."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BadRequest("the body is not JSON") from None
    if may_be_deep(data) and prune(value):
        raise BadRequest(f"the body nests deeper than {JSON_DEPTH} levels")
    return read(value, kind)


def write(value: Any) -> Json:
    """The JSON form of one attrs object of the contract."""
    out: Json = converter.unstructure(value)
    return out


def dump(value: Any) -> bytes:
    """The encoded JSON form of an attrs object, or of plain JSON data."""
    return encode(converter.unstructure(value))


def encode(value: Any, option: int | None = None) -> bytes:
    """Plain JSON data, encoded. Lone surrogates (of file names that are not UTF-8) become `?`."""
    try:
        return orjson.dumps(value, option=option)
    except TypeError:
        return orjson.dumps(_encodable(value), option=option)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
