"""A hub on scripted sides, driven by random steps; what must hold is checked after each of them.

The steps are plain data, so that hypothesis can shrink a failing play; they run inside one `trio.run` on
the mock clock, where hours of deadlines take no time.
"""

import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial

import trio
from attrs import define, evolve, field
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.registry import Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation import switch
from hybridmux.conversation.hub import Hub
from hybridmux.conversation.outsiders import Occupied
from hybridmux.conversation.phases import RESTING, Step
from hybridmux.conversation.session import HybridSession
from hybridmux.errors import HybridmuxError, NotFound
from hybridmux.wire.sessions import CreateSession, ResumeRequest, SwitchRequest

from .backstage import Configs, Loud, Records, Stage
from .play import WATCHED
from .scripted import ScriptedSides

REQUEST_ID = "request-1"
LONGEST = 4000.0
"""Seconds after which no operation may be under way: more than all deadlines together."""
BEAT = 30.0
"""Seconds between looks at who else is there; so long because the plays last hours."""
ALLOWED = {409, 502, 503, 404}
"""What a request may be refused with here; 500 is a bug and 400 a mistake of the machine."""


@define
class Machine:
    """One server's sessions and everybody who asks for something."""

    hub: Hub
    stage: Stage
    records: Records
    nursery: trio.Nursery
    loud: Loud
    ids: list[str] = field(factory=list)
    said: list[tuple[str, str]] = field(factory=list)
    """Session and text of every message that was acknowledged."""
    numbers: Iterator[int] = field(factory=itertools.count)
    drafts: list[str] = field(factory=list)
    reborn: set[tuple[str, str]] = field(factory=set)
    """Messages of an earlier run of a session that has been resumed since."""
    open: int = 0
    """Requests that have no answer yet."""

    # --- steps ---

    async def do(self, step: tuple) -> None:
        """One step, then a moment for what it sets off, then what must hold."""
        verb, *args = step
        await getattr(self, f"do_{verb}")(*args)
        await wait_all_tasks_blocked()
        self.check()

    async def do_race(self, one: tuple, other: tuple) -> None:
        """Two things at once."""
        for verb, *args in (one, other):
            await getattr(self, f"do_{verb}")(*args)

    async def do_option(self, at: int) -> None:
        session = self.session(at)
        if session is None:
            return

        async def work() -> None:
            session.require("acp")
            await session.set_option("effort", "high")

        self.ask(work)

    async def do_create(self, side: str) -> None:
        wanted = CreateSession(config_id="c1", start_side=side)

        async def work() -> None:
            session = await self.hub.create(wanted)
            self.ids.append(session.id)

        self.ask(work)

    async def do_switch(self, at: int, to: str, client_leaves: bool) -> None:
        session = self.session(at)
        if session is None:
            return
        body = SwitchRequest(client_request_id=REQUEST_ID, to=to)

        async def work() -> None:
            result = await switch.perform(session, body)
            if result is not None and result.draft:
                self.drafts.append(result.draft)

        self.ask(work, leaves=client_leaves and to == "acp")

    async def do_choose(self, at: int, choice: str) -> None:
        session = self.session(at)
        if session is not None:
            body = SwitchRequest(client_request_id=REQUEST_ID, choice=choice)
            self.ask(partial(switch.perform, session, body))

    async def do_close(self, at: int) -> None:
        if self.ids:
            self.ask(partial(self.hub.close, self.id(at)))

    async def do_resume(self, at: int, side: str | None) -> None:
        if self.ids:
            session_id = self.id(at)
            body = ResumeRequest(client_request_id=REQUEST_ID, side=side)

            async def work() -> None:
                session = await self.hub.resume(session_id, body)
                waiting = [text for sid, text in self.said if sid == session_id]
                assert session.queue_lost <= len(waiting)
                self.reborn.update((session_id, text) for text in waiting)

            self.ask(work)

    async def do_remove(self, at: int) -> None:
        if self.ids:
            self.ask(partial(self.hub.remove_record, self.id(at)))

    async def do_say(self, at: int) -> None:
        session = self.session(at)
        if session is None:
            return
        text = f"message {next(self.numbers)}"

        async def work() -> None:
            session.require("acp")
            self.said.append((session.id, text))
            try:
                await session.turns.prompt(text)
            except Occupied:  # nothing was kept of it
                self.said.remove((session.id, text))
                raise

        self.ask(work)

    async def do_busy(self, at: int) -> None:
        """A chat turn that goes on, and messages behind it."""
        await self.do_set(at, "prompt", "open")
        for _ in range(3):
            await self.do_say(at)
            await wait_all_tasks_blocked()

    async def do_cancel(self, at: int) -> None:
        session = self.session(at)
        if session is not None:
            self.ask(session.turns.cancel)

    async def do_unpause(self, at: int) -> None:
        session = self.session(at)
        if session is not None:
            self.ask(session.turns.unpause)

    async def do_turn(self, at: int, turn: str) -> None:
        """The terminal's turn begins or ends by itself."""
        sides = self.sides(at)
        if sides is not None and sides.tui is not None and sides.tui.code is None:
            sides.tui.set(turn)

    async def do_exit(self, at: int, code: int) -> None:
        sides = self.sides(at)
        if sides is not None and sides.tui is not None and sides.tui.code is None:
            sides.tui.die(code)

    async def do_lose(self, at: int) -> None:
        """The connector dies."""
        sides = self.sides(at)
        if sides is not None and sides.chat is not None:
            sides.chat.leave()

    async def do_visit(self, at: int, there: bool) -> None:
        """A program of others opens a session's conversation, or leaves it."""
        session = self.session(at)
        if session is not None:
            found = session.record.agent_session_id
            self.stage.at(session.id).world.elsewhere = {found} if there and found else set()

    async def do_finish(self, at: int) -> None:
        """The chat's turn ends by itself."""
        sides = self.sides(at)
        if sides is not None and sides.chat is not None:
            sides.chat.finish_turn.set()

    async def do_set(self, at: int, name: str, value: object) -> None:
        """A behaviour of the programs from now on."""
        sides = self.sides(at)
        if sides is not None:
            setattr(sides.world, name, [value] if name == "tui_starts" else value)

    async def do_disk(self, full: bool) -> None:
        self.records.full = full

    async def do_wait(self, seconds: float) -> None:
        await trio.sleep(seconds)

    # --- parts ---

    def id(self, at: int) -> str:
        """One of the sessions that were created."""
        return self.ids[at % len(self.ids)]

    def session(self, at: int) -> HybridSession | None:
        """The same, if it is in the list."""
        try:
            return self.hub.hybrid(self.id(at)) if self.ids else None
        except NotFound:
            return None

    def sides(self, at: int) -> ScriptedSides | None:
        return self.stage.at(self.id(at)) if self.ids else None

    def ask(self, work: Callable[[], Awaitable[object]], *, leaves: bool = False) -> None:
        """A request whose client may leave before the answer."""

        async def request() -> None:
            self.open += 1
            try:
                with trio.move_on_after(0.5 if leaves else float("inf")):
                    await work()
            except HybridmuxError as exc:
                refusal = exc
            else:
                return
            finally:
                self.open -= 1
            assert refusal.status in ALLOWED, repr(refusal)
            assert str(refusal)

        self.nursery.start_soon(request)

    # --- what must hold ---

    def check(self) -> None:
        """After every step, whatever happened."""
        assert self.loud.records == []
        for sides in self.stage.sides.values():
            assert sides.world.violations == []
            repeated = [text for text, count in Counter(sides.world.prompts).items() if count > 1]
            assert repeated == [], "delivered twice"
        for session in self.hub.all():
            self.check_session(session)

    def check_session(self, s: HybridSession) -> None:
        """Where one session is, in all its tellings."""
        if s.operations.current is not None:
            return
        world = self.stage.at(s.id).world
        assert s.position.step in RESTING
        assert s.position.side in ("tui", "acp")
        assert s.position.phase is None
        if s.position.step is Step.TUI:
            assert world.writers <= {"tui"}
            assert s.sides.chat is None
            assert s.sides.tui is not None
            assert s.sides.tui.value.exit_code is None, "its program has ended and nobody took notice"
        elif s.position.step is Step.ACP:
            assert world.writers <= {"chat"}
            assert s.sides.tui is None
            if s.sides.chat is not None:
                chosen = s.record.config_values.get("effort", "low")
                assert self.stage.at(s.id).chat.options == {"effort": chosen}, "an option was lost"
            queue = s.turns.queue
            assert s.turns.running or queue.paused or not queue.items, "the queue stands still"
        else:
            assert world.writers == set()
            assert s.record.state != "active"
        if s.position.step is not Step.ENDED:
            assert s.record.state == "active"
            assert s.record.side == s.position.side
            assert s.record.activity != "switching"
            if not self.records.full:
                stored = self.records.items[s.id]
                assert (stored.side, stored.state) == (s.record.side, "active") or stored != s.record

    async def come_to_rest(self) -> None:
        """Nothing breaks any more: every request gets its answer, every session a place."""
        self.records.full = False
        await trio.sleep(LONGEST)
        await wait_all_tasks_blocked()
        self.check()
        assert self.open == 0, "a request has no answer"
        for session in self.hub.all():
            assert session.operations.current is None
        self.check_messages()

    def check_messages(self) -> None:
        """Each acknowledged message has reached the agent, came back, waits, or its session has ended."""
        given_back = "\n\n".join(self.drafts).split("\n\n")
        for session_id, text in self.said:
            world = self.stage.at(session_id).world
            if text in world.prompts or text in given_back or (session_id, text) in self.reborn:
                continue
            try:
                session = self.hub.hybrid(session_id)
            except NotFound:
                continue
            if session.position.step is Step.ENDED or session.record.state != "active":
                continue
            waiting = [item.text for item in session.turns.queue.items]
            shown = [
                entry.event["content"].get("text")
                for entry in session.log.journal.read(session.log.journal.tail, 10**9)
                if entry.event["type"] == "message.append"
            ]
            assert text in (*waiting, *shown), f"{text} is lost"

    async def stop(self) -> None:
        """The server's stop: nothing lives, nothing is active."""
        began = trio.current_time()
        await self.hub.shut_down()
        assert trio.current_time() - began <= self.hub.budgets.shutdown_grace
        for name, sides in self.stage.sides.items():
            assert sides.world.writers == set(), name
        assert [r.id for r in self.records.all() if r.state == "active"] == []


@asynccontextmanager
async def machine(*, reopens: bool = True, early: bool = False):
    """A hub with nothing in it.

    `reopens`: its agent can open a conversation again that has no prompt; `early`: its terminal states one
    from the start.
    """
    stage, records, loud = Stage(reopens), Records(), Loud()
    stage.more = {"early": early}
    hub = Hub(
        sides=stage,
        registry=Registry([evolve(WATCHED, reopens_unprompted=reopens)]),
        records=records,
        configs=Configs(),
        budgets=Budgets(evidence_beat=BEAT),
        run=None,
        environ={},
    )
    logger = logging.getLogger("hybridmux")
    logger.addHandler(loud)
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(hub.serve)
            yield Machine(hub, stage, records, nursery, loud)
            nursery.cancel_scope.cancel()
    finally:
        logger.removeHandler(loud)
