"""Turns: prompts, going on with the queue, and cancelling.

One prompt runs at a time (agents differ in what two at once do). A message that cannot go now waits in the
queue; a turn that ends badly pauses it. Nothing goes to the agent while a program that is none of ours has
the conversation open.
"""

from functools import partial
from typing import cast

import trio
from attrs import evolve

from hybridmux.conversation.asking import Asking
from hybridmux.conversation.chatlog import GOOD_ENDS, Answer
from hybridmux.conversation.host import Host
from hybridmux.conversation.outsiders import Occupied
from hybridmux.conversation.running import Running
from hybridmux.conversation.sides import AuthRequired, PromptOutcome, SideFailed
from hybridmux.conversation.waiting import Waiting, check_text
from hybridmux.errors import HybridmuxError
from hybridmux.wire.chat import Queue, QueueItem, StopReason, Turn
from hybridmux.wire.convert import Json, write
from hybridmux.wire.types import PermissionMode, utc_now


class Turns:
    """The turn state of one session; it outlives any single connector."""

    def __init__(self, host: Host, permission_mode: PermissionMode = "auto") -> None:
        self._host = host
        self.turn: Turn | None = None
        self.waiting = Waiting(host)
        self.asking = Asking(host, permission_mode)
        self.auth_required = False
        self.prompted: str | None = None
        """The agent session that a message was last written to."""
        self._now: Running | None = None

    # --- what others see ---

    @property
    def with_agent(self) -> bool:
        """The running turn's message has gone to the agent, or is about to."""
        return self._now is not None and self._now.handed

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._now is not None

    @property
    def queue(self) -> Queue:
        """The messages that wait."""
        return self.waiting.queue

    # --- prompts and the queue ---

    async def prompt(self, text: str) -> QueueItem | None:
        """Sends a message, or queues it and returns the item. Raises `Occupied`: nothing was sent or kept."""
        check_text(text, self._host.plan.profile)
        if self.running or self.queue.items or not self._host.on_chat:
            item = await self.waiting.add(text)
            self.go_on()
            return item
        self._host.outsiders.check()
        now = self._begin(text)
        await self._acknowledged(now)
        return self.waiting.find(now.turn.id)

    async def _acknowledged(self, now: Running) -> None:
        """Waits until the turn's start is on disk and its message has gone to the agent, but not for long."""
        with trio.move_on_after(self._host.budgets.prompt_ack):
            await self._host.note_activity()
            await now.settled.wait()

    async def unpause(self) -> None:
        """Goes on with the head of a paused queue. Raises `Occupied`: it stays paused."""
        if self.queue.items and not self.running:
            self._host.outsiders.check()
        await self.waiting.unpause()
        self.go_on()

    async def send_now(self, item_id: str) -> None:
        """Cancels the running turn and sends this message next. Raises `Occupied`."""
        item = self.waiting.get(item_id)
        self._host.outsiders.check()  # a turn is not cancelled for a message that cannot go
        await self.waiting.first(item)
        now = self._now
        if now is not None:
            await self.cancel()
            await now.over.wait()
        waits = self.waiting.find(item_id)  # it may have been edited, moved or removed meanwhile
        if waits is not None and not self.running:
            await self.waiting.first(waits)
            await self.unpause()

    def go_on(self) -> None:
        """Sends the head of the queue if nothing speaks against it."""
        if self.waiting.may_go and not self.running and self._host.on_chat:
            try:
                self._host.outsiders.check()
            except Occupied as exc:
                self.waiting.pause()
                self._host.log.say("occupied_external", f"The queue waits: {exc}.", level="warning")
                self._host.changed()
            else:
                self._begin(self.waiting.pop().text)

    # --- one turn ---

    def _begin(self, text: str) -> Running:
        self._now = now = Running(text, self._host.log)
        self.turn = now.turn
        self.asking.refusing = False
        now.write_start()
        self._host.changed()
        self._host.nursery.start_soon(self._run, now)
        return now

    async def _run(self, now: Running) -> None:
        stop, error = "cancelled", None
        with now.scope:
            stop, error = await self._exchange(now)
        now.settled.set()
        await self._note_first(now)
        now.move_to(self._host.log)
        if not now.written:
            now.log.facts.heard.running.clear()  # no replay can hold it
        if now.waits:
            self.waiting.give_back(QueueItem(id=now.turn.id, text=now.text))
        await self._end(now, stop, error)

    async def _exchange(self, now: Running) -> tuple[str, str | None]:
        """The stop reason, and what went wrong."""
        try:
            await self._host.note_activity()
            chat = await self._host.connected()
            now.move_to(self._host.log)
            if now.cancelling:
                return "cancelled", None  # it was stopped before it was sent
            self._host.outsiders.check()  # starting a connector takes its time
            self._hand(now)
            outcome = await chat.prompt([{"type": "text", "text": now.text}], partial(self._written, now))
        except AuthRequired as exc:
            self.auth_required, now.answered = True, False
            return "auth_required", str(exc)
        except Occupied as exc:
            now.overtaken = True
            return "error", str(exc)
        except HybridmuxError as exc:
            return "error", str(exc)
        self.auth_required, now.answered = False, True
        return self._judge(outcome)

    def _hand(self, now: Running) -> None:
        record = self._host.record
        now.handed, now.conversation = True, record.agent_session_id
        # A command may leave nothing behind that could be opened again: the agent's list tells then.
        now.is_first = record.unprompted and not now.log.is_command(now.text)
        now.log.answer = Answer(partial(self._answering, now))

    def _written(self, now: Running) -> None:
        self.prompted = now.conversation
        now.note_written()

    def _answering(self, now: Running) -> None:
        """The agent has begun to answer: whatever becomes of the turn, something was said there."""
        now.answered = True
        if now.is_first:
            self._host.nursery.start_soon(self._note_first, now)

    async def _note_first(self, now: Running) -> None:
        """The mark on a conversation without a prompt: gone with an answer, back with a refusal."""
        if now.is_first and self._host.record.agent_session_id == now.conversation:
            await self._host.save(best_effort=True, unprompted=not now.answered)

    def _judge(self, outcome: PromptOutcome) -> tuple[str, str | None]:
        """The stop reason, and what went wrong: not every agent says so by an error."""
        # A turn that never got to a model used no tokens; an answer may begin with a number, too.
        pattern = self._host.plan.profile.failed_answer if outcome.usage is None else None
        failure = self._host.log.answer.failure(pattern)
        if outcome.stop_reason == "end_turn" and failure is not None:
            return "error", failure
        return outcome.stop_reason, None

    async def _end(self, now: Running, stop: str, error: str | None) -> None:
        if now.cancelling:
            stop, error = "cancelled", None
        self.asking.withdraw()
        self.asking.refusing = False
        log = now.log
        log.settle()
        if stop == "end_turn" and not log.answer.heard:
            log.say("empty_turn", "The agent ended its turn without an answer.", level="warning")
        log.answer = Answer()  # what comes now is none to this turn
        self.turn = evolve(now.turn, ended_at=utc_now(), stop_reason=cast("StopReason", stop))
        log.append(
            {
                "type": "turn.end",
                "startedAt": now.turn.started_at,
                "endedAt": self.turn.ended_at,
                "stopReason": stop,
                **({"error": error} if error else {}),
            }
        )
        log.turn_id = None
        if stop not in GOOD_ENDS:
            self.waiting.pause()
        self._now = None
        now.over.set()
        self._host.changed()
        await self._host.note_activity()
        self.go_on()

    # --- cancelling ---

    async def cancel(self) -> None:
        """Stops the turn; a second call, or a deadline, ends the connector instead of asking again."""
        now = self._now
        if now is None:
            return
        if now.cancelling:
            await self._force(now)
            return
        now.cancelling = True
        self._host.nursery.start_soon(self._force_later, now)
        await self._ask_to_stop(now)

    async def _ask_to_stop(self, now: Running) -> None:
        self.asking.refusing = True
        self.asking.withdraw()
        chat = self._host.chat_now()
        if chat is None:
            now.scope.cancel()
            return
        try:
            await chat.cancel()
        except SideFailed:
            await self._force(now)

    async def settle(self) -> None:
        """For a switch: cancels what runs and waits for the turn's end; the caller sets the deadline.

        A message that had not been written to the agent waits at the head of the queue afterwards.
        """
        now = self._now
        if now is None:
            return
        now.leaving = True
        if not now.cancelling:  # asked twice, the agent would hear of the second one without a turn
            now.cancelling = True
            await self._ask_to_stop(now)
        await now.over.wait()

    async def abandon(self) -> None:
        """The connector is gone: the turn, if one still runs, ends now."""
        now = self._now
        if now is not None:
            now.scope.cancel()
            await now.over.wait()

    async def _force_later(self, now: Running) -> None:
        with trio.move_on_after(self._host.budgets.cancelling):
            await now.over.wait()
            return
        await self._force(now)

    async def _force(self, now: Running) -> None:
        chat = self._host.chat_now()
        if chat is not None and not now.over.is_set():
            await chat.kill()

    def shown(self) -> Json:
        """The part of the chat state that is about turns."""
        return {
            "turn": write(self.turn) if self.turn else None,
            "requests": self.asking.open_requests(),
            "queue": write(self.queue),
            "authRequired": self.auth_required,
            "permissionMode": self.asking.mode,
        }
