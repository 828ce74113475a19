"""Launch configs on the wire (page 01 §6)."""

from typing import Literal

from attrs import field, frozen

from hybridmux.wire.convert import maybe
from hybridmux.wire.types import ConnectorInfo

SupportReason = Literal[
    "unknown_agent", "unsupported_form", "session_store", "directory_arg", "non_interactive", "session_arg"
]
HIDDEN = "•••"
"""Stands for an environment value in answers; sent back in a PUT it keeps the stored value."""


@frozen(kw_only=True)
class HybridSupport:
    """Whether a command can be a hybrid session, and why not."""

    supported: bool
    agent: str | None = maybe()
    reason: SupportReason | None = maybe()
    connector: ConnectorInfo | None = maybe()
    supported_agents: list[str] = field(factory=list)


@frozen(kw_only=True)
class LaunchConfigBody:
    """What a client may write."""

    name: str
    cmd: list[str]
    cwd: str = ""
    env: dict[str, str] = field(factory=dict)
    hybrid: bool = False


@frozen(kw_only=True)
class LaunchConfig:
    """A launch config as it is read; environment values are `HIDDEN`."""

    id: str
    name: str
    cmd: list[str]
    cwd: str
    env: dict[str, str]
    hybrid: bool
    hybrid_support: HybridSupport


@frozen(kw_only=True)
class SupportQuery:
    """Asks about a command without side effects."""

    cmd: list[str]
