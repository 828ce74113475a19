"""Signals of the server process: asked to stop once, and what children inherit."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from hybridmux.proc import keeper

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SAME_REQUEST = 1.0
"""Seconds. A signal to the whole process group reaches the server directly and through the keeper."""


def heed_ignored() -> None:
    """Makes signals that were ignored when we started reach the programs we start.

    `nohup server` and `server &` in a script start it with SIGHUP or SIGINT ignored, and that is inherited
    through exec: Ctrl-C would do nothing in any terminal of ours. A handler that does nothing is not.
    """
    for number in (*STOPS, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _nothing)


def _nothing(_number: int, _frame: object) -> None:
    """Of a signal that was ignored when we started."""


def _too_late(_number: int, _frame: object) -> None:
    """Of one that comes after the request to stop."""


@asynccontextmanager
async def stop_requests() -> AsyncIterator[AsyncIterator[signal.Signals]]:
    """`async for` over the wishes to stop: the first means gracefully, a second one at once.

    Signals that were ignored when the server started stay so (`nohup`). Afterwards the process is on its way
    out, and one that comes late changes nothing of that. Only in the main thread.
    """
    wanted = [number for number in STOPS if signal.getsignal(number) is not _nothing]
    for number in wanted:
        signal.signal(number, _too_late)  # what holds again afterwards
    with trio.open_signal_receiver(*wanted) as received:
        yield _distinct(received)


async def _distinct(received: AsyncIterator[int]) -> AsyncIterator[signal.Signals]:
    last = float("-inf")
    async for number in received:
        if trio.current_time() - last >= SAME_REQUEST:
            last = trio.current_time()
            yield signal.Signals(number)


async def keeper_gone() -> None:
    """Returns when the keeper above us has died; never without a keeper.

    Nothing would end our children after us then, so this is a reason to stop gracefully.
    """
    pid = keeper.keeper_pid()
    if pid is None:
        await trio.Event().wait()
        return
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if os.getppid() == pid:
            await trio.lowlevel.wait_readable(watched)
    finally:
        os.close(watched)
