"""The steps that operations share: prechecks, starting a side, loading, committing, rolling back."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Literal

import trio

from hybridmux.conversation import identity
from hybridmux.conversation.loading import begin_conversation, continue_conversation, load, publish
from hybridmux.conversation.phases import Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import AuthRequired, OccupiedElsewhere, SideFailed, Summary, TuiSide
from hybridmux.conversation.tries import pauses
from hybridmux.conversation.unprompted import reopenable, tell_replaced
from hybridmux.conversation.watching import tell_outdated
from hybridmux.errors import AgentFailed, Conflict, HybridmuxError, StoreUnusable
from hybridmux.problems import said
from hybridmux.proc.paths import no_folder
from hybridmux.wire.convert import write
from hybridmux.wire.types import ConnectorInfo, Place


def cause(exc: BaseException) -> str:
    """One sentence that says what went wrong."""
    if isinstance(exc, HybridmuxError):
        return str(exc)
    if isinstance(exc, OSError):
        return exc.strerror or str(exc)
    return "a fault of the server; its log says more"


def note_login(s: HybridSession, exc: BaseException) -> None:
    """If that was for want of a login, the chat state says so until a connector does not ask for one."""
    if isinstance(exc, AuthRequired):
        s.turns.auth_required = True
        s.changed()


def check_folder(s: HybridSession) -> None:
    """Raises 409 before anything is started: agents find their sessions by the folder."""
    if why := no_folder(s.plan.cwd):
        raise Conflict(f"the session's folder {s.record.cwd} {why}")


async def check_program(s: HybridSession) -> None:
    """Raises `AgentFailed` if the TUI cannot be started here, as far as that is known without starting it."""
    for one in await s.sides.obstacles("tui"):
        raise AgentFailed(one.text)


async def _check_way_back(s: HybridSession) -> None:
    """Raises `AgentFailed` if the program that runs in the terminal is not there any more."""
    for one in await s.sides.obstacles("tui"):
        if one.missing:
            raise AgentFailed(one.text)


async def check_connector(s: HybridSession) -> None:
    """Raises 409 `connector_missing`, or `AgentFailed`, before any process is started."""
    found = await s.sides.obstacles("acp")
    connector = s.plan.profile.connector
    if connector is None or not any(one.missing for one in found):
        for one in found:
            raise AgentFailed(one.text)
        return
    s.connector_missing = write(connector)
    s.changed()
    raise Conflict(words_of(connector), "connector_missing", connector=write(connector))


def words_of(connector: ConnectorInfo) -> str:
    """What is said of a connector that is missing."""
    return said("connector_missing", title=connector.title, command=connector.install_command)


def begin_switch(s: HybridSession, kind: Literal["to_chat", "to_terminal"]) -> None:
    """Nothing is touched before its first phase: until then everybody sees that it is being checked."""
    s.position.begin(kind)
    s.id_change = None
    s.checking = True
    s.changed()


@asynccontextmanager
async def intent(s: HybridSession) -> AsyncIterator[None]:
    """On disk: a switch is under way. Raises `StoreUnusable` before anything is touched."""
    await s.save(activity="switching")
    try:
        yield
    except Exception:
        await _at_rest(s)
        raise
    await _at_rest(s)


async def _at_rest(s: HybridSession) -> None:
    """The switch is over and the session lives: the record says what it does now."""
    if not s.over.is_set():
        await s.save(best_effort=True, activity=s.activity)


@contextmanager
def _asking(s: HybridSession) -> Iterator[None]:
    """What the connector is asked before anything is stopped, under its deadline; raises `AgentFailed`."""
    try:
        with trio.fail_after(s.budgets.precheck):
            yield
    except (SideFailed, trio.TooSlowError) as exc:
        note_login(s, exc)
        late = f"{s.plan.connector_name} gave no answer in time ({s.budgets.precheck:g} s)"
        why = late if isinstance(exc, trio.TooSlowError) else str(exc)
        raise AgentFailed(f"the chat side cannot be started: {why}") from exc


@asynccontextmanager
async def prechecked(s: HybridSession, chosen: str | None) -> AsyncIterator[Summary | None]:
    """All that can be known before the terminal is touched; failures are 409 or 502 and change nothing.

    Yields its conversation; None if only the end of its running turn will tell (see `found_at_rest`). The
    connector is ended again unless the session has adopted it by the end of the block.
    """
    check_folder(s)
    await check_connector(s)
    await _check_way_back(s)
    try:
        with _asking(s):
            chat = await s.sides.open_chat()
            if not (chat.abilities.load or chat.abilities.resume):
                raise SideFailed("it can open no earlier conversation (neither load nor resume)")
            found = await identity.find(s, chat, chosen)
            s.opening = found.session_id if found else None
        s.turns.auth_required = False
        with trio.move_on_after(s.budgets.stopping_step):
            await tell_outdated(s, chat)
        yield found
    finally:
        await s.sides.discard()


async def found_at_rest(s: HybridSession) -> Summary:
    """The conversation whose first turn has just ended.

    Raises `Conflict` if there is none after all, or `AgentFailed`; the session is back on its terminal then.
    """
    try:
        with _asking(s):
            found = await _stored_soon(s)
    except HybridmuxError as exc:
        why = f"The session stays in the terminal: {cause(exc)}"
        s.log.say("switch_failed", why, level="error")
        if s.position.step is not Step.TUI:
            s.arrive(Step.TUI)
        raise
    s.opening = found.session_id
    return found


async def _stored_soon(s: HybridSession) -> Summary:
    """Agents take a moment to store it."""
    for pause in pauses(s.budgets.retry / 3):
        try:
            found = await identity.find(s, s.sides.waiting, None)
            if found is not None:
                return found
        except Conflict as exc:
            if pause is None or exc.reason != "not_eligible":
                raise
        await trio.sleep(pause or 0)
    raise identity.not_eligible("no_session_id")


async def start_tui(s: HybridSession, session_id: str | None) -> TuiSide:
    """The terminal side on a conversation, ready for input; raises `SideFailed`.

    An agent that thinks for a moment that its conversation is still open elsewhere is started again.
    """
    for pause in pauses(s.budgets.retry):
        tui = await s.sides.open_tui(session_id)
        try:
            await tui.ready()
        except OccupiedElsewhere:
            if pause is None:
                raise
            await s.sides.close_tui(clean=False)
            await trio.sleep(pause)
        else:
            return tui
    raise AssertionError("the last try returns or raises")


async def confirm_tui(tui: TuiSide, session_id: str | None) -> None:
    """Raises `SideFailed` if the TUI states another conversation than the expected one."""
    state = await tui.watch(lambda state: state.ready)
    if session_id is not None and state.session_id not in (None, session_id):
        raise SideFailed(f"the terminal opened another conversation ({state.session_id})")


@asynccontextmanager
async def rolling_back(s: HybridSession, origin: Place) -> AsyncIterator[None]:
    """What fails inside brings the session back to `origin`, and then the cause is raised.

    The terminal comes back on the conversation that was about to be opened.
    """
    try:
        yield
    except trio.Cancelled:
        raise  # the server stops: nothing is started any more
    except Exception as exc:
        await trio.lowlevel.checkpoint_if_cancelled()  # the same, though this came first
        note_login(s, exc)
        why = f"{s.position.step.value}: {cause(exc)}"
        with trio.CancelScope(shield=True) as scope:
            scope.deadline = trio.current_time() + s.budgets.rolling_back
            s.rollback = scope
            await _roll_back(s, origin, why)
        s.rollback = None
        if s.position.step is not Step(origin):
            await _give_up(s, why)
        if isinstance(exc, OccupiedElsewhere):
            raise Conflict(str(exc), "occupied_external") from exc
        if isinstance(exc, (StoreUnusable, identity.Ambiguous)) or not isinstance(
            exc, (HybridmuxError, OSError)
        ):
            raise
        raise AgentFailed(why) from exc


async def _roll_back(s: HybridSession, origin: Place, why: str) -> None:
    s.position.move(Step.ROLLING_BACK)
    s.changed()
    try:
        await s.sides.drop()
        if origin == "tui":
            await confirm_tui(await start_tui(s, s.opening), s.opening)
        else:
            await reconnect(s)
    except HybridmuxError as exc:
        s.log.say("rollback_failed", f"The session could not be brought back: {cause(exc)}", level="error")
        return
    s.log.say("switch_failed", f"The session is back where it was. {why}", level="error")
    s.sides.partings.tell(s.log)
    s.arrive(Step(origin))


async def _give_up(s: HybridSession, why: str) -> None:
    with trio.CancelScope(shield=True):
        with suppress(SideFailed):  # it is in the log; the session's end goes on
            await s.sides.drop()
        s.position.move(Step.ENDED)
        await s.end("interrupted")
    raise AgentFailed(
        f"{why}; the original side could not be brought back either, the session is interrupted"
    )


async def reconnect(s: HybridSession) -> None:
    """A new connector on the same conversation: resumed where the agent can, loaded anew otherwise, and where
    others may have written to it."""
    check_folder(s)
    await check_connector(s)
    was = s.record.agent_session_id
    try:
        with trio.fail_after(s.budgets.loading_total):
            chat = await s.sides.open_chat()
            session_id = await reopenable(s, chat)
            if session_id is None:
                await s.commit(await begin_conversation(s, chat), side="acp", unprompted=True)
                tell_replaced(s, was)
            elif chat.abilities.resume and not (s.outsiders.left_traces and chat.abilities.load):
                await continue_conversation(s, chat, session_id)
                s.log.mark("reconnected")
            else:
                publish(s, await load(s, session_id, s.knowledge()))
                if s.outsiders.left_traces:
                    s.log.say("loaded_anew", "Another program had this conversation open; it was read again.")
    except BaseException as exc:
        note_login(s, exc)
        await s.sides.discard()
        if isinstance(exc, trio.TooSlowError):
            raise SideFailed("the agent did not open the conversation in time") from exc
        raise
    s.connector_missing = None
    s.turns.auth_required = False
    s.sides.adopt_chat()
