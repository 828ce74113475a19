"""Files that agents keep about themselves: where they are, and a look into one that trusts nothing of it."""

import os
import stat
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from hybridmux.proc.paths import real
from hybridmux.proc.spare import SHORT, with_spare


def home_of(env: Mapping[str, str], cwd: str) -> str:
    """The home folder of a program with this environment in this working folder."""
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - of the server's user
    return os.path.join(cwd, home)  # noqa: PTH118


def folder_of(env: Mapping[str, str], cwd: str, variable: str, name: str) -> str:
    """An agent's folder: what a variable names, as seen from `cwd`, else `name` in the home folder."""
    return os.path.join(cwd, env.get(variable) or os.path.join(home_of(env, cwd), name))  # noqa: PTH118


def is_folder(stated: str, cwd: str) -> bool:
    """Whether a folder that a file names is `cwd` (a real path). Follows links."""
    return real(stated) == cwd


def read_plain(path: Path, limit: int) -> tuple[bytes, float] | None:
    """What a plain file holds, one byte above `limit` at most, and when it was written (seconds since the
    epoch). None for anything else: a link, a pipe that would hold us up, what cannot be read.

    Raises OSError without a descriptor to read with, which says nothing of the file.
    """
    try:
        return with_spare(partial(_plain, path, limit))
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in SHORT:
            raise
        return None


def _plain(path: Path, limit: int) -> tuple[bytes, float] | None:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        return (file.read(limit + 1), status.st_mtime) if stat.S_ISREG(status.st_mode) else None
