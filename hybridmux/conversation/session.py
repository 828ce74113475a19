"""A hybrid session: its two sides, where it is, what is on disk about it, and who may do what when.

The session owns a nursery; sides, turns and operations run in it. An exception that is nobody's fault but
ours ends this session (it becomes `interrupted`), never the server.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import trio
from attrs import evolve

from hybridmux.budgets import Budgets
from hybridmux.conversation import watching
from hybridmux.conversation.barrier import Known
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.choice import Choice
from hybridmux.conversation.open_sides import OpenSides
from hybridmux.conversation.operations import Operations, Stopping
from hybridmux.conversation.outsiders import Outsiders
from hybridmux.conversation.phases import PhaseTimeout, Position, Step
from hybridmux.conversation.resting import framed
from hybridmux.conversation.sides import ChatSide, Plan, Sides, TuiSide
from hybridmux.conversation.sizing import Sizing
from hybridmux.conversation.stay import Stay
from hybridmux.conversation.supervised import supervised
from hybridmux.conversation.turns import Turns
from hybridmux.errors import Conflict, HybridmuxError
from hybridmux.problems import said
from hybridmux.store.records import Record, RecordStore
from hybridmux.wire.convert import Json
from hybridmux.wire.types import Outdated, Place, StateName, instant

log = logging.getLogger(__name__)
T = TypeVar("T")


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
        self.store, self.budgets = store, budgets
        self.bell = Bell()
        self._hub_bell = bell
        self._reconnect = reconnect
        self.position = Position(Step.ENDED, record.side)
        self.version = 0
        """Rises with each change that the chat state or the list shows."""
        self.state_cache: tuple[object, bytes] | None = None
        self.sizing = Sizing()
        self.log = ChatLog(budgets.chat_log_bytes, plan.profile.unoffered_commands)
        self.log.on_append = self.bell.ring
        self.turns = Turns(self, record.permission_mode or "auto")
        self.sides = OpenSides(
            sides,
            plan,
            lambda: self.nursery,
            tui_opened=partial(watching.tui_opened, self),
            chat_adopted=partial(watching.chat_adopted, self),
            chat_closed=self.turns.abandon,
        )
        self.operations = Operations(over=self.turns.go_on)
        self.outsiders = Outsiders(self)
        self.checking = False
        """The running switch still looks whether it can be done; nothing has been touched."""
        self.choice = Choice()
        self.id_change: Json | None = None
        self.queue_lost = 0
        self.outdated: list[Outdated] = []
        self.connector_missing: Json | None = None
        self.stay = Stay(record.created_at)
        """What is seen of the terminal while the session is there."""
        self.known = Known()
        """What the conversation held when the session last left the chat."""
        self.doubt: object = None
        """What was missing from a replay, and from which, when a switch was rolled back because of it."""
        self.stopping = False
        self.forced = False
        """The running switch was told not to wait for the turn."""
        self.rollback: trio.CancelScope | None = None
        """The roll-back that runs, so that a stopping server can end it."""
        self.taken: Callable[[], frozenset[str]] = frozenset
        """Agent sessions that other sessions of ours have open; the hub sets it."""
        self.opening: str | None = None
        """The agent session that the running operation is about to open: nobody else may."""
        self.over = trio.Event()
        """Set when the session has left the list for good or has ended."""
        self._nursery: trio.Nursery | None = None
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
            async with supervised(self.id, partial(self.end, "interrupted")) as self._nursery:
                self.nursery.start_soon(self.outsiders.watch)
                task_status.started()
                await self.over.wait()
                await self.operations.idle()
                self._nursery.cancel_scope.cancel()
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
        if not self.over.is_set():
            self.known = self.knowledge()
        await self.save(state=state, best_effort=True)
        self.over.set()
        self.changed()

    def knowledge(self) -> Known:
        """What is known of the conversation now, on whichever side it is."""
        if self.record.side == "tui":
            return self.known.after(self.stay)
        facts, turn = self.log.facts, self.turns.turn
        return Known(
            session_id=self.record.agent_session_id,
            heard=facts.heard,
            tools=facts.tools,
            last_end=instant(turn.ended_at) if turn else None,
        )

    # --- the record ---

    @property
    def activity(self) -> str:
        """What is under way, should the server die now: `idle` or `turn`."""
        in_terminal = self.position.step is Step.TUI and self.stay.turn in ("running", "asking")
        return "turn" if in_terminal or self.turns.running else "idle"

    async def save(self, *, best_effort: bool = False, **changes: Any) -> None:
        """Puts changes of the record on disk.

        Raises `StoreUnusable`, and nothing is changed then; `best_effort`: what happened counts all the same.
        """
        async with self._saving:
            wanted = evolve(self.record, queued=len(self.turns.queue.items), title=self.title, **changes)
            if wanted == self.record:
                return
            try:
                self.record = await self.store.put(wanted, keep=best_effort)
            except HybridmuxError as exc:
                if not best_effort:
                    raise
                log.warning("record not written: %s", exc, extra={"session": self.id})
                self.record = wanted
        self.changed()

    async def note_activity(self) -> None:
        """The turn's start or end and the queue's length, on disk."""
        if self.operations.current is None and not self.stopping:
            await self.save(best_effort=True, activity=self.activity)

    async def commit(self, session_id: str | None, *, side: Place, **changes: Any) -> None:
        """The conversation (None: one without an id yet) and its side, on disk. Raises `StoreUnusable`."""
        await self.save(side=side, **(self._moved(session_id) | changes))

    async def follow(self, session_id: str | None, *, unprompted: bool = False) -> None:
        """The terminal says which conversation it has open: the record follows, so that a resume finds it.

        `unprompted`: nothing was seen being said in it, and the agent could not open it again then. One that
        has had a prompt before keeps that.
        """
        if session_id is None:
            return
        was = self.record
        is_other = session_id != was.agent_session_id
        is_news = is_other or (was.unprompted and not unprompted)
        if not is_news or session_id in self.taken():  # in this order: it is asked at every change
            return
        mark = is_other and unprompted and not self._has_been_used(session_id)
        await self.save(best_effort=True, **(self._moved(session_id) | {"unprompted": mark}))

    def _has_been_used(self, session_id: str) -> bool:
        """Whether something was said in it here before."""
        used = {one.agent_session_id for one in self.store.all() if not one.unprompted}
        return session_id in used.union(self.record.agent_session_history)

    def _moved(self, session_id: str | None) -> dict[str, Any]:
        is_nothing = self.record.unprompted and not self.plan.profile.reopens_unprompted
        return self.record.moved(session_id, forget=is_nothing)

    # --- where it is ---

    @property
    def tui_now(self) -> TuiSide | None:
        """The terminal side if it can be watched now; None while moving and on the chat side."""
        if self.position.step is Step.TUI or self.position.step is Step.ENDED:
            return self.sides.tui.value if self.sides.tui else self.sides.last_tui
        return None

    def chat_now(self) -> ChatSide | None:
        """The connector, if it is there."""
        return self.sides.chat.value if self.sides.chat else None

    @property
    def title(self) -> str:
        """What the session shows: the program's or the agent's title."""
        if self.position.side == "acp" or self.sides.tui is None:
            return self.log.facts.title or self.record.title
        return self.sides.tui.value.terminal.title or self.record.title

    @property
    def on_chat(self) -> bool:
        """It rests on the chat side and nothing moves it: turns may begin."""
        return self.position.step is Step.ACP and self.operations.current is None and not self.stopping

    def require(self, place: Place) -> None:
        """Raises `Conflict` unless the session rests on that side."""
        if self.position.phase is not None or self.operations.current == "resume":
            raise Conflict(said("switching"), "switching")
        if self.position.step != place:
            where = "has ended" if self.position.step is Step.ENDED else "is on the other side"
            raise Conflict(f"the session {where}", "wrong_side")

    @contextmanager
    def phase(self, step: Step, seconds: float) -> Iterator[trio.CancelScope]:
        """One phase of an operation: checked against the table, shown, and under its deadline."""
        self.position.move(step)
        self.checking = False
        self.changed()
        try:
            with trio.fail_after(seconds) as scope:
                yield scope
        except trio.TooSlowError:
            raise PhaseTimeout(f"no end within {seconds:g} s") from None

    def arrive(self, step: Step) -> None:
        """The operation reaches a side, or gives up."""
        self.position.move(step)
        self.changed()

    async def connected(self) -> ChatSide:
        """The chat side; a connector that has gone, or knows too little, is started again on the same
        conversation."""

        async def connect() -> None:
            if not self.on_chat:
                raise Conflict(said("switching"), "switching")
            self.outsiders.check()
            await self._reconnect(self)

        return await self.sides.connected(
            connect, lambda: self.outsiders.left_traces and not self.turns.with_agent
        )

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Sets one of the agent's config options and records the value."""
        chat = await self.connected()
        await chat.set_option(option_id, value, self.log.take)
        await self.save(best_effort=True, config_values={**self.record.config_values, option_id: value})

    async def operate(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Runs one operation and waits for its outcome; 409 `switching` while another runs."""
        if self.stopping:
            raise Stopping("the server is stopping")

        async def whole() -> T:
            async with framed(self):
                return await work()

        return await self.operations.run(name, self.nursery, whole)
