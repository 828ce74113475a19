"""What a hub needs around scripted sides: a world for each session, records and configs in memory."""

import logging

import trio

from hybridmux.errors import StoreUnusable
from hybridmux.store.configs import Config
from hybridmux.store.records import Record

from .scripted import ScriptedSides
from .world import World


class Stage:
    """The sides of every session, each with a world of its own."""

    def __init__(self, reopens: bool) -> None:
        self.sides: dict[str, ScriptedSides] = {}
        self._reopens = reopens
        self.more: dict = {}
        """What else the coming worlds are made with."""

    def at(self, session: str) -> ScriptedSides:
        """The sides of one session."""
        if session not in self.sides:
            name = f"demo_{len(self.sides) + 1}"
            world = World(
                id=name,
                listed=[name],
                history=[],
                reopens=self._reopens,
                options={"effort": "low"},
                **self.more,
            )
            self.sides[session] = ScriptedSides(world)
        return self.sides[session]

    def open_tui(self, plan, session_id, cols, rows):
        return self.at(plan.session).open_tui(plan, session_id, cols, rows)

    def open_chat(self, plan):
        return self.at(plan.session).open_chat(plan)

    async def obstacles(self, plan, side):
        return await self.at(plan.session).obstacles(plan, side)

    async def outdated(self, plan, chat) -> list:
        return []

    def openers(self, plan, session_id):
        return self.at(plan.session).openers(plan, session_id)

    async def openers_aside(self, plan, session_id):
        return await self.at(plan.session).openers_aside(plan, session_id)

    def missing_connector(self, plan) -> str | None:
        return self.at(plan.session).world.missing


class Records:
    """The record file in memory; it can be full."""

    def __init__(self) -> None:
        self.items: dict[str, Record] = {}
        self.full = False

    def check(self) -> None:
        """Readable all the time."""

    def all(self) -> list[Record]:
        return list(self.items.values())

    def get(self, record_id: str) -> Record | None:
        return self.items.get(record_id)

    async def put(self, record: Record, *, new: bool = False, keep: bool = False) -> Record:
        if not new and record.id not in self.items:
            return record
        if keep:
            self.items[record.id] = record
        await self._write()
        if not new and record.id not in self.items:
            return record
        self.items[record.id] = record
        return record

    async def catch_up(self) -> None:
        """Nothing is behind."""

    async def remove(self, record_id: str) -> None:
        await self._write()
        self.items.pop(record_id, None)

    async def _write(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.full:
            raise StoreUnusable("the disk is full", "/data/hybrid-sessions.json")


class Configs:
    """One launch config."""

    config = Config(id="c1", name="demo", cmd=["hybridmux-demo", "tui"], cwd="/", hybrid=True)

    def get(self, config_id: str) -> Config:
        return self.config

    def has(self, config_id: str) -> bool:
        return True


class Loud(logging.Handler):
    """Remembers what the product logs as a failure of its own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.records.append(f"{record.getMessage()}: {record.exc_info[1]!r}")
