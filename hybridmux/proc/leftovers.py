"""What an earlier server with our data folder left behind, found by its mark, and its end."""

import os
import signal

import trio
from attrs import frozen

from hybridmux.proc import pidfd, table
from hybridmux.proc.family import LADDER
from hybridmux.proc.mark import Mark


@frozen
class Leftover:
    """A live process that another server start of this data folder is answerable for."""

    pid: int
    start_ticks: int
    name: str
    mark: Mark

    def __str__(self) -> str:
        return self.name


def leftovers(data: str, not_start: str) -> list[Leftover]:
    """Live processes with a mark of the data folder `data` whose server start is not `not_start`.

    Never this process or one above it: a server may have been started inside an old terminal of its own.
    The caller holds the data folder's lock, or else the other start may be a server that lives.
    """
    processes = table.entries()
    never = {os.getpid(), *table.ancestors(os.getpid(), processes)}
    found = []
    for pid, one in processes.items():
        mark = table.environ_mark(pid) if one.alive and pid not in never else None
        if mark is not None and mark.data == data and mark.start != not_start:
            found.append(Leftover(pid, one.start_ticks, one.name, mark))
    return found


async def end_leftovers(
    data: str, not_start: str, step_seconds: float
) -> tuple[list[Leftover], list[Leftover]]:
    """Ends them by SIGTERM, then SIGKILL, each step at most `step_seconds`.

    Gives all that were found, and those that survived. Each signal goes only to a process whose start time
    and mark are still the same.
    """
    first = left = leftovers(data, not_start)
    for number in LADDER:
        until = trio.current_time() + step_seconds
        while left and trio.current_time() < until:
            for one in left:
                _tell(one, number)
            with trio.move_on_at(until):
                await pidfd.all_gone({one.pid: one.start_ticks for one in left})
            left = leftovers(data, not_start)
    return first, left


def _tell(one: Leftover, number: signal.Signals) -> None:
    def proof(pid: int) -> bool:
        return table.environ_mark(pid) == one.mark

    pidfd.send(one.pid, one.start_ticks, number, proof)
    if number == signal.SIGTERM:
        pidfd.send(one.pid, one.start_ticks, signal.SIGCONT, proof)
