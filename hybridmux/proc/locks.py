"""Who holds a file's lock, and who listens on a port, as `/proc` tells: snapshots."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from hybridmux.proc.paths import NOWHERE
from hybridmux.proc.spare import SHORT, with_spare
from hybridmux.proc.table import Entry, entries, entry, open_files

_LINE = re.compile(
    r"\d+: (?:FLOCK|OFDLCK|POSIX) +\w+ +(?:READ|WRITE) +"
    r"(?P<pid>-?\d+) (?P<major>[0-9a-f]+):(?P<minor>[0-9a-f]+):(?P<inode>\d+) "
)
_SOCKET = re.compile(
    r" *\d+: [0-9A-F]+:(?P<port>[0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A (?:\S+ +){5}(?P<inode>\d+) "
)
LOCKS_BYTES = 1024 * 1024
"""Of /proc/locks that are looked at."""

Inode = tuple[int, int, int]
"""Major and minor device number, inode number."""


def parse_locks(text: str) -> list[tuple[int, Inode]]:
    """(pid, inode) of each lock in /proc/locks. Locks that are waited for (`->`) are not held."""
    return [
        (int(one["pid"]), (int(one["major"], 16), int(one["minor"], 16), int(one["inode"])))
        for one in map(_LINE.match, text[:LOCKS_BYTES].splitlines())
        if one
    ]


def holders(
    locks: Iterable[tuple[int, Inode]], inode: Inode, has_open: Callable[[int], bool]
) -> frozenset[int]:
    """The processes that hold a lock on this file; -1 for one that belongs to no process. Pure.

    On overlayfs and btrfs the kernel names another device here than `stat` does. So of a lock with the same
    inode number on another device `has_open` tells whether its holder has the file open.
    """
    return frozenset(
        pid for pid, each in locks if each[2] == inode[2] and (each == inode or (pid > 0 and has_open(pid)))
    )


def lock_holders(path: Path) -> frozenset[int]:
    """The pids of the processes that hold the file's lock, as far as we may see them.

    Raises OSError without a descriptor to look with, or where the file cannot be looked at: nobody seen is
    not the same as nobody.
    """
    try:
        status, name = path.stat(), os.path.realpath(path)
    except ValueError:
        return frozenset()
    except OSError as error:
        if error.errno not in NOWHERE:
            raise
        return frozenset()
    inode = (os.major(status.st_dev), os.minor(status.st_dev), status.st_ino)
    try:
        locks = parse_locks(with_spare(partial(Path("/proc/locks").read_text, encoding="ascii")))
        return holders(locks, inode, lambda pid: name in open_files(pid))
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in SHORT:
            raise
        return frozenset()


def lock_holder(path: Path) -> int | None:
    """The pid of a process that holds the file's lock; None if nobody does, or nobody who can be seen."""
    with suppress(OSError):
        return next(iter(lock_holders(path)), None)
    return None


def listening(lines: Iterable[str], port: int) -> set[str]:
    """The sockets that listen on a port (`socket:[815]`), in lines of /proc/net/tcp. Pure."""
    found = map(_SOCKET.match, lines)
    return {f"socket:[{one['inode']}]" for one in found if one and int(one["port"], 16) == port}


def listener(port: int) -> Entry | None:
    """A process that listens on this TCP port, as far as we may see it."""
    sockets: set[str] = set()
    for file in ("tcp", "tcp6"):
        with suppress(OSError):
            sockets |= listening(Path("/proc/net", file).read_text(encoding="ascii").splitlines(), port)
    if not sockets:
        return None
    return next((entry(pid) for pid in entries() if sockets & open_files(pid)), None)
