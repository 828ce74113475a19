"""What happens to a session by itself: its terminal says something, its program or its connector ends."""

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from hybridmux.agents.profile import TuiState
from hybridmux.conversation.held import Held
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import ChatSide, SideFailed, TuiSide
from hybridmux.conversation.stay import Stay
from hybridmux.errors import HybridmuxError
from hybridmux.wire.types import utc_now

if TYPE_CHECKING:  # the session starts these tasks
    from hybridmux.conversation.session import HybridSession


def tui_opened(s: "HybridSession", held: Held[TuiSide]) -> None:
    """A terminal side has started: a new stay begins."""
    s.stay = Stay(utc_now(), counts=s.plan.profile.identity == "report")
    s.outsiders.left_traces = s.outsiders.present
    held.nursery.start_soon(tui_end, s, held)
    held.nursery.start_soon(terminal, s, held)


def chat_adopted(s: "HybridSession", held: Held[ChatSide]) -> None:
    """A connector has become the chat side."""
    held.value.asker = s.turns.asking
    s.outsiders.left_traces = s.outsiders.present  # it has read what those wrote who have gone
    held.nursery.start_soon(chat_end, s, held)
    held.nursery.start_soon(tell_outdated, s, held.value)


async def tell_outdated(s: "HybridSession", chat: ChatSide) -> None:
    """Programs that are older than what was tried are named in the chat state."""
    with suppress(SideFailed):
        s.outdated = await s.sides.outdated(chat)
        s.changed()


async def tui_end(s: "HybridSession", held: Held[TuiSide]) -> None:
    """Waits for the end of the terminal's program."""
    code = await held.value.ended()
    s.nursery.start_soon(_tui_gone, s, held, code)


async def _tui_gone(s: "HybridSession", held: Held[TuiSide], code: int) -> None:
    """The program has ended: by itself, unless an operation or the server's stop has to do with it."""
    s.changed()
    while True:
        await s.operations.idle()
        if s.sides.tui is not held or s.stopping or s.position.step is not Step.TUI:
            return
        with suppress(
            HybridmuxError
        ):  # another operation was faster; it sees for itself that the program is gone
            await s.operate("exit", partial(_exited, s, code))


async def _exited(s: "HybridSession", code: int) -> None:
    """The session is over; the shell stays in the list as exited."""
    s.position.begin("exit")
    last = ""
    with suppress(SideFailed):
        last = await s.sides.close_tui(clean=False)
    await s.follow(s.plan.profile.farewell(last))
    s.arrive(Step.ENDED)
    await s.end("closed" if code == 0 else "interrupted")


async def terminal(s: "HybridSession", held: Held[TuiSide]) -> None:
    """Follows the title and, where the agent states them, the turn and the conversation."""
    side, seen = held.value, -1
    shown: Any = None
    began = trio.current_time()
    beat = s.budgets.evidence_beat if s.plan.profile.evidence else float("inf")
    while s.sides.tui is held and side.exit_code is None:
        with trio.move_on_after(beat):
            seen = await side.terminal.changed(seen)
        state = side.glance()
        turn = s.stay.turn
        s.stay.see(
            state,
            interrupted=side.stop_key_at >= began,
            now=utc_now(),
            clock=time.time(),
            enter_at=side.enter_at,
            moment=trio.current_time(),
        )
        await _follow(s, state)  # also without news: an operation may have been in the way of it
        if (side.terminal.title, state) == shown:
            continue
        shown = (side.terminal.title, state)
        s.changed()
        if s.stay.turn != turn:
            began = began if turn in ("running", "asking") else trio.current_time()
            await s.note_activity()


async def _follow(s: "HybridSession", state: TuiState) -> None:
    """The record follows what the terminal states, as soon as there is anything that may be opened again."""
    if state.stored is not False and s.operations.current is None:
        may_be_empty = not (s.plan.profile.reopens_unprompted or state.stored or s.stay.prompted)
        await s.follow(state.session_id, unprompted=may_be_empty)


async def chat_end(s: "HybridSession", held: Held[ChatSide]) -> None:
    """Waits for the connector's end."""
    reason = await held.value.ended()
    s.nursery.start_soon(_chat_gone, s, held, reason)


async def _chat_gone(s: "HybridSession", held: Held[ChatSide], reason: str) -> None:
    """The connector has ended: the next message starts another one."""
    if s.sides.chat is not held:
        return
    if s.operations.current is None:
        s.log.say("agent_gone", f"The agent ended: {reason}", level="warning")
    s.changed()
    with suppress(HybridmuxError):  # it stays in place then, and whoever needs it is told
        await s.sides.retire(held)
        s.sides.partings.tell(s.log)
    s.changed()
