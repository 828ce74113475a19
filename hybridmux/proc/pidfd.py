"""Signals that cannot hit the wrong process, and waits that need no polling."""

import os
import signal
from collections.abc import Callable, Collection, Mapping
from functools import partial

import trio

from hybridmux.proc import table
from hybridmux.proc.spare import SHORT, with_spare

Check = Callable[[int], bool]
_LOOK_LATER = 0.1
"""Seconds until somebody is waited for again whom there was no descriptor to wait with."""


def send(pid: int, start_ticks: int, number: signal.Signals, proof: Check | None = None) -> bool:
    """Signals the process with this pid and start time; False if it is gone or not ours to signal (EPERM).

    The handle is opened first and the process checked then: from there on it cannot become another.
    `proof` is one more check of the pid.
    """
    try:
        return with_spare(partial(_send, pid, start_ticks, number, proof))
    except OSError:
        return False


def _send(pid: int, start_ticks: int, number: signal.Signals, proof: Check | None) -> bool:
    handle = os.pidfd_open(pid)
    try:
        seen = table.entry(pid)
        if seen is None or seen.start_ticks != start_ticks or (proof is not None and not proof(pid)):
            return False
        signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
    return True


async def all_gone(processes: Mapping[int, int] | Collection[tuple[int, int]]) -> None:
    """Waits until each of these (pid → start ticks) has exited, reaped or not.

    One that there is no descriptor to wait with is not waited for: look again who is left.
    """
    await trio.lowlevel.checkpoint()
    for pid, start_ticks in dict(processes).items():
        await _gone(pid, start_ticks)


async def _gone(pid: int, start_ticks: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except OSError as error:
        if error.errno in SHORT:
            await trio.sleep(_LOOK_LATER)
        return
    try:
        seen = table.entry(pid)
        if seen is not None and seen.start_ticks == start_ticks and seen.alive:
            await trio.lowlevel.wait_readable(handle)
    finally:
        os.close(handle)
