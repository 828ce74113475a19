"""Claude Code's process registry: which session a running `claude` has open, and who else has it.

Each interactive `claude` keeps `<CLAUDE_CONFIG_DIR or ~/.claude>/sessions/<pid>.json`, and so does the one
below a connector. The file stays behind after SIGKILL, so nothing in it is believed before it is checked
against the process table. Next to it lies a secret (`<pid>.<hash>.key`), which is never opened.

Reading a text is pure; `this_domain`, `record_of` and `read_records` are the readers. They raise OSError
where nothing can be seen: nobody is taken for absent who was not looked for. Paths, pids, start ticks and the
text itself are for decisions only: they go into no message, record or log.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from attrs import field, frozen

from hybridmux.agents.agent_files import folder_of, is_folder, read_plain
from hybridmux.agents.profile import TurnState
from hybridmux.proc.paths import NOWHERE
from hybridmux.proc.spare import SHORT, with_spare
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
    """Why a record cannot be that of the process in `facts`, in one word; None when everything agrees."""
    checks = (
        ("file", record.file_pid == record.pid),
        ("pid", record.pid == facts.pid),
        ("start", record.start_ticks == facts.start_ticks),
        ("domain", record.pid_domain == facts.pid_domain),
        ("cwd", is_folder(record.cwd, facts.cwd)),
    )
    return next((name for name, holds in checks if not holds), None)


def launched(root: Entry, below: Iterable[Entry], program: Callable[[int], str]) -> list[Entry]:
    """The Claudes that may register in place of `root`, the program that a terminal was started with.

    Below a launcher that stays (node, a version manager's shim, a script) they are its direct children in the
    terminal's session. A Claude that has started another one is no launcher. `program`: the file that a
    process runs, by its pid.
    """
    found = [one for one in below if one.name in _PROGRAMS and one.sid == root.sid and one.alive]
    if root.name not in _PROGRAMS:
        return found
    return [one for one in found if program(one.pid) != program(root.pid)]


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


def folder(env: Mapping[str, str], cwd: str) -> Path:
    """Where the registry is for programs with this environment in this folder."""
    return Path(folder_of(env, cwd, "CLAUDE_CONFIG_DIR", ".claude")) / "sessions"


def this_domain() -> str | None:
    """The domain of this server's processes; None where the machine does not say.

    Raises OSError without a descriptor to read with.
    """
    try:
        machine = with_spare(partial(Path("/etc/machine-id").read_text, encoding="ascii"))
        return pid_domain(machine, os.readlink("/proc/self/ns/pid"))  # noqa: PTH115
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno in SHORT:
            raise
        return None


def record_of(registry: Path, facts: Facts) -> Record | None:
    """The record of the process in `facts`, if there is one and every check holds.

    Raises OSError without a descriptor to read with.
    """
    record = _read(registry, f"{facts.pid}.json")
    return record if record and doubt(record, facts) is None else None


def read_records(registry: Path) -> list[Record]:
    """Every readable record; none where there is no such folder: who has not made one is not registered.

    Raises OSError for a folder that cannot be looked at, and without a descriptor: foreign writers go unseen.
    """
    try:
        names = with_spare(partial(_names, registry))
    except ValueError:
        return []
    except OSError as error:
        if error.errno not in NOWHERE:
            raise
        return []
    return [record for record in (_read(registry, name) for name in names) if record]


def _names(registry: Path) -> list[str]:
    with os.scandir(registry) as entries:
        return [entry.name for entry in islice(entries, ENTRIES) if file_pid(entry.name)]


def _read(registry: Path, name: str) -> Record | None:
    found = read_plain(registry / name, RECORD_BYTES)
    return parse(name, found[0]) if found else None
