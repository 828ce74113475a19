"""Opening a conversation on the chat side: its history in a fresh log, held against what is known of it.

A history may lag behind what was seen, and an agent may think for a moment that its conversation is still
open elsewhere: both are tried again on a fresh connection, never by a second load on one.
"""

from collections.abc import Iterable
from functools import partial

import trio

from hybridmux.conversation.barrier import Known, judge
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import ChatSide, OccupiedElsewhere, SideFailed
from hybridmux.conversation.tries import pauses
from hybridmux.wire.convert import Json


async def load(s: HybridSession, session_id: str, known: Known, *, demanding: bool = True) -> ChatLog:
    """The conversation in a log that nobody sees before `show`; the connector in waiting has it open then.

    An agent that can only resume leaves the log as it is. Options that it has lost are set again. Raises
    `SideFailed` when a finished turn stays away (`demanding`; otherwise a notice says so),
    `OccupiedElsewhere` when another program keeps it.
    """
    soon = trio.current_time() + s.budgets.retry / 3
    for pause in pauses(s.budgets.retry):
        chat = s.sides.waiting
        if not chat.abilities.load:
            await continue_conversation(s, chat, session_id)
            return s.log
        try:
            fresh = await _read(s, chat, session_id)
        except OccupiedElsewhere:
            if pause is None:
                raise
        else:
            verdict = judge(known, fresh.facts.heard)
            if verdict == "behind" and not demanding:
                verdict = "late"  # there is no side to go back to: what the agent has is what there is
            if verdict == "behind" and pause is None:
                _settle_for(s, known, fresh)
                verdict = "changed"
            if verdict == "late" and (pause is None or trio.current_time() > soon):
                verdict = "changed"
            if verdict in ("whole", "changed"):
                _tell(fresh, known, changed=verdict == "changed")
                await _reapply(s, chat, fresh, s.plan.profile.reapply)
                return fresh
        await s.sides.discard()
        await trio.sleep(pause or 0)
        await s.sides.open_chat()
    raise AssertionError("the last try returns or raises")


async def _read(s: HybridSession, chat: ChatSide, session_id: str) -> ChatLog:
    fresh = ChatLog(s.budgets.chat_log_bytes, s.plan.profile.unoffered_commands)
    chat.sink = fresh.feed
    await chat.load(session_id, fresh.take)
    fresh.settle()
    return fresh


def _settle_for(s: HybridSession, known: Known, fresh: ChatLog) -> None:
    """A turn is still missing: raises `SideFailed` unless there is reason to believe that it was taken out.

    Asked a second time with nothing new in between, the agent's word counts: a terminal in which the turn
    was undone must not keep the conversation for ever.
    """
    doubt = (known.later, list(known.heard.firm), list(fresh.facts.heard.firm))
    if known.changed_since or s.doubt == doubt:
        return
    s.doubt = doubt
    raise SideFailed(
        "the agent's history does not hold the last finished turn; "
        "if it was undone in the terminal, switch once more to go on without it"
    )


def _tell(fresh: ChatLog, known: Known, *, changed: bool) -> None:
    if fresh.truncated:
        fresh.mark("truncated")
    fresh.mark("loaded")
    if changed:
        fresh.say("history_changed", "The agent's history does not hold all that was seen of it before.")
    if known.tools and not fresh.facts.tools:
        fresh.say("tools_not_replayed", "The agent's history does not show its earlier tool calls.")


async def continue_conversation(s: HybridSession, chat: ChatSide, session_id: str) -> None:
    """Opens an agent session without its history: the timeline stays."""

    def opened(answer: Json) -> None:
        chat.sink = partial(_feed_news, s.log, s.log.known_ids())
        s.log.take(answer)

    chat.sink = lambda _: None  # some agents replay on resume; we have that already
    await chat.resume(session_id, opened)
    await _reapply(s, chat, s.log, s.plan.profile.reapply)


async def _reapply(s: HybridSession, chat: ChatSide, log: ChatLog, names: Iterable[str]) -> None:
    """Sets recorded options again, in this order: those that are offered and have another value now."""
    for name in names:
        wanted = s.record.config_values.get(name)
        # Looked up each time: one option may decide which others there are.
        offered = next((one for one in log.facts.options if one["id"] == name), None)
        if wanted is None or offered is None or offered["value"] == wanted:
            continue
        try:
            await chat.set_option(name, wanted, log.take)
        except SideFailed as exc:
            words = f"{offered['name']} could not be set to {wanted} again: {exc}"
            log.say("option_not_kept", words, level="warning")


def _feed_news(log: ChatLog, known: frozenset[str], params: Json) -> None:
    """Some agents go on replaying after their answer: between turns, what is here already is dropped."""
    update = params.get("update") or {}
    is_old = update.get("sessionUpdate") == "user_message_chunk" or not known.isdisjoint(
        str(update.get(key)) for key in ("messageId", "toolCallId")
    )
    if log.turn_id is not None or not is_old:
        log.feed(params)


async def begin_conversation(s: HybridSession, chat: ChatSide) -> str:
    """A new agent session; its id, which is not on disk yet. All recorded options hold in it."""
    chat.sink = s.log.feed
    session_id = await chat.new(s.log.take)
    await _reapply(s, chat, s.log, dict.fromkeys((*s.plan.profile.reapply, *s.record.config_values)))
    return session_id


def show(s: HybridSession, loaded: ChatLog) -> None:
    """At the commit: what was loaded is the timeline now."""
    if loaded is s.log:
        s.log.say("history_not_loaded", "The agent cannot show what was said in the terminal.")
    else:
        publish(s, loaded)


def publish(s: HybridSession, fresh: ChatLog) -> None:
    """A loaded log becomes the session's; viewers of the old one are told to come back."""
    if fresh is not s.log:
        old, s.log = s.log, fresh
        fresh.on_append = s.bell.ring
        old.journal.close()
        s.changed()
