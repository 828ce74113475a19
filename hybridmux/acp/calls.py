"""A request of ours that is under way, and the errors it may end with."""

from collections.abc import Callable
from typing import Any

import trio
from attrs import define, field

from hybridmux.errors import AgentFailed

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800

MESSAGE_CHARS = 2000


class RpcError(AgentFailed):
    """The other side answered with an error. Raised by our handlers it is the answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def as_json(self) -> dict[str, Any]:
        """The `error` member of a response."""
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **data}


class PeerClosed(AgentFailed):
    """There is no one there (any more); `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AgentTimeout(AgentFailed):
    """The agent did not answer in time."""


@define(eq=False)
class Call:
    """One request of ours that is under way."""

    id: int
    method: str
    sent: trio.Event = field(factory=trio.Event)
    """Set when the request has been written, or never will be."""
    written: bool = False
    done: trio.Event = field(factory=trio.Event)
    at_once: Callable[[Any], None] | None = None
    """Takes the answer before anything that was sent after it is handled; what it raises ends the call."""
    _result: Any = None
    _error: Exception | None = None

    def note_written(self) -> None:
        """All of it has been written."""
        self.written = True

    def resolve(self, result: Any) -> None:
        """The answer came."""
        self._result = result
        try:
            if self.at_once is not None:
                self.at_once(result)
        except Exception as exc:  # it is the caller's
            self._error = exc
        self.finish()

    def fail(self, error: AgentFailed) -> None:
        """An error answer, or there will be none."""
        self._error = error
        self.finish()

    def finish(self) -> None:
        """Wakes whoever waits."""
        self.sent.set()
        self.done.set()

    async def result(self) -> Any:
        """Waits for the answer. Raises `RpcError`, `PeerClosed`, or what `at_once` has raised."""
        await self.done.wait()
        if self._error is not None:
            # A fresh traceback for each waiter would need a copy; one Call has one waiter.
            raise self._error
        return self._result


def read_error(value: Any) -> RpcError:
    """The error of a response, whatever its shape."""
    if not isinstance(value, dict):
        return RpcError(INTERNAL_ERROR, str(value)[:MESSAGE_CHARS])
    code, message = value.get("code"), value.get("message")
    return RpcError(
        code if type(code) is int else INTERNAL_ERROR,
        message if isinstance(message, str) and message else "The agent gave an error without a message",
        value.get("data"),
    )
