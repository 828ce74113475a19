"""codex's writer locks: which thread a running codex has open, and whether somebody else has it.

A codex holds `<CODEX_HOME or ~/.codex>/thread-writer-locks/<threadId>.lock` open, with a lock on it, from its
start. After `/new` it holds the old and the new one. Thread ids are UUIDv7: they sort by when they were made.

Reading the texts is pure; `held_threads` and `lockers` read /proc. Paths and pids are for decisions
only.
"""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from hybridmux.proc.locks import Inode, parse_locks
from hybridmux.proc.table import open_files

_FOLDER = "thread-writer-locks"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LOCK = re.compile(rf"(?P<folder>.+)/{_FOLDER}/(?P<thread>{_UUID})\.lock")


def threads_in(files: Iterable[str], home: str) -> list[str]:
    """The threads whose locks are among a process's open files, oldest first; `home` as a real path."""
    found = map(_LOCK.fullmatch, files)
    return sorted({one["thread"] for one in found if one and one["folder"] == home})


def holders(locks: Iterable[tuple[int, Inode]], inode: Inode) -> frozenset[int]:
    """The processes that hold a lock on this file."""
    return frozenset(pid for pid, each in locks if each == inode)


def home(env: Mapping[str, str]) -> str:
    """codex's folder as a real path, for programs with this environment."""
    base = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - of the server's user
    return os.path.realpath(env.get("CODEX_HOME") or os.path.join(base, ".codex"))  # noqa: PTH118


def held_threads(pids: Iterable[int], env: Mapping[str, str]) -> list[str]:
    """The threads that these processes (a TUI and its descendants) hold, oldest first. Reads /proc."""
    files: set[str] = set().union(*map(open_files, pids))
    return threads_in(files, home(env))


def lockers(thread: str, env: Mapping[str, str]) -> frozenset[int]:
    """The processes that hold this thread's lock, as far as this machine tells. Reads /proc."""
    if not re.fullmatch(_UUID, thread):
        return frozenset()
    with suppress(OSError, UnicodeDecodeError):
        status = (Path(home(env)) / _FOLDER / f"{thread}.lock").stat()
        inode = (os.major(status.st_dev), os.minor(status.st_dev), status.st_ino)
        return holders(parse_locks(Path("/proc/locks").read_text(encoding="ascii")), inode)
    return frozenset()
