"""The environment mark that every process of ours inherits: whose it is, readable after any crash."""

import hashlib
import re
import secrets
from pathlib import Path
from typing import Self

from attrs import field, frozen
from attrs.validators import matches_re

ENV = "HYBRIDMUX_MARK"
_PART = r"[A-Za-z0-9_-]{1,64}"
_MARK = re.compile(":".join([f"({_PART})"] * 4))


def _part() -> str:
    name: str = field(validator=matches_re(_PART))
    return name


@frozen
class Mark:
    """Four parts of letters, digits, `_`, `-`, 64 characters at most; `str()` is the environment's value."""

    data: str = _part()
    """Which data folder: `data_hash()` of it."""
    session: str = _part()
    """The session id."""
    start: str = _part()
    """The server's random start value."""
    run: str = _part()
    """One value for each spawn of a side; `new_run()`."""

    def __str__(self) -> str:
        return f"{self.data}:{self.session}:{self.start}:{self.run}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The mark that `str()` made, or None for anything else."""
        found = _MARK.fullmatch(text)
        return cls(*found.groups()) if found else None


def data_hash(folder: Path) -> str:
    """A short hash of the folder's real path: tells data folders apart and does not tell where they are."""
    return hashlib.sha256(bytes(folder.resolve())).hexdigest()[:16]


def new_run() -> str:
    """A fresh random value for `Mark.run` or `Mark.start`."""
    return secrets.token_hex(8)
