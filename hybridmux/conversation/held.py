"""Holding an async context manager open beyond the function that opened it.

A side (a process with its tasks) outlives the operation that starts it: a task in the session's nursery
enters its context manager, hands the value over and leaves it when it is released or cancelled.
"""

from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class Held(Generic[T]):
    """A value whose context manager is open in a task of its own."""

    def __init__(self, value: T, nursery: trio.Nursery) -> None:
        self.value = value
        self.nursery = nursery
        """For tasks that watch the value: they end when it is released."""
        self._release = trio.Event()
        self._done = trio.Event()

    async def release(self) -> None:
        """Leaves the context manager and waits until that is done; harmless twice."""
        self._release.set()
        await self._done.wait()

    @classmethod
    async def open(cls, nursery: trio.Nursery, manager: AbstractAsyncContextManager[T]) -> "Held[T]":
        """Enters the manager in a task of `nursery`; what entering raises is raised here."""
        outcome: list[Held[T] | BaseException] = []

        async def run(task_status: trio.TaskStatus[None]) -> None:
            held: Held[T] | None = None
            try:
                async with manager as value, trio.open_nursery() as watchers:
                    held = cls(value, watchers)
                    outcome.append(held)
                    task_status.started()
                    await held._release.wait()
                    watchers.cancel_scope.cancel()
            except Exception as exc:
                if held is not None:
                    raise
                outcome.append(exc)
                task_status.started()
            finally:
                if held is not None:
                    held._done.set()

        await nursery.start(run)
        (result,) = outcome
        if isinstance(result, BaseException):
            raise result
        return result
