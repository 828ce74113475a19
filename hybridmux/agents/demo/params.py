"""Checks of what a client sends; pure but for a look at the folder it names. All raise `RpcError`."""

import os
from pathlib import Path
from typing import Any

from hybridmux.agents.demo.history import Line, labels_of, text_of
from hybridmux.agents.demo.rpc import RpcError


def invalid(problem: str) -> RpcError:
    return RpcError(-32602, f"Invalid params: {problem}")


def unknown(session: str) -> RpcError:
    return RpcError(-32002, f"No such session: {session}", {"sessionId": session})


def text(params: Line, name: str) -> str:
    if not isinstance(params.get(name), str):
        raise invalid(f"{name} must be a string")
    return str(params[name])


def cwd(params: Line) -> str:
    """An absolute path of a folder."""
    path = text(params, "cwd")
    if not Path(path).is_absolute() or not Path(path).is_dir():
        raise invalid(f"cwd must be an absolute path of a folder: {path}")
    return path


def folder(params: Line) -> str | None:
    """The real path of the optional `cwd` of `session/list`."""
    return os.path.realpath(text(params, "cwd")) if params.get("cwd") is not None else None


def blocks(params: Line) -> list[Line]:
    found = params.get("prompt")
    if not isinstance(found, list) or not all(isinstance(block, dict) for block in found):
        raise invalid("prompt must be a list of content blocks")
    if not text_of(found).strip() and not labels_of(found):
        raise invalid("prompt is empty")
    return found


def position(cursor: Any) -> tuple[int, str]:
    """Where the last page of `session/list` ended: a file's stamp and a session id."""
    stamp, _, name = str(cursor).partition("|")
    if not stamp.isdecimal():
        raise invalid("cursor is not one of ours")
    return int(stamp), name
