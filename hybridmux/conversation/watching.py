"""What happens to a session by itself: its terminal says something, its program or its connector ends."""

from typing import TYPE_CHECKING, Any

from hybridmux.conversation.held import Held
from hybridmux.conversation.sides import ChatSide, TuiSide
from hybridmux.wire.types import utc_now

if TYPE_CHECKING:  # the session starts these tasks
    from hybridmux.conversation.session import HybridSession


async def tui_end(s: "HybridSession", held: Held[TuiSide]) -> None:
    """The terminal's program ends: by itself, unless an operation or the server's stop has to do with it."""
    code = await held.value.ended()
    s.changed()
    if s.operations.current is None and s.tui is held and not s.stopping:
        await s.program_ended(code)


async def terminal(s: "HybridSession", held: Held[TuiSide]) -> None:
    """Follows the title and, where the agent states them, the turn and the conversation."""
    side, seen = held.value, -1
    stated = s.plan.profile.identity == "report"
    shown: Any = None
    while s.tui is held and side.exit_code is None:
        seen = await side.terminal.changed(seen)
        state = side.state() if stated else None
        if (side.terminal.title, state) == shown:
            continue
        shown = (side.terminal.title, state)
        if state is not None and state.turn != s.tui_turn:
            s.tui_turn, s.tui_since = state.turn, utc_now()
        if state is not None and state.stored and s.operations.current is None:
            await s.follow(state.session_id)
        s.changed()


async def chat_end(s: "HybridSession", held: Held[ChatSide]) -> None:
    """The connector ends: the next message starts another one."""
    reason = await held.value.ended()
    if s.chat is not held:
        return
    s.chat = None
    if s.operations.current is None:
        s.log.say("agent_gone", f"The agent ended: {reason}", level="warning")
    s.changed()
    await held.value.stop()
    await held.release()
