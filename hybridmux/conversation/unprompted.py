"""Conversations without a prompt: some agents cannot open one again, so that a fresh one takes its place.

The record carries a mark from the moment we begin a conversation, or a terminal states one, until its first
prompt is known to have reached the agent. Where a connector is at hand, what it lists counts more than that.
"""

from collections.abc import Sequence
from contextlib import suppress

import trio

from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import ChatSide, SideFailed, Summary

REASON = "nothing had been said in it, and the agent cannot open such a conversation again"


def in_doubt(s: HybridSession, session_id: str | None = None) -> bool:
    """The recorded conversation (if it is this one) may be one that cannot be opened again."""
    known = s.record.agent_session_id
    asked = known is not None and session_id in (None, known)
    return asked and s.record.unprompted and not s.plan.profile.reopens_unprompted


async def reopenable(s: HybridSession, chat: ChatSide | None) -> str | None:
    """The recorded conversation; None if a fresh one has to take its place."""
    if in_doubt(s) and not await _listed(s, chat):
        return None
    return s.record.agent_session_id


async def _listed(s: HybridSession, chat: ChatSide | None) -> bool:
    sessions: Sequence[Summary] = ()
    if chat is not None:
        with trio.move_on_after(s.budgets.stopping_step), suppress(SideFailed):
            sessions = await chat.sessions(s.record.agent_session_id)
    return any(each.session_id == s.record.agent_session_id for each in sessions)


def tell_replaced(s: HybridSession, was: str | None) -> None:
    """After the commit: says that the conversation is another one than `was`."""
    now = s.record.agent_session_id
    if was is not None and was != now:
        s.id_change = {"was": was, "now": now, "reason": REASON}
        s.changed()
