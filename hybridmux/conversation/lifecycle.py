"""How sessions begin and end: create, close, and the server's stop. Coming back: `resuming`."""

from contextlib import suppress

import trio

from hybridmux.conversation.loading import begin_conversation
from hybridmux.conversation.moves import check_connector
from hybridmux.conversation.operations import Stopping
from hybridmux.conversation.phases import Position, Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import SideFailed
from hybridmux.conversation.switch import interrupt
from hybridmux.errors import AgentFailed, StoreUnusable
from hybridmux.wire.types import Place

PATIENCE = 0.6
"""The part of the shutdown's grace period in which everything may end in order."""


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
