"""The messages of the Agent Client Protocol, version 1, that we use.

Written strictly (functions that make params), read tolerantly: unknown fields are ignored, missing or odd
ones get a default, and nothing here raises on what an agent sent.
"""

from typing import Any

from attrs import field, frozen

from hybridmux import __version__
from hybridmux.acp.content import Room, clip
from hybridmux.acp.jsonrpc import RpcError
from hybridmux.acp.reading import Json, flag, items, maybe_text, obj, offered, text, whole, whole_text
from hybridmux.acp.tools import TITLE_CHARS
from hybridmux.budgets import FORM_NODES, FORM_TEXT

PROTOCOL_VERSION = 1
AUTH_REQUIRED = -32000
ACTIVE_WRITER = ("thread_active_writer", "active_writer")
OPTIONS = 32
"""Answers of one permission request that are looked at."""
MESSAGE_CHARS = 2000

# --- client → agent ---


def initialize_params() -> Json:
    """What we can do: forms, boolean options, compaction reports; no files, terminals or URL elicitation."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
            "elicitation": {"form": {}},
            "session": {"configOptions": {"boolean": {}}, "compaction": {}},
        },
        "clientInfo": {"name": "hybridmux", "title": "hybridmux", "version": __version__},
    }


def new_params(cwd: str) -> Json:
    """`session/new`."""
    return {"cwd": cwd, "mcpServers": []}


def load_params(session_id: str, cwd: str) -> Json:
    """`session/load` and `session/resume`."""
    return {"sessionId": session_id, "cwd": cwd, "mcpServers": []}


def list_params(cwd: str, cursor: str | None) -> Json:
    """`session/list`; `cwd` must be a real path."""
    return {"cwd": cwd} if cursor is None else {"cwd": cwd, "cursor": cursor}


def config_params(session_id: str, option_id: str, value: str | bool) -> Json:
    """`session/set_config_option`; a boolean says so."""
    kind = {"type": "boolean"} if isinstance(value, bool) else {}
    return {"sessionId": session_id, "configId": option_id, **kind, "value": value}


def steering_params(session_id: str, blocks: list[Json], idle_behavior: str | None) -> Json:
    """`_session/steering`."""
    meta = {"_meta": {"steering": {"idleBehavior": idle_behavior}}} if idle_behavior else {}
    return {"sessionId": session_id, "prompt": blocks, **meta}


# --- agent → client, answers ---


@frozen(kw_only=True)
class InitializeResult:
    """What the agent is and can do."""

    protocol_version: int | None
    name: str
    title: str
    version: str
    can_load: bool
    can_resume: bool
    can_list: bool
    can_close: bool
    image: bool
    embedded_context: bool
    steering: bool
    auth_methods: list[Json] = field(factory=list)


def read_initialize(result: Any) -> InitializeResult:
    """The answer to `initialize`."""
    result = obj(result)
    can, info = obj(result.get("agentCapabilities")), obj(result.get("agentInfo"))
    session, prompt = obj(can.get("sessionCapabilities")), obj(can.get("promptCapabilities"))
    steering = [obj(obj(one.get("_meta")).get("steering")) for one in (result, can)]
    name = text(info.get("name"))
    return InitializeResult(
        protocol_version=whole(result.get("protocolVersion")),
        name=name,
        title=text(info.get("title")) or name,
        version=text(info.get("version")),
        can_load=flag(can.get("loadSession")),
        can_resume=offered(session.get("resume")),
        can_list=offered(session.get("list")),
        can_close=offered(session.get("close")),
        image=flag(prompt.get("image")),
        embedded_context=flag(prompt.get("embeddedContext")),
        steering=any(flag(one.get("supported")) for one in steering),
        auth_methods=[one for one in items(result.get("authMethods")) if isinstance(one, dict)],
    )


@frozen(kw_only=True)
class SessionSummary:
    """One of the agent's sessions; `message_count` only where the agent tells it."""

    session_id: str
    cwd: str | None
    title: str | None
    updated_at: str | None
    message_count: int | None


def read_list(result: Any) -> tuple[list[SessionSummary], str | None]:
    """The sessions of one page and the cursor of the next."""
    result = obj(result)
    found = [
        _summary(one) for one in map(obj, items(result.get("sessions"))) if maybe_text(one.get("sessionId"))
    ]
    return found, maybe_text(result.get("nextCursor"), limit=4096)


def _summary(one: Json) -> SessionSummary:
    return SessionSummary(
        session_id=text(one.get("sessionId")),
        cwd=maybe_text(one.get("cwd"), limit=4096),
        title=maybe_text(one.get("title")),
        updated_at=maybe_text(one.get("updatedAt")),
        message_count=whole(obj(one.get("_meta")).get("messageCount")),
    )


@frozen(kw_only=True)
class PromptResult:
    """How a turn ended; `usage` as the agent gave it."""

    stop_reason: str
    usage: Json | None


def read_prompt(result: Any) -> PromptResult:
    """The answer to `session/prompt`; without a stop reason it counts as `end_turn`."""
    result = obj(result)
    usage = result.get("usage")
    return PromptResult(
        stop_reason=text(result.get("stopReason")) or "end_turn",
        usage=usage if isinstance(usage, dict) else None,
    )


# --- agent → client, requests ---


@frozen(kw_only=True)
class Option:
    """One answer the agent offers; kinds are allow_once, allow_always, reject_once, reject_always.

    One whose id is too long to be kept whole is none.
    """

    option_id: str
    name: str
    kind: str


@frozen(kw_only=True)
class PermissionRequest:
    """`session/request_permission`; `tool_call` is a tool call update, of any size: for the translation."""

    title: str
    tool_call_id: str | None
    tool_call: Json
    options: list[Option]


def read_permission(params: Any) -> PermissionRequest:
    """The params of `session/request_permission`."""
    params = obj(params)
    tool_call = obj(params.get("toolCall"))
    return PermissionRequest(
        title=text(tool_call.get("title"), limit=TITLE_CHARS),
        tool_call_id=maybe_text(tool_call.get("toolCallId")),
        tool_call=tool_call,
        options=[
            Option(
                option_id=option_id,
                name=text(one.get("name")) or option_id,
                kind=text(one.get("kind"), limit=64),
            )
            for one in map(obj, items(params.get("options"))[:OPTIONS])
            if (option_id := whole_text(one.get("optionId")))
        ],
    )


def selected(option_id: str) -> Json:
    """The outcome that picks an option."""
    return {"outcome": "selected", "optionId": option_id}


CANCELLED: Json = {"outcome": "cancelled"}


@frozen(kw_only=True)
class FormRequest:
    """`elicitation/create` in form mode; `schema` is a JSON schema of the answer's `content`.

    None: it is larger than a form may be.
    """

    message: str
    schema: Json | None


def read_form(params: Any) -> FormRequest:
    """The params of `elicitation/create`."""
    params = obj(params)
    schema = obj(params.get("requestedSchema"))
    fits = clip(schema, Room(left=FORM_TEXT, nodes=FORM_NODES)) == schema
    return FormRequest(
        message=text(params.get("message"), limit=MESSAGE_CHARS), schema=schema if fits else None
    )


# --- errors ---


def describe(error: BaseException) -> str:
    """One sentence about what an agent call failed with, with the details some agents hide in `data`."""
    sentence = str(error)
    # "Internal error" alone helps nobody; a message that goes on after a colon has its details already.
    if isinstance(error, RpcError) and ":" not in sentence:
        data = obj(error.data)
        candidates = (data.get("details"), data.get("message"), error.data)
        details = next((one for one in candidates if isinstance(one, str) and one), None)
        sentence = f"{sentence}: {details}" if details else sentence
    return " ".join(sentence.split())[:MESSAGE_CHARS] or type(error).__name__


def is_auth_required(error: BaseException) -> bool:
    """The agent wants a login first."""
    return isinstance(error, RpcError) and error.code == AUTH_REQUIRED


def is_active_writer(error: BaseException) -> bool:
    """Another client of the agent holds the conversation."""
    if not isinstance(error, RpcError):
        return False
    reason = obj(error.data).get("reason")
    return reason in ACTIVE_WRITER or any(one in error.message for one in (*ACTIVE_WRITER, "active writer"))


def trouble(update: Any) -> str | None:
    """What an update says of a turn that fails without an error answer (Codex: thread status systemError)."""
    codex = obj(obj(obj(update).get("_meta")).get("codex"))
    if obj(codex.get("threadStatus")).get("type") != "systemError":
        return None
    error = codex.get("error")
    words = text(error, limit=MESSAGE_CHARS) or text(obj(error).get("message"), limit=MESSAGE_CHARS)
    return words or "the agent reports a system error"
