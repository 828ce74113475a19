"""Readers of `/proc`: who is alive, below whom, since when, and with which mark.

A pid alone proves nothing, it is used again; a pid with its start time in clock ticks since boot does.
Everything here is a snapshot: a process that goes away while it is read is simply not in the answer. What
decides whether somebody is gone (`entries`, `environ_mark`, `open_files`) raises OSError instead when the
machine has nothing left to look with; the others answer as if nobody were there.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from attrs import frozen

from hybridmux.proc.mark import ENV, Mark
from hybridmux.proc.spare import SHORT, with_spare

_NEEDLE = b"\0" + ENV.encode() + b"="
_READ = 256 * 1024


@frozen
class Entry:
    """One process as `/proc/<pid>/stat` shows it."""

    pid: int
    name: str
    """At most 15 characters, chosen by the program itself: for people only."""
    state: str
    ppid: int
    pgid: int
    sid: int
    tty_nr: int
    threads: int
    start_ticks: int
    """Clock ticks since boot."""

    @property
    def alive(self) -> bool:
        """False for a zombie that only waits for its parent; a leader whose other threads run on is alive."""
        return self.state not in "ZX" or self.threads > 1


def parse_stat(text: bytes) -> Entry | None:
    """The entry in one `stat` line; None if it is not one. The name may hold blanks, newlines, brackets."""
    head, bracket, rest = text.rpartition(b")")
    pid, opening, name = head.partition(b" (")
    fields = rest.split()
    if not bracket or not opening or len(fields) < 20:
        return None
    try:
        ppid, pgid, sid, tty_nr = map(int, fields[1:5])
        return Entry(
            pid=int(pid),
            name=name.decode("utf-8", "replace"),
            state=fields[0].decode("ascii", "replace"),
            ppid=ppid,
            pgid=pgid,
            sid=sid,
            tty_nr=tty_nr,
            threads=int(fields[17]),
            start_ticks=int(fields[19]),
        )
    except ValueError:
        return None


def _whole(path: str) -> bytes:
    """The whole file. Plain `os` calls: three times as fast as `open()`."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    pieces: list[bytes] = []
    try:
        while piece := os.read(fd, _READ):
            pieces.append(piece)
    except OSError:
        pass  # ESRCH: it went away in between
    finally:
        os.close(fd)
    return b"".join(pieces)


def _look(path: str) -> bytes:
    """The whole file, empty where there is none for us. Raises OSError without a descriptor to read it."""
    try:
        return with_spare(partial(_whole, path))
    except OSError as error:
        if error.errno in SHORT:
            raise
        return b""


def _read(path: str) -> bytes:
    """The whole file, empty when it cannot be read."""
    try:
        return _look(path)
    except OSError:
        return b""


def entry(pid: int) -> Entry | None:
    """The process with this pid, a zombie included; None if there is none, or none that can be seen."""
    return parse_stat(_read(f"/proc/{pid}/stat"))


def find(pid: int) -> Entry | None:
    """The same where the unseen must not count as gone: raises OSError without a descriptor to look with."""
    return parse_stat(_look(f"/proc/{pid}/stat"))


def entries() -> dict[int, Entry]:
    """Every process of the machine, by pid."""
    names = with_spare(partial(os.listdir, "/proc"))
    found = (parse_stat(_look(f"/proc/{name}/stat")) for name in names if name.isdigit())
    return {one.pid: one for one in found if one is not None}


def children(pid: int) -> list[int]:
    """The pids of its children; from the kernel's own lists where it keeps them, which is quick.

    Those lists may lack a child while another one ends. Raises OSError without a descriptor to look with.
    """
    folder = f"/proc/{pid}/task"
    if not os.path.exists(f"{folder}/{pid}/children"):  # noqa: PTH110 - speed
        return [one.pid for one in entries().values() if one.ppid == pid]
    found: list[int] = []
    try:
        for thread in with_spare(partial(os.listdir, folder)):
            found += map(int, _look(f"{folder}/{thread}/children").split())
    except OSError as error:
        if error.errno in SHORT:
            raise
    return found


def environ_mark(pid: int) -> Mark | None:
    """The mark this process was started with; None without one, for a zombie, where reading is refused."""
    text = b"\0" + _look(f"/proc/{pid}/environ")
    start = text.find(_NEEDLE)
    if start < 0:
        return None
    value = text[start + len(_NEEDLE) :].split(b"\0", 1)[0]
    return Mark.parse(value.decode("ascii", "replace"))


def command_line(pid: int) -> str:
    """The arguments joined by blanks, empty for a zombie."""
    return _read(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")


def program(pid: int) -> str:
    """The file that it runs (a script's interpreter), empty where that may not be seen."""
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    return ""


def open_files(pid: int) -> set[str]:
    """What its file descriptors point at (`/dev/pts/3`, `pipe:[815]`), as far as we may see it."""
    folder = f"/proc/{pid}/fd"
    try:
        names = with_spare(partial(os.listdir, folder))
    except OSError as error:
        if error.errno in SHORT:
            raise
        return set()
    found = set()
    for name in names:
        with suppress(OSError):
            found.add(os.readlink(f"{folder}/{name}"))  # noqa: PTH115
    return found


def below(roots: Iterable[int], table: Mapping[int, Entry]) -> set[int]:
    """The roots that are in the table and all their descendants."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for one in table.values():
        children[one.ppid].append(one.pid)
    found: set[int] = set()
    todo = [pid for pid in roots if pid in table]
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo.extend(children[pid])
    return found


def descendants(pid: int, table: Mapping[int, Entry]) -> set[int]:
    """Every process below `pid`, itself not included."""
    return below([pid], table) - {pid}


def ancestors(pid: int, table: Mapping[int, Entry]) -> set[int]:
    """The parents above `pid`, itself not included."""
    found: set[int] = set()
    one = table.get(pid)
    while one is not None and one.ppid in table and one.ppid not in found:
        found.add(one.ppid)
        one = table[one.ppid]
    return found


def boot_id() -> str:
    """The kernel's id of this boot: start ticks of another boot prove nothing."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
