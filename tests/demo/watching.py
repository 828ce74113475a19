"""Looks at the processes of this machine."""

import signal
from pathlib import Path


def pids():
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def running(command):
    """The processes whose command line contains these words."""
    return [pid for pid in pids() if "\0".join(command.split()).encode() in _read(pid, "cmdline")]


def started_with(home):
    """The processes that have this store in their environment."""
    return [pid for pid in pids() if f"HYBRIDMUX_DEMO_HOME={home}\0".encode() in _read(pid, "environ")]


def ignores(pid, number=signal.SIGTERM):
    """True if the process ignores this signal."""
    line = next(line for line in _read(pid, "status").splitlines() if line.startswith(b"SigIgn"))
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
