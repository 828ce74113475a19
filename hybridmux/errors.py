"""The exception families and the one map from them to HTTP answers.

What a body of 409 or 503 has is in one table, `problems.py`; an exception that does not keep to it raises.

Blame is in the type: `BadRequest` is the client's fault, `Conflict` is nobody's, `AgentFailed` is the
agent's, `StoreUnusable` is the disk's. Anything else that reaches a face is a bug of ours and becomes a 500.
"""

from typing import Any

from hybridmux import problems


class HybridmuxError(Exception):
    """Base of what a face may tell a client; `str(error)` is a sentence a person can act on."""

    status = 500

    def body(self) -> dict[str, Any]:
        """The JSON body of the HTTP answer."""
        return {"error": str(self)}


class BadRequest(HybridmuxError):
    """The request itself is wrong; the message names the field by its path."""

    status = 400


class NotFound(HybridmuxError):
    """No such session, record, config or request."""

    status = 404


class TooLarge(HybridmuxError):
    """A body or an attachment is over its limit."""

    status = 413


class _Tabled(HybridmuxError):
    """An error with a row in `problems.py`; `reason` and `extra` are checked against it."""

    def __init__(self, message: str, reason: str | None = None, **extra: Any) -> None:
        super().__init__(message)
        problems.check(self.status, reason, extra)
        self.reason = reason
        self.extra = extra

    def body(self) -> dict[str, Any]:
        reason = {"reason": self.reason} if self.reason else {}
        return {**super().body(), **reason, **self.extra}


class Conflict(_Tabled):
    """The request is fine, but not now."""

    status = 409


class AgentFailed(HybridmuxError):
    """The agent (its TUI, its connector or a call to it) failed; the message carries the cause."""

    status = 502


class StoreUnusable(_Tabled):
    """A store file cannot be read, parsed or written. The file is left as it is."""

    status = 503

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message, path=path)


class ServerStopping(_Tabled):
    """The server is being stopped: nothing new begins, and what ran is not finished."""

    status = 503

    def __init__(self, message: str = "the server is stopping; ask again when it runs again") -> None:
        super().__init__(message, "server_stopping")


class ConfigError(HybridmuxError):
    """A setting, the data folder or the address cannot be used: one sentence and exit code 2."""

    status = 400
