"""How sessions begin, come back and end: create, resume, close, and the server's stop."""

import trio

from hybridmux.conversation import identity
from hybridmux.conversation.moves import (
    begin_conversation,
    cause,
    check_connector,
    confirm_tui,
    load,
    start_tui,
)
from hybridmux.conversation.phases import Position, Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import OccupiedElsewhere, SessionUnknown, SideFailed, Summary
from hybridmux.conversation.switch import interrupt
from hybridmux.errors import AgentFailed, Conflict, HybridmuxError, StoreUnusable
from hybridmux.wire.types import Place


async def create(s: HybridSession, place: Place) -> None:
    """The first start of a session on a side; on a failure nothing is left of it."""
    try:
        with trio.fail_after(s.budgets.starting):
            if place == "tui":
                s.record = await s.store.put(s.record)
                await s.open_tui(None)
            else:
                check_connector(s)
                s.record = await s.store.put(s.record)
                held = await s.open_chat()
                s.adopt_chat(held)
                await begin_conversation(s, held.value)
    except (HybridmuxError, trio.TooSlowError) as exc:
        await s.drop_sides()
        await s.store.remove(s.id)
        if isinstance(exc, trio.TooSlowError):
            raise AgentFailed("the agent did not start in time") from exc
        raise
    s.position = Position(Step(place))
    s.changed()


async def resume(s: HybridSession, place: Place, chosen: str | None) -> None:
    """A closed or interrupted session on a side again; on a failure the record is as it was."""
    s.position.begin("resume")
    if place == "acp":
        check_connector(s)
    before = s.record
    try:
        with s.phase(Step.STARTING, s.budgets.starting):
            session_id = await _checked(s, place, chosen)
            if place == "tui":
                tui = await start_tui(s, session_id)
        with s.phase(Step.LOADING, s.budgets.loading_total):
            if place == "tui":
                await confirm_tui(tui, session_id)
            else:
                await _open_conversation(s, session_id)
            s.queue_lost = before.queued if before.state == "interrupted" else 0
            await s.adopt_session(session_id or s.record.agent_session_id, side=place)
            await s.save(state="active", activity="idle")
    except (HybridmuxError, OSError) as exc:
        await s.drop_sides()
        s.record = before
        s.arrive(Step.ENDED)
        if isinstance(exc, OccupiedElsewhere):
            raise Conflict(str(exc), "occupied_external") from exc
        if isinstance(exc, Conflict | StoreUnusable):
            raise
        raise AgentFailed(f"the session could not be resumed: {cause(exc)}") from exc
    s.arrive(Step(place))
    s.log.mark("resumed")


async def _checked(s: HybridSession, place: Place, chosen: str | None) -> str | None:
    """A short-lived connector looks whether the agent still has the conversation."""
    wanted = chosen or s.record.agent_session_id
    if wanted is None:
        return None
    if wanted in s.taken():
        raise identity.not_eligible("occupied")
    if s.sides.missing_connector(s.plan) is not None and place == "tui":
        return wanted
    held = await s.open_chat()
    try:
        listed = await held.value.sessions()
    finally:
        with trio.CancelScope(shield=True):
            await held.value.stop()
            await held.release()
    if not any(each.session_id == wanted for each in listed):
        raise session_missing(listed)
    return wanted


def session_missing(listed: list[Summary]) -> Conflict:
    """409 `session_missing` with what could be taken instead."""
    return Conflict(
        "the agent does not have that conversation any more",
        "session_missing",
        candidates=identity.candidates(listed),
    )


async def _open_conversation(s: HybridSession, session_id: str | None) -> None:
    held = await s.open_chat()
    s.adopt_chat(held)
    if session_id is None:
        await begin_conversation(s, held.value)
        return
    try:
        s.publish(await load(s, held.value, session_id))
    except SessionUnknown as exc:
        raise session_missing(await held.value.sessions()) from exc


async def close(s: HybridSession) -> None:
    """Ends the turn as a switch would, then the processes; the record becomes `closed`."""
    s.position.begin("close")
    if s.position.step is Step.TUI and s.tui is not None:
        tui = s.tui.value
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
        await s.close_chat()
        await s.follow(s.plan.profile.farewell(await s.close_tui(clean=True)))
    except SideFailed:
        await s.drop_sides()
    s.arrive(Step.ENDED)
    await s.end("closed")


async def shut_down(s: HybridSession) -> None:
    """The server stops: whatever runs is cancelled, both sides end, the record says `interrupted`."""
    s.stopping = True
    if s.rollback is not None:
        s.rollback.cancel()
    await s.operations.stop()
    if s.position.step is Step.ENDED:
        s.over.set()
        return
    clean = s.tui is not None and s.tui.value.state().turn == "idle"
    try:
        await s.follow(s.plan.profile.farewell(await s.close_tui(clean=clean)))
        await s.close_chat()
    except HybridmuxError:
        await s.drop_sides()
    await s.end("interrupted")
