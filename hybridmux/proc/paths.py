"""Paths that others name: such a text need not be a path at all."""

import os


def real(path: str) -> str | None:
    """Where a path leads, links followed, whether there is anything or not; None for a text that can be no
    path: one with a NUL, or with characters that no file name can hold (lone surrogates)."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None
