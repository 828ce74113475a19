"""codex's writer locks: which thread a running codex has open, and whether somebody else has it.

A codex holds `<CODEX_HOME or ~/.codex>/thread-writer-locks/<threadId>.lock` open, with a lock on it, from its
start. After `/new` it holds the old and the new one, and with a `/side` chat the one it stands beside: what
kind of thread it is says the first line of its rollout, `sessions/YYYY/MM/DD/rollout-…-<threadId>.jsonl`.
Thread ids are UUIDv7: they sort by when they were made, and tell it.

Reading the texts is pure; `held_threads` and `lockers` read /proc, `open_thread` rollouts. Paths and pids are
for decisions only.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from hybridmux.agents.agent_files import folder_of, read_plain
from hybridmux.proc.locks import lock_holders
from hybridmux.proc.paths import real
from hybridmux.proc.spare import with_spare
from hybridmux.proc.table import open_files

_FOLDER = "thread-writer-locks"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_SOURCE = re.compile(rb'"thread_source" *: *"(\w{1,64})"')
_BESIDE = ("tui_side_chat", "subagent")
_HEAD = 4096
"""Bytes of a rollout that are looked at: it comes before the instructions."""
_REMEMBERED = 1000
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


def open_thread(held: Sequence[str], home: str) -> str | None:
    """The conversation of a program that holds these (oldest first): the newest that stands by itself. What
    stands beside another cannot be opened again."""
    if len(held) == 1:
        return held[0]
    return next((each for each in reversed(held) if _source(each, home) not in _BESIDE), None)


_sources: dict[tuple[str, str], str] = {}
"""What rollouts have said: it does not change."""


def _source(thread: str, home: str) -> str | None:
    """Who began the thread, `user` or (say) `tui_side_chat`; None while nothing says it."""
    if (home, thread) in _sources:
        return _sources[home, thread]
    found = next(filter(None, (source_in(text) for text in _first_lines(thread, home))), None)
    if found:
        if len(_sources) >= _REMEMBERED:
            _sources.clear()
        _sources[home, thread] = found
    return found


def source_in(line: bytes) -> str | None:
    """What a rollout's first line says of the thread's beginning; None if it says nothing. Pure."""
    found = _SOURCE.search(line.partition(b"\n")[0])
    return found[1].decode() if found else None


def _first_lines(thread: str, home: str) -> Iterator[bytes]:
    for folder in days(thread):
        try:
            names = with_spare(partial(os.listdir, Path(home, "sessions", folder)))
        except OSError:
            continue
        for name in names:
            if name.startswith("rollout-") and name.endswith(f"-{thread}.jsonl"):
                read = read_plain(Path(home, "sessions", folder, name), _HEAD)
                if read:
                    yield read[0]


def days(thread: str) -> list[str]:
    """The folders of the days on which it may have been made, whatever the time zone: `2026/11/30`. Pure."""
    made = datetime.fromtimestamp(int(thread.replace("-", "")[:12], 16) / 1000, UTC)
    return [f"{made + timedelta(days=each):%Y/%m/%d}" for each in (0, -1, 1)]


def lockers(thread: str, env: Mapping[str, str], cwd: str) -> frozenset[int]:
    """The processes that hold this thread's lock, as far as this machine tells. Reads /proc."""
    folder = home(env, cwd)
    if folder is None or not re.fullmatch(_UUID, thread):
        return frozenset()
    return lock_holders(Path(folder, _FOLDER, f"{thread}.lock"))
