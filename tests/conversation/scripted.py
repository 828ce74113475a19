"""Scripted sides: the switch runs over them with the mock clock, and every step is written down.

`World` is the play: what the agent has stored, what each program does when it is asked something, and the
list of what happened. It checks the rules that no test may break: never two programs on a conversation,
never a load or a resume while a prompt is open, never two of them on one connection.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace

import trio
from attrs import define, evolve, field
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.demo_profile import PROFILE
from hybridmux.agents.launch import Launch
from hybridmux.agents.profile import Profile, TuiState
from hybridmux.budgets import Budgets
from hybridmux.conversation import switch
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.lifecycle import create
from hybridmux.conversation.moves import reconnect
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import (
    Abilities,
    OccupiedElsewhere,
    Plan,
    PromptOutcome,
    SideFailed,
    Summary,
)
from hybridmux.errors import StoreUnusable
from hybridmux.journal import ByteJournal
from hybridmux.store.records import Record
from hybridmux.wire.sessions import SwitchResult

ID = "demo_1"


@define
class World:
    """What the programs of one play do. A behaviour is `ok`, `hang`, or an exception to raise."""

    id: str = ID
    """The agent session."""
    turn: str = "idle"
    """The terminal's turn when it starts."""
    stored: bool = True
    interrupt: str = "ok"
    quit: str = "ok"
    farewell: str = ""
    tui_starts: list[object] = field(factory=list)
    """Behaviours of the coming TUI starts, in order; `ok` when used up."""
    initialize: object = "ok"
    list_: object = "ok"
    new: object = "ok"
    load: object = "ok"
    resume: object = "ok"
    prompt: object = "ok"
    cancel: str = "ok"
    can_load: bool = True
    can_resume: bool = True
    replays_on_resume: bool = False
    """Against the rule."""
    answers: bool = True
    """Prompts get an answer with text."""
    uses_tools: bool = False
    """Prompts call a tool, which no replay shows."""
    remembers: bool = False
    """Prompts are in later replays."""
    draft: bool | None = None
    """What the terminal says of unsent text."""
    delay: Callable[[], float] = float
    """Seconds that each start, stop and call takes."""
    prompts_open: int = 0
    missing: str | None = None
    elsewhere: set[str] = field(factory=set)
    """Agent sessions that programs of others have open."""
    listed: list[str] = field(factory=lambda: [ID])
    """The agent sessions of the folder."""
    history: list[str] = field(factory=lambda: ["hello"])
    lag: int = 0
    """So many loads leave the last message out."""
    refusals: int = 0
    """So many loads find an active writer."""
    updated_at: str | None = None
    """What the agent's list says of when the conversation was changed."""
    options: dict[str, str | bool] = field(factory=dict)
    """The config options of a connector that has just opened a conversation."""
    refused: set[str] = field(factory=set)
    """Options that cannot be set."""
    reopens: bool = True
    """A conversation without a prompt can be opened again, and is listed."""
    prompted: set[str] = field(factory=set)
    """Conversations that are stored; only counts where `reopens` is false."""
    begun: int = 0
    """So many conversations have been begun where `reopens` is false."""
    store_fails_at: str | None = None
    """The activity or side whose record cannot be written."""
    happened: list[str] = field(factory=list)
    prompts: list[str] = field(factory=list)
    """What reached the agent, in order."""
    writers: set[str] = field(factory=set)
    violations: list[str] = field(factory=list)
    """Two programs on one conversation."""
    records: dict[str, Record] = field(factory=dict)

    def note(self, what: str) -> None:
        self.happened.append(what)

    def begin(self) -> str:
        """The id of a new conversation."""
        if self.reopens:
            return self.id
        self.begun += 1
        return f"{self.id}_{self.begun}"

    def sessions(self) -> list[str]:
        return self.listed if self.reopens else sorted(self.prompted)

    def reopen(self, session_id: str) -> None:
        """An agent that cannot reopen such a conversation is never asked to."""
        if not self.reopens and session_id not in self.prompted:
            self.violations.append(f"{session_id} has no prompt")
        assert not self.violations, self.violations

    def enter(self, who: str) -> None:
        self.require(not self.writers, f"{who} opens a conversation that {self.writers} has open")
        self.require(not self.prompts_open, f"{who} opens a conversation in the middle of a turn")
        self.writers.add(who)

    def require(self, holds: bool, rule: str) -> None:
        """Remembered, because a session survives what its programs raise."""
        if not holds:
            self.violations.append(rule)
            raise AssertionError(rule)


async def behave(behaviour: object) -> None:
    """Does what the script says."""
    await trio.lowlevel.checkpoint()
    if behaviour == "hang":
        await trio.sleep_forever()
    if isinstance(behaviour, Exception):
        raise behaviour


class ScriptedTui:
    """A terminal side."""

    def __init__(self, world: World, session_id: str | None) -> None:
        self.world = world
        if session_id is not None:
            world.reopen(session_id)
        self.session_id = session_id or (world.id if world.reopens else None)
        self.turn = world.turn
        self.started_at = 0.0
        self.bell = Bell()
        self.code: int | None = None
        self.stop_key_at = -1.0
        self.report = None
        self.terminal = SimpleNamespace(
            title="",
            cols=80,
            rows=24,
            journal=ByteJournal(1024),
            epoch="e",
            exit_code=None,
            changed=self.changed,
        )
        world.enter("tui")

    async def changed(self, seen: int) -> int:
        return await self.bell.wait(seen)

    @property
    def exit_code(self) -> int | None:
        return self.code

    def set(self, turn: str) -> None:
        self.turn = turn
        if turn == "running" and self.session_id is None:
            self.session_id = self.world.begin()
            self.world.prompted.add(self.session_id)
        self.bell.ring()

    def die(self, code: int) -> None:
        self.code = self.terminal.exit_code = code
        self.world.writers.discard("tui")
        self.bell.ring()

    def state(self) -> TuiState:
        return TuiState(
            turn=self.turn,
            ready=True,
            session_id=self.session_id,
            stored=self.world.stored,
            draft=self.world.draft,
        )

    async def write(self, data: bytes) -> None:
        await self.press([SimpleNamespace(keys=data, pause=0)])

    async def watch(self, want):
        while True:
            if self.code is not None:
                raise SideFailed(f"the terminal program ended ({self.code})")
            if want(self.state()):
                return self.state()
            await self.bell.wait(self.bell.version)

    async def ready(self) -> TuiState:
        behaviour = self.world.tui_starts.pop(0) if self.world.tui_starts else "ok"
        await trio.sleep(self.world.delay())
        await behave(behaviour)
        return self.state()

    async def settled(self) -> TuiState:
        await trio.lowlevel.checkpoint()
        return self.state()

    async def press(self, keys) -> None:
        for press in keys:
            await trio.sleep(press.pause)
            if press.keys == b"\x1b":
                self.world.note("interrupt")
                if self.world.interrupt == "ok":
                    self.set("idle")
                elif self.world.interrupt == "exit":
                    self.die(143)

    def glance(self) -> TuiState:
        return self.state()

    def pids(self) -> frozenset[int]:
        return frozenset()

    def strike(self) -> None:
        if self.code is None:
            self.die(-9)

    async def stop(self, *, clean: bool) -> str:
        self.world.note("quit" if clean else "kill")
        await trio.sleep(self.world.delay())
        if self.world.quit == "hang":
            with trio.move_on_after(15):
                await self.ended()
        if self.code is None:
            self.die(0 if clean else -9)
        return self.world.farewell

    async def ended(self) -> int:
        while self.code is None:
            await self.bell.wait(self.bell.version)
        return self.code


class ScriptedChat:
    """A chat side."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.abilities = Abilities(load=world.can_load, resume=world.can_resume)
        self.sink = lambda _: None
        self.asker = None
        self.report = None
        self.has_opened = False
        self.gone = trio.Event()
        self.finish_turn = trio.Event()
        self.session = ""
        self.options: dict[str, str | bool] = {}

    def opened(self, session_id: str) -> dict:
        """The answer to new, load and resume."""
        self.session, self.options = session_id, dict(self.world.options)
        return self.configuration()

    def configuration(self) -> dict:
        return {
            "configOptions": [
                {"id": name, "name": name, "currentValue": value, "type": kind}
                for name, value in self.options.items()
                for kind in ("boolean" if isinstance(value, bool) else "select",)
            ]
        }

    def update(self, kind: str, text: str, message_id: str) -> None:
        content = {"type": "text", "text": text}
        self.sink({"update": {"sessionUpdate": kind, "content": content, "messageId": message_id}})

    async def sessions(self) -> list[Summary]:
        await behave(self.world.list_)
        await trio.sleep(self.world.delay())
        when = self.world.updated_at
        return [Summary(session_id=each, title=each, updated_at=when) for each in self.world.sessions()]

    async def new(self):
        self.world.enter("chat")
        self.world.note("new")
        await behave(self.world.new)
        session_id = self.world.begin()
        return session_id, self.opened(session_id)

    def enter(self, session_id: str) -> None:
        self.world.reopen(session_id)
        self.world.require(not self.has_opened, "a connection opens a second conversation")
        self.has_opened = True
        self.world.enter("chat")

    async def load(self, session_id: str):
        self.enter(session_id)
        self.world.note(f"load {session_id}")
        if self.world.refusals:
            self.world.refusals -= 1
            raise OccupiedElsewhere("thread_active_writer")
        await self.replay(self.world.history[: -1 if self.world.lag else None])
        self.world.lag = max(0, self.world.lag - 1)
        await behave(self.world.load)
        return self.opened(session_id)

    async def replay(self, history: list[str]) -> None:
        await trio.sleep(self.world.delay())
        for index, text in enumerate(history):
            self.update("user_message_chunk", text, f"m{index}")
            await trio.lowlevel.checkpoint()

    def replay_at_once(self, history: list[str]) -> None:
        for index, text in enumerate(history):
            self.update("user_message_chunk", text, f"m{index}")
            self.update("agent_message_chunk", f"echo: {text}", f"a-{text}")

    async def resume(self, session_id: str):
        self.enter(session_id)
        self.world.note(f"resume {session_id}")
        if self.world.replays_on_resume:
            self.replay_at_once(self.world.history)
        await behave(self.world.resume)
        return self.opened(session_id)

    async def prompt(self, blocks) -> PromptOutcome:
        self.world.prompts_open += 1
        try:
            return await self.turn(blocks[0]["text"])
        finally:
            self.world.prompts_open -= 1

    async def turn(self, text: str) -> PromptOutcome:
        if self.world.prompt == "lost":
            self.leave()
            raise SideFailed("the agent ended")
        self.world.prompted.add(self.session)
        self.world.note(f"prompt {text}")
        self.world.prompts.append(text)
        if self.world.remembers:
            self.world.history.append(text)
        if self.world.uses_tools:
            self.sink({"update": {"sessionUpdate": "tool_call", "toolCallId": f"t-{text}", "title": "ls"}})
        if self.world.answers:
            self.update("agent_message_chunk", f"echo: {text}", f"a-{text}")
        if self.world.prompt == "open":
            await self.finish_turn.wait()
            if self.gone.is_set():
                raise SideFailed("the agent ended")
            return PromptOutcome(stop_reason="cancelled")
        await behave(self.world.prompt)
        return PromptOutcome(stop_reason="end_turn")

    async def cancel(self) -> None:
        self.world.note("cancel")
        if self.world.cancel == "ok":
            self.finish_turn.set()

    async def set_option(self, option_id, value):
        self.world.note(f"set {option_id}={value}")
        await trio.lowlevel.checkpoint()
        if option_id in self.world.refused:
            raise SideFailed("no such value")
        self.options[option_id] = value
        return self.configuration()

    async def stop(self) -> None:
        if not self.gone.is_set():
            self.world.note("stop chat")
            await trio.sleep(self.world.delay())
        self.leave()

    async def kill(self) -> None:
        self.world.note("kill chat")
        self.leave()

    def pids(self) -> frozenset[int]:
        return frozenset()

    def strike(self) -> None:
        self.leave()

    def leave(self) -> None:
        self.world.writers.discard("chat")
        self.gone.set()
        self.finish_turn.set()

    async def ended(self) -> str:
        await self.gone.wait()
        return "exit code 1"


class ScriptedSides:
    """Opens scripted sides and remembers the newest."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.tui: ScriptedTui | None = None
        self.chat: ScriptedChat | None = None

    @asynccontextmanager
    async def open_tui(self, plan, session_id, cols, rows) -> AsyncIterator[ScriptedTui]:
        self.world.note(f"tui {session_id or 'new'}")
        self.tui = tui = ScriptedTui(self.world, session_id)
        try:
            yield tui
        finally:
            if tui.code is None:
                tui.die(-9)

    @asynccontextmanager
    async def open_chat(self, plan) -> AsyncIterator[ScriptedChat]:
        self.world.note("connector")
        await trio.sleep(self.world.delay())
        await behave(self.world.initialize)
        self.chat = chat = ScriptedChat(self.world)
        try:
            yield chat
        finally:
            chat.leave()

    def missing_program(self, plan) -> str | None:
        return None

    def missing_connector(self, plan) -> str | None:
        return self.world.missing

    async def obstacles(self, plan, side) -> list[str]:
        return []

    async def outdated(self, plan, chat) -> list:
        return []

    def occupied(self, plan, session_id, ours) -> bool:
        return session_id in self.world.elsewhere


class ScriptedStore:
    """Records in memory; one write can be made to fail."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def put(self, record: Record, *, keep: bool = False) -> Record:
        await trio.lowlevel.checkpoint()
        old = self.world.records.get(record.id)
        if self.world.store_fails_at is not None and (
            record.activity == self.world.store_fails_at
            or (old is not None and old.side != record.side and record.side == self.world.store_fails_at)
        ):
            raise StoreUnusable("the disk is full", "/data/hybrid-sessions.json")
        self.world.records[record.id] = record
        return record

    async def remove(self, record_id: str) -> None:
        self.world.records.pop(record_id, None)


@define
class Play:
    """One session on stage."""

    world: World
    session: HybridSession
    sides: ScriptedSides

    @property
    def record(self) -> Record:
        return self.world.records[self.session.id]

    async def to_chat(self, chosen: str | None = None) -> SwitchResult:
        """Terminal → chat."""
        return await self.session.operate("switch", partial(switch.to_chat, self.session, chosen))

    async def to_terminal(self) -> SwitchResult:
        """Chat → terminal."""
        return await self.session.operate("switch", partial(switch.to_terminal, self.session))

    async def turn_in_terminal(self, text: str) -> None:
        """A turn in the terminal that the agent will replay."""
        self.sides.tui.set("running")
        await wait_all_tasks_blocked()
        self.world.history.append(text)
        self.sides.tui.set("idle")
        await wait_all_tasks_blocked()

    async def turn_in_chat(self, text: str) -> None:
        """A prompt, to its turn's end."""
        await self.session.turns.prompt(text)
        await wait_all_tasks_blocked()

    def texts(self) -> list[str]:
        """User and agent texts of the timeline, in order."""
        entries = self.session.log.journal.read(self.session.log.journal.tail, 10**9)
        return [e.event["content"]["text"] for e in entries if e.event["type"] == "message.append"]

    def events(self, kind: str) -> list[dict]:
        entries = self.session.log.journal.read(self.session.log.journal.tail, 10**9)
        return [entry.event for entry in entries if entry.event["type"] == kind]


@asynccontextmanager
async def play(
    world: World,
    place: str = "tui",
    *,
    profile: Profile = PROFILE,
    sides: ScriptedSides | None = None,
    config: dict | None = None,
    record: Record | None = None,
    **budgets: float,
) -> AsyncIterator[Play]:
    """A session that rests on `place`; `config`: its recorded option values; `record`: one that has ended."""
    sides = sides or ScriptedSides(world)
    profile = evolve(profile, reopens_unprompted=world.reopens)
    launch = Launch(agent="demo", program="hybridmux-demo", leading=("tui",))
    plan = Plan(profile=profile, launch=launch, session="s1", cwd="/", env={})
    now = "2026-01-01T00:00:00Z"
    begun = Record(
        id="s1", name="play", config_id="c", agent="demo", cwd="/", cmd=[], side=place,
        agent_session_id=ID, config_values=config or {}, created_at=now, updated_at=now,
    )  # fmt: skip
    session = HybridSession(
        record or begun,
        plan,
        sides=sides,
        store=ScriptedStore(world),
        budgets=evolve(Budgets(), **budgets),
        bell=Bell(),
        reconnect=reconnect,
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(session.run)
        if record is None:
            await create(session, place)
        world.happened.clear()
        yield Play(world, session, sides)
        nursery.cancel_scope.cancel()
    assert world.violations == []
