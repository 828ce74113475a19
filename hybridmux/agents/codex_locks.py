"""codex's writer locks: which thread a running codex has open, and whether somebody else has it.

A codex holds `<CODEX_HOME or ~/.codex>/thread-writer-locks/<threadId>.lock` open, with a lock on it, from its
start. After `/new` it holds the old and the new one. Thread ids are UUIDv7: they sort by when they were made.

Reading the texts is pure; `held_threads` and `lockers` read /proc. Paths and pids are for decisions only.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hybridmux.agents.agent_files import folder_of
from hybridmux.proc.locks import lock_holders
from hybridmux.proc.paths import real
from hybridmux.proc.table import open_files

_FOLDER = "thread-writer-locks"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LOCK = re.compile(rf"(?P<folder>.+)/{_FOLDER}/(?P<thread>{_UUID})\.lock")


def threads_in(files: Iterable[str], home: str) -> list[str]:
    """The threads whose locks are among a process's open files, oldest first; `home` as a real path."""
    found = map(_LOCK.fullmatch, files)
    return sorted({one["thread"] for one in found if one and one["folder"] == home})


def home(env: Mapping[str, str], cwd: str) -> str | None:
    """codex's folder as a real path, for programs with this environment in this folder; None if it can be
    none."""
    return real(folder_of(env, cwd, "CODEX_HOME", ".codex"))


def held_threads(pids: Iterable[int], home: str) -> list[str]:
    """The threads that these processes (a TUI and its descendants) hold, oldest first. Reads /proc."""
    files: set[str] = set().union(*map(open_files, pids))
    return threads_in(files, home)


def lockers(thread: str, env: Mapping[str, str], cwd: str) -> frozenset[int]:
    """The processes that hold this thread's lock, as far as this machine tells. Reads /proc."""
    folder = home(env, cwd)
    if folder is None or not re.fullmatch(_UUID, thread):
        return frozenset()
    return lock_holders(Path(folder, _FOLDER, f"{thread}.lock"))
