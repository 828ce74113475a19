"""What clients give for a new session: names, sizes, folders; checked."""

from pathlib import Path

from hybridmux.budgets import NAME_CHARS
from hybridmux.conversation.sizing import clamp
from hybridmux.errors import BadRequest


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
    try:
        path = Path(text).expanduser() if text else Path.home()
        is_folder = path.is_absolute() and path.is_dir()
    except (OSError, RuntimeError) as exc:  # a dead mount; `~nobody`
        raise BadRequest(f"cwd {text!r} cannot be used: {exc}") from exc
    if not is_folder:
        raise BadRequest(f"cwd {text!r} is not a folder (give an absolute path)")
    return str(path)
