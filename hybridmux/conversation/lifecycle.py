"""How sessions begin, come back and end: create, resume, close, and the server's stop."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import trio

from hybridmux.conversation import identity
from hybridmux.conversation.barrier import Known
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.loading import begin_conversation, load, show
from hybridmux.conversation.moves import (
    cause,
    check_connector,
    check_folder,
    check_program,
    confirm_tui,
    start_tui,
)
from hybridmux.conversation.operations import Stopping
from hybridmux.conversation.phases import PhaseTimeout, Position, Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import OccupiedElsewhere, SessionUnknown, SideFailed, Summary
from hybridmux.conversation.switch import interrupt
from hybridmux.conversation.unprompted import in_doubt, tell_replaced
from hybridmux.errors import AgentFailed, Conflict, StoreUnusable
from hybridmux.wire.types import Place

PATIENCE = 0.6
"""The part of the shutdown's grace period in which everything may end in order."""

_GONE = "the agent does not have that conversation any more"
_FOUND = (
    "The terminal ended before it was known which conversation it had open. "
    "This is the only one that changed since the session began and that no other session has."
)
T = TypeVar("T")


class Creation:
    """The start of a session that nobody sees yet, so that a stopping server can end it."""

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self.over = trio.Event()

    async def run(self, s: HybridSession) -> None:
        """Creates it on its record's side; raises what `create` raises, or `Stopping`."""
        try:
            with self.scope:
                await create(s, s.record.side)
            if self.scope.cancelled_caught:
                raise Stopping("the server is stopping")
        except BaseException:
            s.over.set()
            raise
        finally:
            self.over.set()


async def give_up(s: HybridSession, creation: Creation) -> None:
    """The server stops while a session is being created."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_lose_patience, s)
        creation.scope.cancel()
        await creation.over.wait()
        nursery.cancel_scope.cancel()


async def create(s: HybridSession, place: Place) -> None:
    """The first start of a session on a side; on a failure nothing is left of it."""
    try:
        with trio.fail_after(s.budgets.starting):
            if place == "acp":
                await check_connector(s)
            s.record = await s.store.put(s.record, new=True)
            if place == "tui":
                await s.sides.open_tui(None)
            else:
                chat = await s.sides.open_chat()
                session_id = await begin_conversation(s, chat)
                await s.commit(session_id, side="acp", unprompted=True)
                s.sides.adopt_chat()
    except BaseException as exc:
        with trio.CancelScope(shield=True):
            with suppress(SideFailed):
                await s.sides.drop()
            with suppress(StoreUnusable):
                await s.store.remove(s.id)
        if isinstance(exc, trio.TooSlowError):
            raise AgentFailed("the agent did not start in time") from exc
        raise
    s.position = Position(Step(place), place)
    s.changed()


async def resume(s: HybridSession, place: Place, chosen: str | None) -> None:
    """A closed or interrupted session on a side again; on a failure the record is as it was."""
    s.position.begin("resume")
    check_folder(s)
    if place == "acp":
        await check_connector(s)
    else:
        await check_program(s)
    before = s.record
    try:
        with s.phase(Step.STARTING, s.budgets.starting):
            session_id = await _checked(s, place, chosen)
            is_fresh = session_id is None
            if place == "tui":
                tui = await start_tui(s, session_id)
        with s.phase(Step.LOADING, s.budgets.loading_total):
            loaded = None
            if place == "tui":
                await confirm_tui(tui, session_id)
            elif session_id is None:
                session_id = await begin_conversation(s, s.sides.waiting)
            else:
                loaded = await _load(s, session_id)
            empty = is_fresh and place == "acp"
            await s.commit(session_id, side=place, state="active", activity="idle", unprompted=empty)
    except BaseException as exc:
        with trio.CancelScope(shield=True), suppress(SideFailed):
            await s.sides.drop()
        s.record = before
        why = f"the session could not be resumed: {s.position.step.value}: {cause(exc)}"
        s.arrive(Step.ENDED)
        if isinstance(exc, OccupiedElsewhere):
            raise Conflict(str(exc), "occupied_external") from exc
        if isinstance(exc, (SideFailed, PhaseTimeout, OSError)):
            raise AgentFailed(why) from exc
        raise
    if place == "acp":
        s.sides.adopt_chat()
    s.queue_lost = before.queued
    if is_fresh:
        s.known = Known()
        tell_replaced(s, before.agent_session_id)
    s.arrive(Step(place))
    _tell(s, loaded, found=not (is_fresh or chosen or before.agent_session_id))


def _tell(s: HybridSession, loaded: ChatLog | None, *, found: bool) -> None:
    if loaded is not None:
        show(s, loaded)
    s.log.mark("resumed")
    if found:
        s.log.say("conversation_found", _FOUND)


async def _checked(s: HybridSession, place: Place, chosen: str | None) -> str | None:
    """A connector looks whether the agent still has the conversation; for the chat it stays in waiting.

    None: there is none, or one that nothing was said in and that cannot be opened again.
    """
    wanted = chosen or s.record.agent_session_id
    if wanted is None:
        wanted = await _unnoted(s, place)
        if wanted is not None:
            _about_to_open(s, wanted)
        return wanted
    _about_to_open(s, wanted)
    doubtful = chosen is None and in_doubt(s)
    check = partial(_check, s, wanted, doubtful=doubtful)
    listed = await (check() if place == "acp" else _before_terminal(s, check, not doubtful))
    return wanted if listed else None


def _about_to_open(s: HybridSession, session_id: str) -> None:
    identity.check_free(s, session_id)
    s.opening = session_id
    if s.known.session_id != session_id:
        s.known = Known(session_id=session_id)


async def _before_terminal(s: HybridSession, ask: Callable[[], Awaitable[T]], otherwise: T) -> T:
    """What a connector says, if there is one that works: a terminal must not wait for it, and says itself
    what it misses."""
    answer = otherwise
    if s.sides.missing_connector() is None:
        try:
            with trio.fail_after(s.budgets.starting / 2):
                answer = await ask()
        except (SideFailed, trio.TooSlowError) as exc:
            s.log.say("not_checked", f"The agent was not asked for the conversation: {cause(exc)}")
        await s.sides.discard()
    return answer


async def _unnoted(s: HybridSession, place: Place) -> str | None:
    """The conversation of a terminal that ended before it was known which one it had open.

    None: there is none. For the chat a connector is in waiting afterwards. Raises `Conflict` where there are
    several.
    """
    is_sought = s.record.side == "tui" and s.plan.profile.identity == "list"
    if place == "acp":
        chat = await s.sides.open_chat()
        return _only(s, await chat.sessions()) if is_sought else None

    async def ask() -> str | None:
        return _only(s, await (await s.sides.open_chat()).sessions())

    return await _before_terminal(s, ask, None) if is_sought else None


def _only(s: HybridSession, listed: list[Summary]) -> str | None:
    found = identity.unnoted(s, listed)
    if len(found) > 1:
        raise session_missing(found, "several conversations could be the one that its terminal had open")
    return found[0].session_id if found else None


async def _check(s: HybridSession, wanted: str, *, doubtful: bool) -> bool:
    """Whether it is listed; raises `Conflict` if it is not and should be."""
    sessions = await (await s.sides.open_chat()).sessions(wanted)
    listed = identity.named(sessions, wanted) is not None
    if not listed and not doubtful:
        raise session_missing(sessions)
    return listed


def session_missing(listed: list[Summary], why: str = _GONE) -> Conflict:
    """409 `session_missing` with what could be taken instead."""
    return Conflict(why, "session_missing", candidates=identity.candidates(listed))


async def _load(s: HybridSession, session_id: str) -> ChatLog:
    try:
        return await load(s, session_id, s.known, demanding=False)
    except SessionUnknown as exc:
        raise session_missing(await s.sides.waiting.sessions()) from exc


async def close(s: HybridSession) -> None:
    """Ends the turn as a switch would, then the processes; the record becomes `closed`.

    Raises `AgentFailed` if something could not be ended, `StoreUnusable` if the record could not be written;
    the session is over all the same.
    """
    s.position.begin("close")
    if s.position.step is Step.TUI and s.sides.tui is not None:
        tui = s.sides.tui.value
        state = await tui.settled()
        if tui.exit_code is None and state.turn in ("running", "asking"):
            await interrupt(s, tui, state)
    elif s.turns.running:
        s.position.move(Step.CANCELLING)
        s.changed()
        with trio.move_on_after(s.budgets.cancelling):
            await s.turns.settle()
    s.position.move(Step.STOPPING)
    s.changed()
    try:
        await _end_sides(s, clean=True)
    except SideFailed as exc:
        s.arrive(Step.ENDED)
        await s.end("interrupted")
        raise AgentFailed(f"stopping: {exc}") from exc
    s.arrive(Step.ENDED)
    try:
        await s.save(state="closed")
    finally:
        await s.end("closed")


async def _end_sides(s: HybridSession, *, clean: bool) -> None:
    """Both sides in order; what the terminal says last about its conversation is kept."""
    try:
        await s.sides.close_chat()
        await s.follow(s.plan.profile.farewell(await s.sides.close_tui(clean=clean)))
    except SideFailed:
        await s.sides.drop()


async def shut_down(s: HybridSession) -> None:
    """The server stops: whatever runs is cancelled, both sides end, the record says `interrupted`."""
    s.stopping = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_lose_patience, s)
        if s.rollback is not None:
            s.rollback.cancel()
        await s.operations.stop()
        if s.position.step is not Step.ENDED:
            tui = s.sides.tui
            with suppress(SideFailed):  # it is in the log; the keeper has the last word
                await _end_sides(s, clean=tui is not None and tui.value.state().turn == "idle")
            await s.end("interrupted")
        s.over.set()
        nursery.cancel_scope.cancel()


async def _lose_patience(s: HybridSession) -> None:
    """Late in the grace period whatever still lives is killed, also under an orderly stop that goes on."""
    await trio.sleep(PATIENCE * s.budgets.shutdown_grace)
    while True:
        s.sides.strike()
        await trio.sleep(0.2)
