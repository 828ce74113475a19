"""The exception families and the one map from them to HTTP answers.

Blame is in the type: `BadRequest` is the client's fault, `Conflict` is nobody's, `AgentFailed` is the
agent's, `StoreUnusable` is the disk's. Anything else that reaches a face is a bug of ours and becomes a 500.
"""

from typing import Any


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


class Conflict(HybridmuxError):
    """The request is fine, but not now. `reason` and `extra` are those of page 01 §9."""

    status = 409

    def __init__(self, message: str, reason: str | None = None, **extra: Any) -> None:
        super().__init__(message)
        self.reason = reason
        self.extra = extra

    def body(self) -> dict[str, Any]:
        reason = {"reason": self.reason} if self.reason else {}
        return {**super().body(), **reason, **self.extra}


class AgentFailed(HybridmuxError):
    """The agent (its TUI, its connector or a call to it) failed; the message carries the cause."""

    status = 502


class StoreUnusable(HybridmuxError):
    """A store file cannot be read, parsed or written. The file is left as it is."""

    status = 503

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path

    def body(self) -> dict[str, Any]:
        return {**super().body(), "path": self.path}


class ConfigError(HybridmuxError):
    """A setting, the data folder or the address cannot be used: one sentence and exit code 2."""

    status = 400
