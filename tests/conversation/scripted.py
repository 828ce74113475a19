"""Scripted sides: the switch runs over them on the mock clock, and each step is written down in a `World`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import trio

from hybridmux.agents.installed import Obstacle
from hybridmux.agents.profile import TuiState
from hybridmux.agents.testimony import Openers
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.sides import (
    Abilities,
    OccupiedElsewhere,
    PromptOutcome,
    SideFailed,
    Summary,
)
from hybridmux.errors import StoreUnusable
from hybridmux.journal import ByteJournal
from hybridmux.store.records import Record
from hybridmux.wire.chat import Outdated

from .world import World, behave

STRANGER = Openers(frozenset({(-1, 0)}))
"""A program that is none of ours."""


class ScriptedTui:
    """A terminal side."""

    def __init__(self, world: World, session_id: str | None) -> None:
        self.world = world
        if session_id is not None:
            world.reopen(session_id)
        self.session_id = session_id or (world.id if world.reopens else None)
        if world.early and session_id is None:
            self.session_id = world.begin()
        self.turn = world.turn
        self.started_at = 0.0
        self.entered, self.unsent = True, False
        self.bell = Bell()
        self.code: int | None = None
        self.stop_key_at = self.enter_at = -1.0
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

    def set(self, turn: str, *, entered: bool = True) -> None:
        """Another turn state; `entered`: somebody has pressed Enter."""
        self.turn = turn
        if entered:
            self.enter_at = trio.current_time()
        self.world.stored = self.world.stored or (self.world.stores_at_end and turn == "idle")
        if turn == "running" and entered and not self.world.silent:
            self.session_id = self.session_id or self.world.begin()
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
            session_id=None if self.world.silent else self.session_id,
            stored=None if self.world.silent or self.world.early else self.world.stored,
            source=None if self.turn == "unknown" else self.world.source,
            draft=self.world.draft,
            not_root=self.world.not_root,
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

    async def sessions(self, until=None) -> list[Summary]:
        await behave(self.world.list_)
        await trio.sleep(self.world.delay())
        return [
            Summary(
                session_id=each, title=each, updated_at=self.world.updated.get(each, self.world.updated_at)
            )
            for each in self.world.sessions()
        ]

    async def new(self, opened) -> str:
        self.world.enter("chat")
        self.world.note("new")
        await behave(self.world.new)
        session_id = self.world.begin()
        opened(self.opened(session_id))
        return session_id

    def enter(self, session_id: str) -> None:
        self.world.reopen(session_id)
        self.world.require(not self.has_opened, "a connection opens a second conversation")
        self.has_opened = True
        self.world.enter("chat")

    async def load(self, session_id: str, opened) -> None:
        self.enter(session_id)
        self.world.note(f"load {session_id}")
        if self.world.refusals:
            self.world.refusals -= 1
            raise OccupiedElsewhere("thread_active_writer")
        await self.replay(self.world.history[: -1 if self.world.lag else None])
        self.world.lag = max(0, self.world.lag - 1)
        await behave(self.world.load)
        opened(self.opened(session_id))

    async def replay(self, history: list[str]) -> None:
        await trio.sleep(self.world.delay())
        for index, text in enumerate(history):
            self.update("user_message_chunk", text, f"m{index}")
            await trio.lowlevel.checkpoint()

    def replay_at_once(self, history: list[str]) -> None:
        for index, text in enumerate(history):
            self.update("user_message_chunk", text, f"m{index}")
            self.update("agent_message_chunk", f"echo: {text}", f"a-{text}")

    async def resume(self, session_id: str, opened) -> None:
        self.enter(session_id)
        self.world.note(f"resume {session_id}")
        if self.world.replays_on_resume:
            self.replay_at_once(self.world.history)
        await behave(self.world.resume)
        opened(self.opened(session_id))

    async def prompt(self, blocks, sent) -> PromptOutcome:
        sent()
        self.world.prompts_open += 1
        try:
            return await self.turn(blocks[0]["text"])
        finally:
            self.world.prompts_open -= 1

    async def turn(self, text: str) -> PromptOutcome:
        self.world.require(self.session not in self.world.elsewhere, "two programs write one conversation")
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

    async def set_option(self, option_id, value, taken) -> None:
        self.world.note(f"set {option_id}={value}")
        await trio.lowlevel.checkpoint()
        if option_id in self.world.refused:
            raise SideFailed("no such value")
        self.options[option_id] = value
        taken(self.configuration())

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

    @property
    def over(self) -> bool:
        return self.gone.is_set()

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

    def missing_connector(self, plan) -> str | None:
        return self.world.missing

    async def obstacles(self, plan, side) -> list[Obstacle]:
        text = self.world.missing if side == "acp" else self.world.no_program
        return [Obstacle(side=side, text=text, missing=True)] if text else []

    async def outdated(self, plan, chat) -> list[Outdated]:
        return self.world.outdated

    def openers(self, plan, session_id) -> Openers:
        self.world.looks += 1
        return STRANGER if session_id in self.world.elsewhere else Openers()

    async def openers_aside(self, plan, session_id) -> Openers:
        await trio.sleep(self.world.delay())
        return self.openers(plan, session_id)


class ScriptedStore:
    """Records in memory; one write can be made to fail."""

    def __init__(self, world: World) -> None:
        self.world = world

    def check(self) -> None:
        """Readable all the time."""

    def all(self) -> list[Record]:
        return list(self.world.records.values())

    async def put(self, record: Record, *, new: bool = False, keep: bool = False) -> Record:
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
