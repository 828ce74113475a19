"""Sessions, records and operations on the wire (page 01 §2-§5)."""

from typing import Literal

from attrs import field, frozen

from hybridmux.wire.convert import maybe
from hybridmux.wire.types import PermissionMode, PhaseName, Place, SideName, StateName, Status


@frozen(kw_only=True)
class Attention:
    """Why a session wants a person; `since` is UTC RFC 3339."""

    source: str
    reason: str
    since: str


@frozen(kw_only=True)
class HybridInfo:
    """The hybrid part of a session: where it is and how it is doing."""

    side: SideName
    phase: PhaseName | None = maybe()
    dormant: bool
    state: StateName
    agent: str
    agent_session_id: str | None


@frozen(kw_only=True)
class SessionInfo:
    """One session of the list; `hybrid` is absent for ordinary terminals."""

    id: str
    name: str
    title: str
    cmd: list[str]
    cwd: str
    created_at: str
    updated_at: str
    status: Status
    attention: Attention | None
    preview: str
    cols: int
    rows: int
    exit_code: int | None = maybe()
    config_id: str | None = maybe()
    hybrid: HybridInfo | None = maybe()


@frozen(kw_only=True)
class HybridRecord:
    """What survives of a hybrid session on disk, as clients see it."""

    id: str
    name: str
    title: str
    config_id: str
    config_missing: bool
    agent: str
    cwd: str
    cmd: list[str]
    side: Place
    agent_session_id: str | None
    agent_session_history: list[str]
    state: StateName
    activity: Literal["idle", "turn", "switching"] | None = maybe()
    lost_queued: int | None = maybe()
    permission_mode: PermissionMode | None = maybe()
    created_at: str
    updated_at: str


@frozen(kw_only=True)
class CreateSession:
    """`configId` for a launch config, or `cmd` for an ordinary terminal."""

    config_id: str | None = None
    name: str | None = None
    start_side: Place | None = None
    cols: int | None = None
    rows: int | None = None
    cmd: list[str] | None = None
    cwd: str | None = None
    env: dict[str, str] | None = None


@frozen(kw_only=True)
class RenameSession:
    """A new name for a session."""

    name: str


@frozen(kw_only=True)
class SwitchRequest:
    """Starts a switch (`to`), or answers one that waits for a choice (`choice`)."""

    client_request_id: str
    to: Place | None = None
    agent_session_id: str | None = None
    choice: Literal["wait", "force", "cancel"] | None = None


@frozen(kw_only=True)
class SwitchResult:
    """Where the session is now, and what could not come along."""

    side: Place
    draft: str | None = maybe()
    dropped: list[str] = field(factory=list)
    unsupported: list[str] = field(factory=list)


@frozen(kw_only=True)
class ResumeRequest:
    """Brings a closed or interrupted session back."""

    client_request_id: str
    side: Place | None = None
    agent_session_id: str | None = None
    confirm_without_env: bool = False


@frozen(kw_only=True)
class EventsSnapshot:
    """First frame of `/ws/events`."""

    type: Literal["snapshot"]
    sessions: list[SessionInfo]
    records: list[HybridRecord]


@frozen(kw_only=True)
class SessionSet:
    """A session is new or has changed."""

    type: Literal["session.set"]
    session: SessionInfo


@frozen(kw_only=True)
class RecordSet:
    """A record is new or has changed."""

    type: Literal["record.set"]
    record: HybridRecord


@frozen(kw_only=True)
class Removed:
    """A session or a record is gone from its list."""

    type: Literal["session.removed", "record.removed"]
    id: str
