"""Sessions on disk: one append-only `<id>.jsonl` each, and a lock file that its only writer holds.

They live in `$HYBRIDMUX_DEMO_HOME`, else in `hybridmux-demo` under `$XDG_DATA_HOME` or `~/.local/share`.
"""

import fcntl
import mmap
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hybridmux.agents.demo import limits
from hybridmux.agents.demo.history import Conversation, Line, dump, fold, parse

_TITLE = b'\n{"type":"title"'
_ID = re.compile(r"demo_[0-9a-f]{12}")


class NoSuchSession(Exception):
    """`args[0]` is the id that nobody knows."""


class InUse(Exception):
    """Another process holds the session's lock; `args[0]` is the id."""


class Summary(NamedTuple):
    """One session as lists show it; `stamp` is the file's mtime in nanoseconds."""

    id: str
    cwd: str
    title: str
    created_at: str
    updated_at: str
    stamp: int


def new_id() -> str:
    return f"demo_{os.urandom(6).hex()}"


def utc(seconds: float) -> str:
    """RFC 3339 with milliseconds and `Z`."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"


def now() -> str:
    return utc(time.time())


class Log:
    """The open file of one session together with its lock; `append` is one write of one line."""

    def __init__(self, path: Path, lock: int) -> None:
        self._lock = lock
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = os.fstat(self._fd).st_size
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            os.write(self._fd, b"\n")  # the last writer died inside a line: keep ours apart from it

    def append(self, line: Line, *, sync: bool = False) -> None:
        data = dump(line)
        while data:
            data = data[os.write(self._fd, data) :]
        if sync:
            os.fsync(self._fd)

    def close(self) -> None:
        """Gives the session free; safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            os.close(self._lock)
            self._fd = self._lock = -1


class Store:
    def __init__(self, home: Path) -> None:
        self.home = home

    @classmethod
    def default(cls, environ: Mapping[str, str] = os.environ) -> "Store":
        if home := environ.get("HYBRIDMUX_DEMO_HOME"):
            return cls(Path(home))
        return cls(Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / limits.NAME)

    def has(self, session: str) -> bool:
        return bool(_ID.fullmatch(session)) and self._file(session).exists()

    def read(self, session: str) -> Conversation:
        """Raises `NoSuchSession`."""
        if not self.has(session):
            raise NoSuchSession(session)
        return fold(parse(self._file(session).read_bytes()))

    def open(self, session: str) -> Log:
        """Takes the lock of an existing session. Raises `NoSuchSession`, `InUse`."""
        if not self.has(session):
            raise NoSuchSession(session)
        return Log(self._file(session), self._take(session))

    def create(self, session: str, cwd: str, title: str = "") -> Log:
        """Writes the head of a new session and takes its lock."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = Log(self._file(session), self._take(session))
        log.append({"type": "session", "id": session, "cwd": cwd, "title": title, "createdAt": now()})
        return log

    def in_use(self, session: str) -> bool:
        """True while some process holds it; only looks, for trying the lock could turn a real opener away."""
        try:
            inode = (self.home / f"{session}.lock").stat().st_ino
            return any(
                line.split()[5].endswith(f":{inode}") for line in Path("/proc/locks").read_text().splitlines()
            )
        except (OSError, IndexError):
            return False

    def summaries(self, cwd: str | None = None) -> list[Summary]:
        """Newest first; with `cwd` (a real path) only those made there."""
        found = [
            s for path in self.home.glob("demo_*.jsonl") if (s := _summary(path)) and cwd in (None, s.cwd)
        ]
        return sorted(found, key=lambda s: (s.stamp, s.id), reverse=True)

    def _file(self, session: str) -> Path:
        return self.home / f"{session}.jsonl"

    def _take(self, session: str) -> int:
        fd = os.open(self.home / f"{session}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise InUse(session) from None
        return fd


def _summary(path: Path) -> Summary | None:
    """Reads the head of the file and its newest title, not all that lies between them."""
    try:
        with path.open("rb") as file:
            lines = parse(file.readline())
            stamp = os.fstat(file.fileno()).st_mtime_ns
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
                data.seek(data.rfind(_TITLE) + 1)  # the head again if there is none
                lines += parse(data.readline())
    except (FileNotFoundError, ValueError):  # ValueError: the file is empty
        return None
    talk = fold(lines)
    if not talk.id:
        return None
    return Summary(talk.id, talk.cwd, talk.title, talk.created_at, utc(stamp / 1e9), stamp)
