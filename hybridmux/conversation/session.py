"""A hybrid session: its two sides, where it is, what is on disk about it, and who may do what when.

The session owns a nursery; sides, turns and operations run in it. An exception that is nobody's fault but
ours ends this session (it becomes `interrupted`), never the server.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, TypeVar

import trio
from attrs import evolve

from hybridmux.agents.profile import TurnState
from hybridmux.budgets import Budgets
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.held import Held
from hybridmux.conversation.operations import Operations
from hybridmux.conversation.phases import Position, Step
from hybridmux.conversation.sides import ChatSide, Plan, SideFailed, Sides, TuiSide
from hybridmux.conversation.sizing import Sizing
from hybridmux.conversation.turns import Turns
from hybridmux.errors import AgentFailed, Conflict, HybridmuxError
from hybridmux.store.records import Record, RecordStore
from hybridmux.wire.convert import Json
from hybridmux.wire.types import Place, StateName, utc_now

log = logging.getLogger(__name__)
T = TypeVar("T")


class PhaseTimeout(AgentFailed):
    """A phase ran into its deadline."""


class HybridSession:
    """One conversation and the side it is on."""

    def __init__(
        self,
        record: Record,
        plan: Plan,
        *,
        sides: Sides,
        store: RecordStore,
        budgets: Budgets,
        bell: Bell,
        reconnect: "Callable[[HybridSession], Awaitable[None]]",
    ) -> None:
        self.record = record
        self.plan = plan
        self.sides, self.store, self.budgets = sides, store, budgets
        self.bell = Bell()
        self._hub_bell = bell
        self._reconnect = reconnect
        self.position = Position(Step.ENDED)
        self.operations = Operations()
        self.version = 0
        """Rises with each change that the chat state or the list shows."""
        self.state_cache: tuple[object, bytes] | None = None
        self.sizing = Sizing()
        self.log = ChatLog(budgets.chat_log_bytes)
        self.log.on_append = self.bell.ring
        self.turns = Turns(self, record.permission_mode or "auto")
        self.tui: Held[TuiSide] | None = None
        self.chat: Held[ChatSide] | None = None
        self.last_tui: TuiSide | None = None
        """The TUI whose screen is still to be seen after its program ended."""
        self.size = (80, 24)
        self.checking = False
        self.choice: trio.MemorySendChannel[str] | None = None
        """Where an answer to `awaiting_choice` goes while one is wanted."""
        self.id_change: Json | None = None
        self.queue_lost = 0
        self.connector_missing: Json | None = None
        self.named = False
        """A person gave the name."""
        self.tui_turn: TurnState = "unknown"
        self.tui_since = record.created_at
        """Since when the terminal's turn is in that state."""
        self.stopping = False
        self.forced = False
        """The running switch was told not to wait for the turn."""
        self.rollback: trio.CancelScope | None = None
        """The roll-back that runs, so that a stopping server can end it."""
        self.taken: Callable[[], frozenset[str]] = frozenset
        """Agent sessions that other sessions of ours have open; the hub sets it."""
        self.over = trio.Event()
        """Set when the session has left the list for good or has ended."""
        self._nursery: trio.Nursery | None = None
        self._reconnecting = trio.Lock()
        self._saving = trio.Lock()

    # --- life ---

    @property
    def id(self) -> str:
        """Our id; it never changes."""
        return self.record.id

    @property
    def nursery(self) -> trio.Nursery:
        """Where everything of this session runs."""
        assert self._nursery is not None, "the session has no nursery yet"
        return self._nursery

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """The supervisor; returns when the session is over."""
        try:
            async with trio.open_nursery() as self._nursery:
                task_status.started()
                await self.over.wait()
                await self.operations.idle()
                self._nursery.cancel_scope.cancel()
        except Exception:
            log.exception("session failed", extra={"session": self.id})
            await self.end("interrupted")
        finally:
            self.changed()

    def changed(self) -> None:
        """Tells everyone who looks at this session or at the list."""
        self.version += 1
        self.bell.ring()
        self._hub_bell.ring()

    async def end(self, state: StateName) -> None:
        """The session is over: the record says how, its processes are gone."""
        if self.position.step is not Step.ENDED:
            self.position.fall(self.record.side)
        await self.save(state=state, best_effort=True)
        self.over.set()
        self.changed()

    # --- the record ---

    async def save(self, *, best_effort: bool = False, **changes: Any) -> None:
        """Puts changes of the record on disk. Raises `StoreUnusable` unless `best_effort`."""
        async with self._saving:
            wanted = evolve(self.record, queued=len(self.turns.queue.items), title=self.title, **changes)
            if wanted == self.record:
                return
            try:
                self.record = await self.store.put(wanted)
            except HybridmuxError as exc:
                if not best_effort:
                    raise
                log.warning("record not written: %s", exc, extra={"session": self.id})
                self.record = wanted
        self.changed()

    async def note_activity(self) -> None:
        """The turn's start or end and the queue's length, on disk."""
        if self.operations.current is None and not self.stopping:
            await self.save(best_effort=True, activity="turn" if self.turns.running else "idle")

    async def adopt_session(self, session_id: str | None, *, side: Place) -> None:
        """The conversation and side at a commit, on disk. Raises `StoreUnusable`."""
        record = self.record.with_agent_session(session_id)
        await self.save(
            side=side,
            agent_session_id=record.agent_session_id,
            agent_session_history=record.agent_session_history,
        )

    @asynccontextmanager
    async def intent(self) -> AsyncIterator[None]:
        """On disk: a switch is under way. Raises `StoreUnusable` before anything is touched."""
        await self.save(activity="switching")
        try:
            yield
        except Exception:
            await self._at_rest()
            raise
        await self._at_rest()

    async def _at_rest(self) -> None:
        """The switch is over and the session lives: the record says what it does now."""
        if not self.over.is_set():
            await self.save(best_effort=True, activity="turn" if self.turns.running else "idle")

    # --- where it is ---

    @property
    def state(self) -> StateName:
        """`active` while it lives."""
        return self.record.state

    @property
    def tui_now(self) -> TuiSide | None:
        """The terminal side if it can be watched now; None while moving and on the chat side."""
        if self.position.step is Step.TUI or self.position.step is Step.ENDED:
            return self.tui.value if self.tui else self.last_tui
        return None

    def chat_now(self) -> ChatSide | None:
        """The connector, if it is there."""
        return self.chat.value if self.chat else None

    @property
    def title(self) -> str:
        """What the session shows: the program's or the agent's title."""
        if self.position.side == "acp" or self.tui is None:
            return self.log.facts.title or self.record.title
        return self.tui.value.terminal.title or self.record.title

    @property
    def shown_title(self) -> str:
        """A name given at creation wins over what the program or the agent says."""
        return self.record.name if self.named else self.title or self.record.name

    def require(self, place: Place) -> None:
        """Raises `Conflict` unless the session rests on that side."""
        if self.position.phase is not None or self.operations.current == "resume":
            raise Conflict("the session is switching", "switching")
        if self.position.step != place:
            where = "has ended" if self.position.step is Step.ENDED else "is on the other side"
            raise Conflict(f"the session {where}", "wrong_side")

    @contextmanager
    def phase(self, step: Step, seconds: float) -> Iterator[trio.CancelScope]:
        """One phase of an operation: checked against the table, shown, and under its deadline."""
        self.position.move(step)
        self.changed()
        try:
            with trio.fail_after(seconds) as scope:
                yield scope
        except trio.TooSlowError:
            raise PhaseTimeout(f"no end within {seconds:g} s") from None

    def choose(self, answer: str) -> None:
        """Answers `awaiting_choice`; raises `Conflict` (answered) when nothing waits."""
        try:
            if self.choice is None:
                raise trio.WouldBlock
            self.choice.send_nowait(answer)
        except (trio.WouldBlock, trio.BrokenResourceError, trio.ClosedResourceError):
            raise Conflict("no switch waits for a choice", "answered") from None

    def arrive(self, step: Step) -> None:
        """The operation reaches a side, or gives up."""
        self.position.move(step)
        self.changed()

    def publish(self, fresh: ChatLog) -> None:
        """A loaded log becomes the session's; viewers of the old one are told to come back."""
        old, self.log = self.log, fresh
        fresh.on_append = self.bell.ring
        old.journal.close()
        self.changed()

    # --- sides ---

    async def open_tui(self, session_id: str | None) -> TuiSide:
        """Starts the terminal side and watches it."""
        manager = self.sides.open_tui(self.plan, session_id, *self.size)
        self.tui = held = await Held.open(self.nursery, manager)
        self.last_tui = held.value
        self.nursery.start_soon(self._watch_tui, held)
        self.nursery.start_soon(self._watch_terminal, held)
        return held.value

    async def close_tui(self, *, clean: bool) -> str:
        """Ends the terminal side; proved gone when it returns. Its last text."""
        held = self.tui
        if held is None:
            return ""
        text = await held.value.stop(clean=clean)
        self.tui = None
        await held.release()
        return text

    def adopt_chat(self, held: Held[ChatSide]) -> None:
        """A connector becomes this session's chat side."""
        self.chat = held
        held.value.asker = self.turns.asking
        self.nursery.start_soon(self._watch_chat, held)

    async def open_chat(self) -> Held[ChatSide]:
        """A connector that has opened nothing and belongs to nobody yet."""
        return await Held.open(self.nursery, self.sides.open_chat(self.plan))

    async def close_chat(self) -> None:
        """Ends the chat side; proved gone when it returns."""
        held, self.chat = self.chat, None
        if held is None:
            return
        await held.value.stop()
        await self.turns.abandon()
        await held.release()

    async def connected(self) -> ChatSide:
        """The chat side; a connector that has gone is started again on the same conversation."""
        async with self._reconnecting:
            if self.chat is None:
                await self._reconnect(self)
            assert self.chat is not None
            return self.chat.value

    async def set_option(self, option_id: str, value: str | bool | None) -> None:
        """Sets one of the agent's config options and records the value."""
        chat = await self.connected()
        self.log.take(await chat.set_option(option_id, "" if value is None else value))
        await self.save(best_effort=True, config_values={**self.record.config_values, option_id: value})

    async def drop_sides(self) -> None:
        """Ends whatever lives, without ceremony; what cannot be ended is said in the log."""
        for close in (self.close_chat, partial(self.close_tui, clean=False)):
            try:
                await close()
            except HybridmuxError as exc:
                log.error("side not ended: %s", exc, extra={"session": self.id})
        if self.tui is not None:
            held, self.tui = self.tui, None
            await held.release()

    async def operate(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Runs one operation and waits for its outcome; 409 `switching` while another runs."""

        async def whole() -> T:
            try:
                return await work()
            finally:
                self.position.finish()
                self._settle_end()

        return await self.operations.run(name, self.nursery, whole)

    # --- what happens by itself ---

    async def _watch_tui(self, held: Held[TuiSide]) -> None:
        code = await held.value.ended()
        self.changed()
        if self.operations.current is None and self.tui is held and not self.stopping:
            await self.program_ended(code)

    async def program_ended(self, code: int) -> None:
        """The TUI ended by itself: the shell stays in the list as exited."""
        await self.follow(self.plan.profile.farewell(await self.close_tui(clean=False)))
        await self.end("closed" if code == 0 else "interrupted")

    async def _watch_terminal(self, held: Held[TuiSide]) -> None:
        """Follows the title and, where the agent states it, the turn."""
        side, seen = held.value, -1
        stated = self.plan.profile.identity == "report"
        shown: Any = None
        while self.tui is held and side.exit_code is None:
            seen = await side.terminal.changed(seen)
            state = side.state() if stated else None
            if (side.terminal.title, state) == shown:
                continue
            shown = (side.terminal.title, state)
            if state is not None and state.turn != self.tui_turn:
                self.tui_turn, self.tui_since = state.turn, utc_now()
            if state is not None and state.stored and self.operations.current is None:
                await self.follow(state.session_id)
            self.changed()

    async def follow(self, session_id: str | None) -> None:
        """The terminal says which conversation it has open: the record follows, so that a resume finds it."""
        if session_id is not None and session_id not in (self.record.agent_session_id, *self.taken()):
            record = self.record.with_agent_session(session_id)
            await self.save(
                best_effort=True,
                agent_session_id=record.agent_session_id,
                agent_session_history=record.agent_session_history,
            )

    async def _watch_chat(self, held: Held[ChatSide]) -> None:
        reason = await held.value.ended()
        if self.chat is not held:
            return
        self.chat = None
        if self.operations.current is None:
            self.log.say("agent_gone", f"The agent ended: {reason}", level="warning")
        self.changed()
        await held.value.stop()
        await held.release()

    def _settle_end(self) -> None:
        """After an operation: a TUI that ended meanwhile ends the session now."""
        tui = self.tui
        if self.position.step is Step.TUI and tui is not None and tui.value.exit_code is not None:
            self.nursery.start_soon(self.program_ended, tui.value.exit_code)


def cause(exc: BaseException) -> str:
    """One sentence that says what went wrong."""
    if isinstance(exc, SideFailed | HybridmuxError):
        return str(exc)
    if isinstance(exc, OSError):
        return exc.strerror or str(exc)
    return f"{type(exc).__name__}: {exc}"
