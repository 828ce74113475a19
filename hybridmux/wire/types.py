"""Small types that several parts of the contract share."""

from datetime import UTC, datetime
from typing import Literal

from attrs import frozen

from hybridmux.wire.convert import maybe

Place = Literal["tui", "acp"]
"""A side a session can be on."""

SideName = Literal["tui", "acp", "switching"]
PhaseName = Literal[
    "interrupting", "awaiting_choice", "cancelling", "stopping", "starting", "loading", "rolling_back"
]
StateName = Literal["active", "closed", "interrupted"]
Status = Literal["running", "idle", "waiting", "exited"]
PermissionMode = Literal["ask", "auto"]


@frozen(kw_only=True)
class ConnectorInfo:
    """A third-party ACP program that a profile needs; it does not mean that it is installed."""

    executable: str
    title: str
    install_command: str
    docs_url: str


@frozen(kw_only=True)
class Candidate:
    """An agent session that a person may choose."""

    agent_session_id: str
    title: str
    updated_at: str | None


@frozen(kw_only=True)
class Outdated:
    """A program below the version we have verified."""

    name: str
    version: str
    verified: str


@frozen(kw_only=True)
class ErrorBody:
    """Every error answer: a sentence, and for programs a reason."""

    error: str
    reason: str | None = maybe()
    eligibility: str | None = maybe()
    candidates: list[Candidate] | None = maybe()
    connector: ConnectorInfo | None = maybe()
    path: str | None = maybe()


def utc_now() -> str:
    """Now as UTC RFC 3339 with milliseconds and `Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant(text: str | None) -> float:
    """A time on the wire, or an agent's, as wall-clock seconds; 0 if there is none that can be read."""
    if not text:
        return 0.0
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


@frozen(kw_only=True)
class LoginBody:
    """The server's token, for a cookie."""

    token: str
