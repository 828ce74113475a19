"""Which files of a folder are opened by anybody, as the kernel tells (inotify)."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import define, field

_OPEN = 0x20
_EVENT = struct.Struct("iIII")


@define
class Opened:
    """What was opened so far; `names` reads on."""

    _fd: int
    _seen: list[str] = field(factory=list)

    def names(self) -> list[str]:
        """The files' names, each opening one entry."""
        while True:
            try:
                data = os.read(self._fd, 64 * 1024)
            except BlockingIOError:
                return self._seen
            at = 0
            while at < len(data):
                length = _EVENT.unpack_from(data, at)[3]
                at += _EVENT.size
                self._seen.append(data[at : at + length].rstrip(b"\0").decode())
                at += length


@contextmanager
def opened_in(folder: Path) -> Iterator[Opened]:
    """Watches from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert fd >= 0
    try:
        assert libc.inotify_add_watch(fd, os.fsencode(folder), _OPEN) >= 0
        yield Opened(fd)
    finally:
        os.close(fd)
