"""`/metrics`: a few gauges in the Prometheus text format."""

import os

import trio

from hybridmux.faces.http.context import Context
from hybridmux.proc.spawn import live_children


def _rss() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a read of /proc, not of a path
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gauges(context: Context) -> dict[str, int]:
    """Name → value; what a leak would make grow."""
    return {
        "hybridmux_sessions": len(context.hub.all()),
        "hybridmux_viewers": context.viewers.count,
        "hybridmux_tasks": trio.lowlevel.current_statistics().tasks_living,
        "hybridmux_fds": len(os.listdir("/proc/self/fd")),
        "hybridmux_children": live_children(),
        "process_resident_memory_bytes": _rss(),
    }


def render(context: Context) -> str:
    """The whole page."""
    return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in gauges(context).items())
