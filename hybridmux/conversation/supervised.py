"""The nursery of one session: a fault of ours in it ends this session, never the server."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

log = logging.getLogger(__name__)


@asynccontextmanager
async def supervised(session: str, failed: Callable[[], Awaitable[None]]) -> AsyncIterator[trio.Nursery]:
    """A nursery for everything of a session; what fails in it is logged, and `failed` sees to the rest."""
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
    except* Exception:  # a cancellation by the hub may come along with it, and goes on
        log.exception("session failed", extra={"session": session})
        await failed()
