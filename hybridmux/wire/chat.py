"""The chat state on the wire (page 01 §7): everything about a chat that is not its timeline."""

from typing import Any, Literal

from attrs import field, frozen

from hybridmux.wire.convert import maybe
from hybridmux.wire.types import ConnectorInfo, Outdated, PermissionMode, PhaseName, SideName

EligibilityReason = Literal[
    "switching", "wrong_side", "unknown_agent", "not_root", "no_session_id", "not_listed", "occupied",
    "checking", "connector_missing", "session_ambiguous", "occupied_external", "dormant", "exited",
]  # fmt: skip
StopReason = Literal[
    "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error", "auth_required"
]


@frozen(kw_only=True)
class Eligibility:
    """Whether the session may move to the other side now, and if not, why."""

    available: bool
    reason: EligibilityReason | None = maybe()
    text: str | None = maybe()
    """The reason in one sentence, as a 409 would say it."""
    connector: ConnectorInfo | None = maybe()


@frozen(kw_only=True)
class Turn:
    """The running or the last turn; times are UTC RFC 3339."""

    id: str
    started_at: str
    ended_at: str | None = maybe()
    stop_reason: StopReason | None = maybe()


@frozen(kw_only=True)
class PermissionOption:
    """One way to answer a permission request."""

    option_id: str
    name: str
    kind: str


@frozen(kw_only=True)
class AgentRequest:
    """A permission request or a form that waits for a person."""

    request_id: str
    kind: Literal["permission", "form"]
    title: str
    tool_call_id: str | None = maybe()
    options: list[PermissionOption] | None = maybe()
    schema: dict[str, Any] | None = maybe()


@frozen(kw_only=True)
class ConfigChoice:
    """One value of a config option."""

    value: str
    name: str
    description: str | None = maybe()


@frozen(kw_only=True)
class ConfigOption:
    """One option of the agent; selects have `choices`, booleans have none."""

    id: str
    name: str
    type: Literal["select", "boolean"]
    value: str | bool | None
    category: str | None = maybe()
    description: str | None = maybe()
    choices: list[ConfigChoice] | None = maybe()


@frozen(kw_only=True)
class Command:
    """A slash command of the agent."""

    name: str
    description: str
    hint: str | None = maybe()


@frozen(kw_only=True)
class PlanEntry:
    """One step of the agent's plan."""

    content: str
    status: str
    priority: str | None = maybe()


@frozen(kw_only=True)
class Usage:
    """Context used and its size in tokens, cost in `currency`."""

    used: int | None = maybe()
    size: int | None = maybe()
    cost: float | None = maybe()
    currency: str | None = maybe()


@frozen(kw_only=True)
class Attachment:
    """An uploaded file that goes along with a message."""

    path: str
    name: str
    mime: str
    size: int


@frozen(kw_only=True)
class QueueItem:
    """A message that waits for its turn."""

    id: str
    text: str
    attachments: list[Attachment] = field(factory=list)


@frozen(kw_only=True)
class Queue:
    """Messages that wait, oldest first; a paused queue waits for a person."""

    paused: bool = False
    items: list[QueueItem] = field(factory=list)


@frozen(kw_only=True)
class PromptCapabilities:
    """What kinds of content the connected agent takes."""

    image: bool = False
    embedded_context: bool = False


@frozen(kw_only=True)
class IdChange:
    """The agent session behind this session is another one now."""

    was: str | None
    now: str | None
    reason: str


@frozen(kw_only=True)
class ChatState:
    """Everything about the chat that is not the timeline; replaced whole."""

    side: SideName
    phase: PhaseName | None = maybe()
    eligibility: Eligibility
    turn: Turn | None
    requests: list[AgentRequest] = field(factory=list)
    config_options: list[ConfigOption] = field(factory=list)
    commands: list[Command] = field(factory=list)
    plan: list[PlanEntry] = field(factory=list)
    usage: Usage | None = None
    queue: Queue = field(factory=Queue)
    steering: bool = False
    auth_required: bool = False
    prompt_capabilities: PromptCapabilities = field(factory=PromptCapabilities)
    permission_mode: PermissionMode = "auto"
    force_switch_note: str | None = None
    id_change: IdChange | None = None
    queue_lost: int = 0
    outdated: list[Outdated] = field(factory=list)
    connector_missing: ConnectorInfo | None = None
    dormant: bool = False
