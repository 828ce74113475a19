"""The events of a chat's timeline, and the frames they travel in (page 01 §7).

Inside the server events are plain dicts, encoded once; these types are what they must look like, and what
the page's TypeScript types are generated from.
"""

from typing import Any, Literal

from attrs import frozen

from hybridmux.wire.chat import (
    ChatState,
    Command,
    ConfigOption,
    PermissionOption,
    PlanEntry,
    StopReason,
    Usage,
)
from hybridmux.wire.convert import maybe

# Each event also has `seq`, `at` and, inside a turn, `turnId`.


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
