"""A session on scripted sides, and what a test wants to know of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio
from attrs import define, evolve
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.demo_profile import PROFILE
from hybridmux.agents.launch import Launch
from hybridmux.agents.profile import Profile
from hybridmux.budgets import Budgets
from hybridmux.conversation import switch
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.lifecycle import create
from hybridmux.conversation.moves import reconnect
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import (
    Plan,
)
from hybridmux.conversation.view import chat_state
from hybridmux.store.records import Record
from hybridmux.wire.sessions import SwitchResult

from .scripted import ScriptedSides, ScriptedStore
from .world import ID, World

WATCHED = evolve(PROFILE, evidence="locks")
"""An agent whose files tell who has a conversation open."""


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


FREE = {"available": True}


def eligibility(p: Play) -> dict[str, object]:
    """Whether the session may move, as in the chat state."""
    shown: dict[str, object] = chat_state(p.session)["eligibility"]
    return shown


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
        agent_session_id=None if world.early else ID, config_values=config or {}, created_at=now,
        updated_at=now,
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
