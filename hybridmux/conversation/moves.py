"""The steps that operations share: prechecks, starting a side, loading, committing, rolling back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from attrs import frozen

from hybridmux.conversation import identity
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.held import Held
from hybridmux.conversation.phases import Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import ChatSide, OccupiedElsewhere, SideFailed, TuiSide
from hybridmux.errors import AgentFailed, Conflict, HybridmuxError, StoreUnusable
from hybridmux.wire.convert import write
from hybridmux.wire.types import Place


@frozen
class Target:
    """What the precheck of a move to the chat found: a connector that has opened nothing, and the id."""

    connector: Held[ChatSide]
    session_id: str


def cause(exc: BaseException) -> str:
    """One sentence that says what went wrong."""
    if isinstance(exc, HybridmuxError):
        return str(exc)
    if isinstance(exc, OSError):
        return exc.strerror or str(exc)
    return f"{type(exc).__name__}: {exc}"


def check_connector(s: HybridSession) -> None:
    """Raises 409 `connector_missing`, or `AgentFailed`, before any process is started."""
    missing = s.sides.missing_connector(s.plan)
    if missing is None:
        return
    connector = s.plan.profile.connector
    if connector is None:
        raise AgentFailed(f"{missing} is not installed (not found on PATH)")
    s.connector_missing = write(connector)
    s.changed()
    raise Conflict(
        f"{connector.title} is not installed; install it with: {connector.install_command}",
        "connector_missing",
        connector=write(connector),
    )


@asynccontextmanager
async def prechecked(s: HybridSession, chosen: str | None) -> AsyncIterator[Target]:
    """Everything that can be known before the terminal is touched; failures are 409 and change nothing.

    The connector is ended again unless the session has adopted it by the end of the block.
    """
    check_connector(s)
    s.checking = True
    s.changed()
    connector: Held[ChatSide] | None = None
    try:
        try:
            with trio.fail_after(s.budgets.precheck):
                connector = await s.open_chat()
                session_id = await identity.find(s, connector.value, chosen)
        except (SideFailed, trio.TooSlowError) as exc:
            why = "no answer in time" if isinstance(exc, trio.TooSlowError) else str(exc)
            raise AgentFailed(f"the chat side cannot be started: {why}") from exc
        finally:
            s.checking = False
            s.changed()
        yield Target(connector, session_id)
    finally:
        if connector is not None and s.chat is not connector:
            with trio.CancelScope(shield=True):
                await connector.value.stop()
                await connector.release()


async def load(s: HybridSession, chat: ChatSide, session_id: str) -> ChatLog:
    """The conversation's history in a fresh log that nobody sees yet."""
    fresh = ChatLog(s.budgets.chat_log_bytes)
    chat.sink = fresh.feed
    fresh.take(await chat.load(session_id))
    fresh.settle()
    if fresh.truncated:
        fresh.mark("truncated")
    fresh.mark("loaded")
    return fresh


async def start_tui(s: HybridSession, session_id: str | None) -> TuiSide:
    """The terminal side on a conversation, ready for input; raises `SideFailed`."""
    tui = await s.open_tui(session_id)
    await tui.ready()
    return tui


async def confirm_tui(tui: TuiSide, session_id: str | None) -> None:
    """Raises `SideFailed` if the TUI states another conversation than the expected one."""
    state = await tui.watch(lambda state: state.ready)
    if session_id is not None and state.session_id not in (None, session_id):
        raise SideFailed(f"the terminal opened another conversation ({state.session_id})")


@asynccontextmanager
async def rolling_back(s: HybridSession, origin: Place, session_id: str | None) -> AsyncIterator[None]:
    """What fails inside brings the session back to `origin`, and then the cause is raised."""
    try:
        yield
    except trio.Cancelled:
        raise  # the server stops: nothing is started any more
    except Exception as exc:
        why = f"{s.position.step.value}: {cause(exc)}"
        with trio.CancelScope(shield=True) as scope:
            scope.deadline = trio.current_time() + s.budgets.rolling_back
            s.rollback = scope
            await _roll_back(s, origin, session_id, why)
        s.rollback = None
        if s.position.step is not Step(origin):
            await _give_up(s, why)
        if isinstance(exc, OccupiedElsewhere):
            raise Conflict(str(exc), "occupied_external") from exc
        if isinstance(exc, StoreUnusable) or not isinstance(exc, HybridmuxError):
            raise
        raise AgentFailed(why) from exc


async def _roll_back(s: HybridSession, origin: Place, session_id: str | None, why: str) -> None:
    s.position.move(Step.ROLLING_BACK)
    s.changed()
    try:
        await s.drop_sides()
        if origin == "tui":
            await start_tui(s, session_id)
        else:
            await reconnect(s)
    except HybridmuxError as exc:
        s.log.say("rollback_failed", f"The session could not be brought back: {cause(exc)}", level="error")
        return
    s.log.say("switch_failed", f"The session is back where it was. {why}", level="error")
    s.arrive(Step(origin))


async def _give_up(s: HybridSession, why: str) -> None:
    with trio.CancelScope(shield=True):
        await s.drop_sides()
        s.position.move(Step.ENDED)
        await s.end("interrupted")
    raise AgentFailed(
        f"{why}; the original side could not be brought back either, the session is interrupted"
    )


async def reconnect(s: HybridSession) -> None:
    """A new connector on the same conversation: resumed where the agent can, loaded anew otherwise."""
    check_connector(s)
    held = await s.open_chat()
    session_id = s.record.agent_session_id
    try:
        with trio.fail_after(s.budgets.loading_total):
            if session_id is None:
                await begin_conversation(s, held.value)
            elif held.value.abilities.resume:
                held.value.sink = lambda _: None  # some agents replay on resume; we have that already
                answer = await held.value.resume(session_id)
                held.value.sink = s.log.feed
                s.log.take(answer)
                s.log.mark("reconnected")
            else:
                s.publish(await load(s, held.value, session_id))
    except BaseException as exc:
        with trio.CancelScope(shield=True):
            await held.value.stop()
            await held.release()
        if isinstance(exc, trio.TooSlowError):
            raise SideFailed("the agent did not open the conversation in time") from exc
        raise
    s.connector_missing = None
    s.adopt_chat(held)


async def begin_conversation(s: HybridSession, chat: ChatSide) -> None:
    """A new agent session on the chat side."""
    chat.sink = s.log.feed
    session_id, answer = await chat.new()
    s.log.take(answer)
    await s.adopt_session(session_id, side="acp")
