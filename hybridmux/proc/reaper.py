"""Reaping the orphans that come to us as their subreaper, and no child that somebody waits for.

`waitpid(-1)` would steal from Trio's own waits, so only single pids are reaped: zombies below us that nobody
in `spawn` owns, and that have stayed zombies for a while (a process started elsewhere in the program is
reaped by its own waiter at once).
"""

import os
import signal
from contextlib import suppress

import trio

from hybridmux.proc import spawn, table
from hybridmux.proc.keeper import set_subreaper

__all__ = ["reap_strangers", "set_subreaper"]

GRACE = 1.0
"""Seconds a zombie that we do not know must have been one before it is taken for an orphan."""


async def reap_strangers(grace: float = GRACE) -> None:
    """A task of the server, for as long as it runs, in the main thread. Idle while no child ends."""
    with trio.open_signal_receiver(signal.SIGCHLD) as signals:
        waiting: dict[tuple[int, int], float] = {}
        while True:
            waiting = _sweep(waiting, grace)
            # Without a zombie that waits for its grace to end only a signal can bring work.
            with trio.move_on_after(grace if waiting else float("inf")):
                await signals.__anext__()


def _sweep(waiting: dict[tuple[int, int], float], grace: float) -> dict[tuple[int, int], float]:
    """Reaps those that have waited long enough; the others with the time they were first seen."""
    now = trio.current_time()
    still = {}
    try:
        strangers = _strange_zombies()
    except OSError:  # no descriptor to look with: they keep until it is better
        return waiting
    for who in strangers:
        since = waiting.get(who, now)
        if now - since < grace:
            still[who] = since
            continue
        with suppress(ChildProcessError):
            os.waitpid(who[0], os.WNOHANG)
    return still


def _strange_zombies() -> list[tuple[int, int]]:
    """(pid, start ticks) of our zombies that nobody owns."""
    children = spawn.owned()
    if children is None:
        return []
    me = os.getpid()
    return [
        (one.pid, one.start_ticks)
        for one in table.entries().values()
        if one.ppid == me and not one.alive and one.pid not in children
    ]
