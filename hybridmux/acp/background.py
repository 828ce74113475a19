"""A nursery for tasks that serve a block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio


@asynccontextmanager
async def background() -> AsyncIterator[trio.Nursery]:
    """Tasks of this nursery end with the block.

    An exception of the block comes out as itself: a caller can write `except RpcError` around the block.
    Exceptions of the tasks come as a group, as trio has it.
    """
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            yield nursery
        except Exception as error:
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
