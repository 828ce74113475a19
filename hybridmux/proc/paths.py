"""Paths that others name: such a text need not be a path at all."""

import errno
import os
import stat

NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Nothing is there, for anybody. Whatever else a look fails with says nothing of what is there."""


def real(path: str) -> str | None:
    """Where a path leads, links followed, whether there is anything or not; None for a text that can be no
    path: one with a NUL, or with characters that no file name can hold (lone surrogates)."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def no_folder(path: str) -> str | None:
    """Why nothing can be started there, as the end of a sentence; None for a folder that can be looked at."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - pathlib raises for what no folder can be called
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "is not there"
    except OSError as exc:  # a network folder whose server has gone, one that was made private
        return f"cannot be used: {exc.strerror}"
    return None if stat.S_ISDIR(mode) else "is not a folder"
