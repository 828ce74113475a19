"""Programs as files: where a command's program is, why it cannot be run, what it runs on, its package.

Everything here reads the file system, a few small files; nothing is run.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen

from hybridmux.budgets import PACKAGE_BYTES, SHEBANG_BYTES
from hybridmux.proc.spawn import SpawnFailed, search

SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_ASSIGNMENT = re.compile(r"\w+=")


@frozen
class Package:
    """The npm package that a file belongs to."""

    name: str
    version: str


def locate(word: str, env: Mapping[str, str], cwd: str) -> str:
    """The absolute path of a program, found as a shell in `cwd` would.

    Raises `SpawnFailed`, whose message says what is there instead; `missing`: nothing is.
    """
    path = env.get("PATH", os.defpath)
    try:
        return os.path.abspath(search(word, path, cwd))  # noqa: PTH100 - no resolving
    except SpawnFailed as exc:
        for candidate in _candidates(word, path, cwd):
            if os.path.lexists(candidate):
                raise SpawnFailed(why_not(candidate)) from exc
        where = f"there is no file {word}" if "/" in word else f"{word} is not installed (not found on PATH)"
        raise SpawnFailed(where, missing=exc.missing) from exc


def _candidates(word: str, path: str, cwd: str) -> Iterator[str]:
    for folder in [""] if "/" in word else path.split(os.pathsep):
        yield os.path.join(cwd, folder, word)  # noqa: PTH118


def why_not(path: str) -> str:
    """What is wrong with a file that cannot be run."""
    file = Path(path)
    try:
        file.stat()
    except FileNotFoundError:
        return f"{path} is a link to {file.readlink()}, which does not exist"
    except OSError as exc:
        return f"{path} cannot be used: {exc.strerror}"
    if file.is_dir():
        return f"{path} is a folder, not a program"
    return f"{path} is not an executable file (chmod +x)" if file.is_file() else f"{path} is no program"


def no_program(path: str, *, by_us: bool) -> str | None:
    """Why a file that may be executed is nothing that runs here; None for programs and scripts, and for what
    cannot be read.

    A text whose first line does not say what runs it is given to `sh` where it is started `by_us`; the kernel
    refuses it to others.
    """
    try:
        with Path(path).open("rb") as file:
            first = file.read(SHEBANG_BYTES)
    except OSError:
        return None
    if first.startswith(b"#!") or b"\0" in first:
        return None
    windows = path.lower().endswith((".cmd", ".bat", ".ps1")) or first[:5].lower() == b"@echo"
    if windows:
        return f"{path} is a script for Windows, not a program"
    return None if by_us else f"{path} is a text without a first line that says what runs it (#!)"


def readable(path: str, cwd: str) -> bool:
    """Whether it is a file that we may read, as a script must be for its engine."""
    file = os.path.join(cwd, path)  # noqa: PTH118
    return os.path.isfile(file) and os.access(file, os.R_OK)  # noqa: PTH113 - pathlib may raise


def interpreter(path: str) -> str | None:
    """The word that a script's first line names as its interpreter; None for anything else."""
    try:
        with Path(path).open("rb") as file:
            first = file.read(SHEBANG_BYTES).split(b"\n")[0]
    except OSError:
        return None
    words = first.removeprefix(b"#!").decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":  # noqa: PTH119 - a name, not a file
        words = [one for one in words[1:] if not one.startswith("-") and not _ASSIGNMENT.match(one)]
    return words[0] if words else None


def package_of(path: str) -> Package | None:
    """The package whose folder holds the file, links followed; None if there is none that says so."""
    for folder in Path(os.path.realpath(path)).parents[:4]:
        try:
            with (folder / "package.json").open("rb") as file:
                value: Any = orjson.loads(file.read(PACKAGE_BYTES))
        except (OSError, ValueError):
            continue
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            version = value.get("version")
            return Package(value["name"], version if isinstance(version, str) else "")
    return None


Identity = tuple[object, ...]


def identity(path: str) -> Identity | None:
    """What changes when the file is replaced (npm may keep its time and its size); None if it is gone."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (os.path.realpath(path), *times, status.st_size, status.st_dev, status.st_ino)
