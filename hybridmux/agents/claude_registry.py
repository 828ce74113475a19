"""Claude Code's process registry: which session a running `claude` has open, and who else has it.

Each interactive `claude` keeps `<CLAUDE_CONFIG_DIR or ~/.claude>/sessions/<pid>.json`, and so does the one
below a connector. The file stays behind after SIGKILL, so nothing in it is believed before it is checked
against the process table. Next to it lies a secret (`<pid>.<hash>.key`), which is never opened.

Reading a text and judging it is pure; `read_record` and `read_records` are the readers. Paths, pids, start
ticks and the text itself are for decisions only: they go into no message, record or log.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from hybridmux.agents.profile import TurnState
from hybridmux.proc.table import Entry

RECORD_BYTES = 64 * 1024
"""A record is about 1 KiB."""
ENTRIES = 4096
"""Names in the folder that are looked at."""
_NAME = re.compile(r"([1-9]\d{0,9})\.json")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PROGRAMS = ("claude", "claude.exe")
_TURNS: Mapping[Any, TurnState] = {"idle": "idle", "busy": "running", "waiting": "asking"}


@frozen(kw_only=True)
class Record:
    """What one file says; nothing of it is checked yet."""

    file_pid: int = field(repr=False)
    """From the file's name."""
    pid: int = field(repr=False)
    session_id: str
    cwd: str = field(repr=False)
    start_ticks: int = field(repr=False)
    pid_domain: str = field(repr=False)
    turn: TurnState


@frozen(kw_only=True)
class Facts:
    """What the record of one running `claude` must agree with."""

    pid: int = field(repr=False)
    start_ticks: int = field(repr=False)
    cwd: str = field(repr=False)
    """Its working folder as a real path."""
    pid_domain: str = field(repr=False)


def pid_domain(machine_id: str, pid_namespace: str) -> str:
    """`linux:<machine id>:pid:[4026531836]`, from /etc/machine-id and the link /proc/self/ns/pid."""
    return f"linux:{machine_id.strip()}:{pid_namespace.strip()}"


def file_pid(name: str) -> int | None:
    """The pid in a record's file name; None for every other file, the key beside it first of all."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def parse(name: str, data: bytes) -> Record | None:
    """The record in a file; None if it is too large, torn, or lacks what we need in the form that we know."""
    pid = file_pid(name)
    if pid is None or len(data) > RECORD_BYTES:
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    texts = [value.get(key) for key in ("sessionId", "cwd", "procStart", "pidDomain")]
    own = value.get("pid")
    if type(own) is not int or not all(isinstance(one, str) for one in texts):
        return None
    session_id, cwd, ticks, domain = map(str, texts)
    if not _UUID.fullmatch(session_id) or not re.fullmatch(r"\d{1,19}", ticks, re.ASCII):
        return None
    status = value.get("status")
    return Record(
        file_pid=pid,
        pid=own,
        session_id=session_id,
        cwd=cwd,
        start_ticks=int(ticks),
        pid_domain=domain,
        turn=_TURNS.get(status, "unknown") if isinstance(status, str) else "unknown",
    )


def doubt(record: Record, facts: Facts) -> str | None:
    """Why a record cannot be that of the process in `facts`, in one word; None when everything agrees.

    The folders are compared as they are written: see `real_cwd`.
    """
    checks = (
        ("file", record.file_pid == record.pid),
        ("pid", record.pid == facts.pid),
        ("start", record.start_ticks == facts.start_ticks),
        ("domain", record.pid_domain == facts.pid_domain),
        ("cwd", os.path.normpath(record.cwd) == facts.cwd),
    )
    return next((name for name, holds in checks if not holds), None)


def claude_pid(root: int, by_engine: bool, table: Mapping[int, Entry]) -> int | None:
    """The process that registers: the program we started, or below a node launcher its one `claude`.

    `table`: processes by pid, the program and its children at least. A launcher that has replaced itself
    has no child; with several children it cannot be told which.
    """
    below = [one.pid for one in table.values() if by_engine and one.ppid == root and one.alive]
    claudes = [pid for pid in below if table[pid].name in _PROGRAMS]
    if not claudes:
        return root
    return claudes[0] if len(claudes) == 1 else None


def claimants(records: Iterable[Record], session_id: str, *, domain: str) -> dict[int, int]:
    """Who says that it has this session open: pid → start ticks.

    It counts only if a living process has both: records of the dead stay behind. The session's own sides are
    among them (a connector's `claude` registers too).
    """
    return {
        record.pid: record.start_ticks
        for record in records
        if record.session_id == session_id and record.file_pid == record.pid and record.pid_domain == domain
    }


def folder(env: Mapping[str, str]) -> Path:
    """Where the registry is for programs with this environment."""
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - of the server's user
    return Path(env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")) / "sessions"  # noqa: PTH118


def real_cwd(record: Record) -> Record:
    """The record with its folder as a real path, as `Facts.cwd` is. Reads the file system."""
    return evolve(record, cwd=os.path.realpath(record.cwd))


def this_domain() -> str | None:
    """The domain of this server's processes; None where the machine does not say."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii")
        return pid_domain(machine, os.readlink("/proc/self/ns/pid"))  # noqa: PTH115
    except (OSError, UnicodeDecodeError):
        return None


def read_record(registry: Path, pid: int) -> Record | None:
    """The record of one process, or None."""
    return _read(registry, f"{pid}.json")


def record_of(registry: Path, facts: Facts) -> Record | None:
    """The record of the process in `facts`, if there is one and every check holds. Reads the file system."""
    record = read_record(registry, facts.pid)
    return record if record and doubt(real_cwd(record), facts) is None else None


def read_records(registry: Path) -> list[Record] | None:
    """Every readable record; None when the folder cannot be read: then foreign writers go unseen."""
    found = []
    try:
        with os.scandir(registry) as entries:
            for _, entry in zip(range(ENTRIES), entries, strict=False):
                record = _read(registry, entry.name) if file_pid(entry.name) else None
                if record:
                    found.append(record)
    except OSError:
        return None
    return found


def _read(registry: Path, name: str) -> Record | None:
    """Opens plain files only, and reads no more than a record may hold."""
    with suppress(OSError):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(registry / name, flags)
        with os.fdopen(fd, "rb") as file:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                return parse(name, file.read(RECORD_BYTES + 1))
    return None
