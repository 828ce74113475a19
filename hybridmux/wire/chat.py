"""The chat channel on the wire: state, events, frames and commands (page 01 §7, §8).

Inside the server events are plain dicts, encoded once; these types are what they must look like, and what
the page's TypeScript types are generated from.
"""

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


# --- events: each also has `seq`, `at` and, inside a turn, `turnId` ---


@frozen(kw_only=True)
class _Event:
    seq: int
    at: str
    turn_id: str | None = maybe()


@frozen(kw_only=True)
class Content:
    """One piece of a message; which fields are there depends on `type`."""

    type: Literal["text", "image", "resource", "unsupported"]
    text: str | None = maybe()
    truncated: bool | None = maybe()
    mime_type: str | None = maybe()
    size: int | None = maybe()
    name: str | None = maybe()
    was: str | None = maybe()


@frozen(kw_only=True)
class MessageAppend(_Event):
    """Appends to the message of that id, or starts it."""

    type: Literal["message.append"]
    message_id: str
    role: Literal["user", "agent", "thought"]
    content: Content


@frozen(kw_only=True)
class ToolUpsert(_Event):
    """A patch of the fields of one tool call."""

    type: Literal["tool.upsert"]
    tool_call_id: str
    title: str | None = maybe()
    kind: str | None = maybe()
    status: str | None = maybe()
    input: Any = maybe()
    content: list[Any] | None = maybe()
    locations: list[Any] | None = maybe()
    output: Any = maybe()


@frozen(kw_only=True)
class PlanSet(_Event):
    """The plan, whole."""

    type: Literal["plan.set"]
    entries: list[PlanEntry]


@frozen(kw_only=True)
class CommandsSet(_Event):
    """The slash commands, whole."""

    type: Literal["commands.set"]
    commands: list[Command]


@frozen(kw_only=True)
class ConfigSet(_Event):
    """The config options, whole."""

    type: Literal["config.set"]
    options: list[ConfigOption]


@frozen(kw_only=True)
class UsageSet(_Event):
    """Usage so far."""

    type: Literal["usage.set"]
    usage: Usage


@frozen(kw_only=True)
class InfoSet(_Event):
    """What the agent says of its session."""

    type: Literal["info.set"]
    title: str | None = maybe()
    updated_at: str | None = maybe()


@frozen(kw_only=True)
class CompactionUpsert(_Event):
    """The agent shortens its context."""

    type: Literal["compaction.upsert"]
    id: str
    status: str | None = maybe()
    text: str | None = maybe()


@frozen(kw_only=True)
class TurnStart(_Event):
    """A prompt went to the agent."""

    type: Literal["turn.start"]
    started_at: str


@frozen(kw_only=True)
class TurnEnd(_Event):
    """The agent's answer is complete, or the turn ended otherwise."""

    type: Literal["turn.end"]
    started_at: str
    ended_at: str
    stop_reason: StopReason
    error: str | None = maybe()


@frozen(kw_only=True)
class RequestOpen(_Event):
    """The agent asks; the same fields as `AgentRequest`."""

    type: Literal["request.open"]
    request_id: str
    kind: Literal["permission", "form"]
    title: str
    tool_call_id: str | None = maybe()
    options: list[PermissionOption] | None = maybe()
    schema: dict[str, Any] | None = maybe()


@frozen(kw_only=True)
class RequestClose(_Event):
    """The request was answered or is void."""

    type: Literal["request.close"]
    request_id: str
    outcome: str


@frozen(kw_only=True)
class Notice(_Event):
    """Something a person should know."""

    type: Literal["notice"]
    level: Literal["info", "warning", "error"]
    code: str
    text: str


@frozen(kw_only=True)
class Marker(_Event):
    """A line in the timeline: where the conversation was loaded, moved or cut."""

    type: Literal["marker"]
    kind: Literal["loaded", "switched", "truncated", "reconnected", "resumed"]


EVENTS: tuple[type, ...] = (
    MessageAppend, ToolUpsert, PlanSet, CommandsSet, ConfigSet, UsageSet, InfoSet, CompactionUpsert,
    TurnStart, TurnEnd, RequestOpen, RequestClose, Notice, Marker,
)  # fmt: skip
ChatEvent = (
    MessageAppend | ToolUpsert | PlanSet | CommandsSet | ConfigSet | UsageSet | InfoSet | CompactionUpsert
    | TurnStart | TurnEnd | RequestOpen | RequestClose | Notice | Marker
)  # fmt: skip


# --- frames ---


@frozen(kw_only=True)
class ChatSnapshot:
    """First frame: the state, and what the log holds (`from` … `next` - 1)."""

    type: Literal["snapshot"]
    state: ChatState
    generation: str
    from_: int
    next: int
    reset: bool | None = maybe()
    truncated: bool | None = maybe()


@frozen(kw_only=True)
class ChatEvents:
    """Events in order; `from` is the seq of the first."""

    type: Literal["events"]
    generation: str
    from_: int
    items: list[ChatEvent]


@frozen(kw_only=True)
class ChatStateFrame:
    """Replaces the state."""

    type: Literal["state"]
    state: ChatState


# --- commands ---


@frozen(kw_only=True)
class AttachmentRef:
    """A path that the upload route answered."""

    path: str


@frozen(kw_only=True)
class PromptBody:
    """A message of the user."""

    client_request_id: str
    text: str
    mode: Literal["auto", "steer"]
    attachments: list[AttachmentRef] = field(factory=list)


@frozen(kw_only=True)
class PromptAnswer:
    """Whether it waits in the queue, and as which item."""

    queued: bool
    item_id: str | None = maybe()


@frozen(kw_only=True)
class CommandBody:
    """A command that has nothing to say beyond itself."""

    client_request_id: str


@frozen(kw_only=True)
class QueueEdit:
    """New text for a queued message, or one place up."""

    client_request_id: str
    text: str | None = None
    move: Literal["up"] | None = None


@frozen(kw_only=True)
class RequestAnswer:
    """The answer to a permission request or a form."""

    client_request_id: str
    outcome: Literal["selected", "cancelled", "accept", "decline", "cancel"]
    option_id: str | None = None
    content: dict[str, Any] | None = None


@frozen(kw_only=True)
class ConfigBody:
    """A new value for a select (`value`) or a boolean (`enabled`)."""

    client_request_id: str
    value: str | None = None
    enabled: bool | None = None


@frozen(kw_only=True)
class PermissionModeBody:
    """Who answers permission requests."""

    client_request_id: str
    mode: PermissionMode
