"""Sessions as clients see them: pure projections of a session's state onto the wire types."""

from hybridmux.conversation.identity import stated_obstacle
from hybridmux.conversation.moves import words_of
from hybridmux.conversation.phases import Step
from hybridmux.conversation.session import HybridSession
from hybridmux.problems import said
from hybridmux.wire.chat import Eligibility, EligibilityReason, PromptCapabilities
from hybridmux.wire.convert import Json, encode, write
from hybridmux.wire.sessions import Attention, HybridInfo, SessionInfo
from hybridmux.wire.types import Status

_TUI_STATUS: dict[str, Status] = {"running": "running", "asking": "waiting"}


def _status(s: HybridSession) -> tuple[Status, Attention | None]:
    """The status, and why a person is wanted."""
    if s.position.step is Step.ENDED:
        return "exited", None
    if s.position.step is Step.TUI:
        asking = (
            Attention(source="agent", reason="permission", since=s.stay.since)
            if s.stay.turn == "asking"
            else None
        )
        return _TUI_STATUS.get(s.stay.turn, "idle"), asking
    since = s.turns.asking.waiting_since()
    if since is not None:
        return "waiting", Attention(source="agent", reason="permission", since=since)
    if s.turns.auth_required and s.turns.turn is not None:
        ended = s.turns.turn.ended_at or s.turns.turn.started_at
        return "waiting", Attention(source="agent", reason="auth_required", since=ended)
    return ("running" if s.turns.running or s.position.phase else "idle"), None


def shown_title(s: HybridSession) -> str:
    """A name that a person gave; else what the program or the agent says; else the first message."""
    if s.record.named:
        return s.record.name
    return s.title or s.log.facts.first_line or s.record.name


def session_info(s: HybridSession) -> SessionInfo:
    """The session in the list."""
    status, attention = _status(s)
    terminal = s.sides.last_tui.terminal if s.sides.last_tui else None
    on_chat = s.position.side == "acp"
    return SessionInfo(
        id=s.id,
        name=s.record.name,
        title=shown_title(s),
        cmd=s.record.cmd,
        cwd=s.record.cwd,
        created_at=s.record.created_at,
        updated_at=s.record.updated_at,
        status=status,
        attention=attention,
        preview=s.log.preview() if on_chat else "",
        cols=terminal.cols if terminal else s.sides.size[0],
        rows=terminal.rows if terminal else s.sides.size[1],
        exit_code=terminal.exit_code if terminal and status == "exited" else None,
        config_id=s.record.config_id,
        hybrid=HybridInfo(
            side=s.position.side,
            phase=s.position.phase,
            dormant=False,
            state=s.record.state,
            agent=s.record.agent,
            agent_session_id=s.record.agent_session_id,
        ),
    )


def eligibility(s: HybridSession) -> Eligibility:
    """Whether the session may move to the other side now."""
    reason = _obstacle(s)
    if reason is None:
        return Eligibility(available=True)
    if reason != "connector_missing":
        return Eligibility(available=False, reason=reason, text=said(reason))
    connector = s.plan.profile.connector
    text = words_of(connector) if connector else s.sides.missing_connector()
    return Eligibility(available=False, reason=reason, text=text, connector=connector)


def _obstacle(s: HybridSession) -> EligibilityReason | None:
    if s.position.step is Step.ENDED:
        return "exited"
    if s.position.phase is not None or s.operations.current in ("resume", "close"):
        return "switching"
    if s.checking:
        return "checking"
    if s.position.step is Step.TUI and s.sides.missing_connector() is not None:
        return "connector_missing"
    return stated_obstacle(s)


def chat_state(s: HybridSession) -> Json:
    """The chat state, whole; its shape is `wire.chat.ChatState`."""
    facts = s.log.facts
    chat = s.chat_now() if s.position.side == "acp" else None
    state = {
        "side": s.position.side,
        "eligibility": write(eligibility(s)),
        "configOptions": facts.options,
        "commands": facts.commands,
        "plan": facts.plan,
        "usage": facts.usage,
        "steering": False,
        "promptCapabilities": write(chat.abilities.prompt if chat else PromptCapabilities()),
        "forceSwitchNote": s.plan.profile.force_note,
        "idChange": s.id_change,
        "queueLost": s.queue_lost,
        "outdated": write(s.outdated),
        "connectorMissing": s.connector_missing,
        "dormant": False,
        **s.turns.shown(),
    }
    return {**state, "phase": s.position.phase} if s.position.phase else state


def state_frame(s: HybridSession) -> tuple[object, bytes]:
    """The encoded chat state and a key that changes with it; computed once for all viewers."""
    key = (s.version, s.log.generation, s.log.facts.version)
    if s.state_cache is None or s.state_cache[0] != key:
        s.state_cache = (key, encode(chat_state(s)))
    return s.state_cache
