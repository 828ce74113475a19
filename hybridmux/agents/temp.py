"""Temp folders for agents that leave files behind, named by the server process that made them.

    <temp folder>/hybridmux-<pid namespace>-<pid>-<start ticks>-<random>

A server that was killed cannot delete its own; the next one on the machine does (`sweep`).
"""

import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from hybridmux.proc import table

_NAME = re.compile(r"hybridmux-(?P<space>\d+)-(?P<pid>\d+)-(?P<ticks>\d+)-\w+")


@asynccontextmanager
async def temp_folder() -> AsyncIterator[str]:
    """A fresh folder that goes with the block."""
    folder = await trio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix=_prefix()))
    try:
        yield folder
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def sweep() -> int:
    """Deletes the folders of processes that are gone; how many there were. Blocks.

    Those of other users are left alone, and those of other pid namespaces: their makers cannot be seen.
    """
    gone = [path for path in Path(tempfile.gettempdir()).glob("hybridmux-*") if _is_orphan(path)]
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    return len(gone)


def _prefix() -> str:
    own = table.entry(os.getpid())
    return f"hybridmux-{_pid_namespace()}-{os.getpid()}-{own.start_ticks if own else 0}-"


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _is_orphan(path: Path) -> bool:
    found = _NAME.fullmatch(path.name)
    if not found or found["space"] != _pid_namespace():
        return False
    try:
        if path.lstat().st_uid != os.getuid():
            return False
        maker = table.find(int(found["pid"]))
    except OSError:  # another server's sweep was first, or nobody can be seen: then nobody counts as gone
        return False
    return maker is None or maker.start_ticks != int(found["ticks"])
