"""`/metrics`: a few gauges in the Prometheus text format."""

import os
from pathlib import Path

import trio

from hybridmux.faces.http.context import Context
from hybridmux.proc.spawn import live_children


def _rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gauges(context: Context) -> dict[str, int]:
    """Name → value; what a leak would make grow."""
    return {
        "hybridmux_sessions": len(context.hub.all()),
        "hybridmux_viewers": context.viewers.count,
        "hybridmux_tasks": trio.lowlevel.current_statistics().tasks_living,
        "hybridmux_fds": len(list(Path("/proc/self/fd").iterdir())),
        "hybridmux_children": live_children(),
        "process_resident_memory_bytes": _rss(),
    }


def render(context: Context) -> str:
    """The whole page."""
    return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in gauges(context).items())
