"""Conversations without a prompt: some agents cannot open one again, so that a fresh one takes its place.

The record carries a mark from the moment we begin a conversation, or a terminal states one, until its first
prompt is known to have reached the agent. Where a connector is at hand, what it lists counts more than that.
"""

from contextlib import suppress

import trio

from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import ChatSide, SideFailed

REASON = "nothing had been said in it, and the agent cannot open such a conversation again"


def in_doubt(s: HybridSession, session_id: str | None = None) -> bool:
    """The recorded conversation (if it is this one) may be one that cannot be opened again."""
    known = s.record.agent_session_id
    asked = known is not None and session_id in (None, known)
    return asked and s.record.unprompted and not s.plan.profile.reopens_unprompted


async def reopenable(s: HybridSession, chat: ChatSide | None) -> str | None:
    """The recorded conversation; None if a fresh one has to take its place.

    An agent that does not say what it has is believed to have what a message was written to.
    """
    known = s.record.agent_session_id
    if not in_doubt(s):
        return known
    listed = await _listed(s, chat)
    kept = s.turns.prompted == known if listed is None else listed
    return known if kept else None


async def _listed(s: HybridSession, chat: ChatSide | None) -> bool | None:
    """Whether the agent lists it; None: it gives no answer."""
    known = s.record.agent_session_id
    if chat is not None and not chat.over:
        with trio.move_on_after(s.budgets.stopping_step), suppress(SideFailed):
            return any(each.session_id == known for each in await chat.sessions(known))
    return None


def tell_replaced(s: HybridSession, was: str | None) -> None:
    """After the commit: says that the conversation is another one than `was`."""
    now = s.record.agent_session_id
    if was is not None and was != now:
        s.id_change = {"was": was, "now": now, "reason": REASON}
        s.changed()
