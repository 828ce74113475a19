"""What clients give for a new session: names, sizes, folders; checked."""

import os
from pathlib import Path

from hybridmux.budgets import NAME_CHARS
from hybridmux.conversation.sizing import clamp
from hybridmux.errors import BadRequest
from hybridmux.proc.paths import no_folder


def clamped(value: int | None, default: int) -> int:
    """A number of columns or rows within the bounds."""
    return default if value is None else clamp(value)


def checked_name(name: str) -> str:
    """A name without control characters; raises `BadRequest`."""
    if len(name) > NAME_CHARS or any(ord(char) < 32 for char in name):
        raise BadRequest(f"name must have at most {NAME_CHARS} characters and no control characters")
    return name.strip()


def folder(text: str) -> str:
    """The folder a program starts in; the user's home if none is given. Raises `BadRequest`."""
    path = os.path.expanduser(text or "~")  # noqa: PTH111 - pathlib raises for what no folder can be called
    if not os.path.isabs(path):  # noqa: PTH117
        raise BadRequest(f"cwd {text!r} is not a folder (give an absolute path)")
    if why := no_folder(path):
        raise BadRequest(f"cwd {text!r} {why}")
    if not _is_utf8(path + os.path.realpath(path)):
        raise BadRequest("cwd: the folder's name is not UTF-8, so that no agent could be told of it")
    return str(Path(path))


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
