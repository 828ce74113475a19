"""One operation at a time: switch, resume, close.

An operation runs as a task in the session's nursery, never in a request's: a client that goes away does not
end it. Whoever asked waits for its outcome. What ends an operation is its own deadlines, or the server.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from hybridmux.errors import Conflict, HybridmuxError, ServerStopping
from hybridmux.problems import said

T = TypeVar("T")
_BUSY = {
    "resume": "the session is being resumed",
    "close": "the session is being closed",
    "exit": "the session's program has just ended; what is left of it is being cleared away",
}


class Stopping(ServerStopping):
    """The server is being stopped; the operation did not finish."""

    status = 503


class Broken(HybridmuxError):
    """A bug of ours ended the operation, and its session."""


class Operations:
    """The operation of one session, if one runs."""

    def __init__(self, over: Callable[[], None] = lambda: None) -> None:
        self._over = over
        """Called when an operation has ended and none runs."""
        self.current: str | None = None
        self._scope: trio.CancelScope | None = None
        self._idle = trio.Event()
        self._idle.set()

    def check_free(self) -> None:
        """Raises `Conflict` (switching) while an operation runs."""
        if self.current is not None:
            raise Conflict(_BUSY.get(self.current) or said("switching"), "switching")

    async def run(self, name: str, nursery: trio.Nursery, work: Callable[[], Awaitable[T]]) -> T:
        """Runs `work` in `nursery` and waits for its outcome; raises what it raises."""
        self.check_free()
        self.current = name
        self._idle = trio.Event()
        done = trio.Event()
        outcome: list[T | BaseException] = []

        async def task() -> None:
            try:
                with trio.CancelScope() as self._scope:
                    outcome.append(await work())
            except HybridmuxError as exc:
                outcome.append(exc)
            except trio.Cancelled:
                outcome.append(Stopping("the server is stopping"))
                raise
            except Exception:
                outcome.append(Broken("the session failed by a fault of the server; its log says more"))
                raise
            finally:
                self.current, self._scope = None, None
                self._idle.set()
                self._over()
                if not outcome:
                    outcome.append(Stopping("the server is stopping"))
                done.set()

        nursery.start_soon(task)
        await done.wait()
        (result,) = outcome
        if isinstance(result, BaseException):
            raise result
        return result

    async def idle(self) -> None:
        """Waits until none runs."""
        await self._idle.wait()

    async def stop(self) -> None:
        """The server stops: cancels what runs and waits until it is out."""
        if self._scope is not None:
            self._scope.cancel()
        await self._idle.wait()
