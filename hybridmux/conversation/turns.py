"""Turns: prompts, going on with the queue, and cancelling.

One prompt runs at a time (agents differ in what two at once do). A message that cannot go now waits in the
queue; a turn that ends badly pauses it. Nothing goes to the agent while a program that is none of ours has
the conversation open.
"""

import secrets
from typing import cast

import trio
from attrs import evolve

from hybridmux.conversation.asking import Asking
from hybridmux.conversation.chatlog import GOOD_ENDS, Answer, ChatLog
from hybridmux.conversation.host import Host
from hybridmux.conversation.outsiders import Occupied
from hybridmux.conversation.sides import AuthRequired, ChatSide, PromptOutcome, SideFailed
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
        self._cancelling = False
        self._scope: trio.CancelScope | None = None
        self._over = trio.Event()
        self._sent = False
        """The running turn's message has gone to the agent, or is about to."""
        self._gone_out = trio.Event()
        """It has been written, or the turn is over."""
        self._leaving = False
        """The running turn is ended by a switch."""

    # --- what others see ---

    @property
    def with_agent(self) -> bool:
        """The running turn's message has gone to the agent, or is about to."""
        return self.running and self._sent

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self.turn is not None and self.turn.ended_at is None

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
        turn = self._begin(text)
        await self._acknowledged()
        return self.waiting.find(turn.id)

    async def _acknowledged(self) -> None:
        """Waits until the turn's start is on disk and its message has gone to the agent, but not for long."""
        with trio.move_on_after(self._host.budgets.prompt_ack):
            await self._host.note_activity()
            await self._gone_out.wait()

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
        if self.running:
            await self.cancel()
            await self._over.wait()
        if item in self.queue.items and not self.running:
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

    def _begin(self, text: str) -> Turn:
        self.turn = Turn(id=secrets.token_hex(6), started_at=utc_now())
        self._cancelling, self._over = False, trio.Event()
        self._sent, self._leaving, self._gone_out = False, False, trio.Event()
        self.asking.refusing = False
        self._write_start(self._host.log, self.turn, text)
        self._host.changed()
        self._host.nursery.start_soon(self._run, self.turn, text)
        return self.turn

    def _write_start(self, log: ChatLog, turn: Turn, text: str) -> None:
        log.turn_id = turn.id
        log.append({"type": "turn.start", "startedAt": turn.started_at})
        log.user_said(text)

    async def _connected(self, turn: Turn, text: str) -> ChatSide:
        """The chat side; if it had to load the conversation anew, the turn begins again in the new log."""
        log = self._host.log
        chat = await self._host.connected()
        if self._host.log is not log:
            self._write_start(self._host.log, turn, text)
        self._host.log.answer = Answer()
        return chat

    async def _run(self, turn: Turn, text: str) -> None:
        stop, error, answered, waits = "cancelled", None, False, False
        with trio.CancelScope() as self._scope:
            try:
                await self._host.note_activity()
                chat = await self._connected(turn, text)
                if not self._cancelling:  # else it was stopped before it was sent
                    self._host.outsiders.check()  # starting a connector takes its time
                    self._sent = True
                    stop, error = self._judge(
                        await chat.prompt([{"type": "text", "text": text}], self._gone_out.set)
                    )
                    self.auth_required, answered = False, True
            except AuthRequired as exc:
                stop, error, self.auth_required = "auth_required", str(exc), True
            except Occupied as exc:
                stop, error, waits = "error", str(exc), True
            except HybridmuxError as exc:
                stop, error = "error", str(exc)
                answered = self._sent and self._host.log.answer.heard
        self._scope = None
        self._gone_out.set()
        if answered and self._host.record.unprompted:
            await self._host.save(best_effort=True, unprompted=False)
        if not self._sent:
            self._host.log.facts.heard.running.clear()  # no replay can hold it
        if (self._leaving or waits) and not self._sent:
            self.waiting.give_back(QueueItem(id=turn.id, text=text))
        await self._end(turn, stop, error)

    def _judge(self, outcome: PromptOutcome) -> tuple[str, str | None]:
        """The stop reason, and what went wrong: not every agent says so by an error."""
        # A turn that never got to a model used no tokens; an answer may begin with a number, too.
        pattern = self._host.plan.profile.failed_answer if outcome.usage is None else None
        failure = self._host.log.answer.failure(pattern)
        if outcome.stop_reason == "end_turn" and failure is not None:
            return "error", failure
        return outcome.stop_reason, None

    async def _end(self, turn: Turn, stop: str, error: str | None) -> None:
        if self._cancelling:
            stop, error = "cancelled", None
        self.asking.withdraw()
        self.asking.refusing = False
        log = self._host.log
        log.settle()
        if stop == "end_turn" and not log.answer.heard:
            log.say("empty_turn", "The agent ended its turn without an answer.", level="warning")
        self.turn = evolve(turn, ended_at=utc_now(), stop_reason=cast("StopReason", stop))
        log.append(
            {
                "type": "turn.end",
                "startedAt": turn.started_at,
                "endedAt": self.turn.ended_at,
                "stopReason": stop,
                **({"error": error} if error else {}),
            }
        )
        log.turn_id = None
        if stop not in GOOD_ENDS:
            self.waiting.pause()
        self._over.set()
        self._host.changed()
        await self._host.note_activity()
        self.go_on()

    # --- cancelling ---

    async def cancel(self) -> None:
        """Stops the turn; a second call, or a deadline, ends the connector instead of asking again."""
        if not self.running:
            return
        if self._cancelling:
            await self._force()
            return
        self._cancelling = True
        self._host.nursery.start_soon(self._force_later, self._over)
        await self._ask_to_stop()

    async def _ask_to_stop(self) -> None:
        self.asking.refusing = True
        self.asking.withdraw()
        chat = self._host.chat_now()
        if chat is None:
            if self._scope is not None:
                self._scope.cancel()
            return
        try:
            await chat.cancel()
        except SideFailed:
            await self._force()

    async def settle(self) -> None:
        """For a switch: cancels what runs and waits for the turn's end; the caller sets the deadline.

        A message that had not gone to the agent yet waits at the head of the queue afterwards.
        """
        if not self.running:
            return
        self._leaving = True
        if not self._cancelling:  # asked twice, the agent would hear of the second one without a turn
            self._cancelling = True
            await self._ask_to_stop()
        await self._over.wait()

    async def abandon(self) -> None:
        """The connector is gone: the turn, if one still runs, ends now."""
        if self._scope is not None:
            self._scope.cancel()
            await self._over.wait()

    async def _force_later(self, over: trio.Event) -> None:
        with trio.move_on_after(self._host.budgets.cancelling):
            await over.wait()
            return
        await self._force()

    async def _force(self) -> None:
        chat = self._host.chat_now()
        if chat is not None and self.running:
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
