"""How a closed or interrupted session comes back, on the conversation that its record knows."""

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
from hybridmux.conversation.phases import PhaseTimeout, Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import OccupiedElsewhere, SessionUnknown, SideFailed, Summary
from hybridmux.conversation.unprompted import in_doubt, tell_replaced
from hybridmux.errors import AgentFailed, Conflict
from hybridmux.wire.types import Place

_GONE = "the agent does not have that conversation any more"
_FOUND = (
    "The terminal ended before it was known which conversation it had open. "
    "This is the only one that changed since the session began and that no other session has."
)
T = TypeVar("T")


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
