"""Two phases that real programs do not stay in, held by a script: starting a chat, loading a terminal."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import trio
from attrs import define, evolve, field
from trio.testing import wait_all_tasks_blocked

from hybridmux.conversation import switch
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import SideFailed
from hybridmux.errors import HybridmuxError

from .play import Play, play
from .world import ID, World

OTHER = "demo_2"
HELD = {"to_chat": "starting", "to_terminal": "loading"}
ORIGIN = {"to_chat": "tui", "to_terminal": "acp"}


@define
class Held:
    """A switch that stays in its phase until it is let go."""

    play: Play
    direction: str
    go_on: trio.Event = field(factory=trio.Event)
    asking: trio.CancelScope = field(factory=trio.CancelScope)
    outcome: list[Any] = field(factory=list)
    """What was answered: a result, or the error."""

    @property
    def phase(self) -> str | None:
        """As clients see it."""
        return self.play.session.position.phase

    async def ask(self) -> None:
        """Asks for the switch as a request does."""
        s = self.play.session
        to_chat, to_terminal = partial(switch.to_chat, s, None), partial(switch.to_terminal, s)
        work = to_chat if self.direction == "to_chat" else to_terminal
        with self.asking:
            try:
                self.outcome.append(await s.operate("switch", work))
            except HybridmuxError as exc:
                self.outcome.append(exc)

    async def ended(self) -> Any:
        """Waits until nothing moves any more; what was answered."""
        await self.play.session.operations.idle()
        await wait_all_tasks_blocked()
        return self.outcome[0] if self.outcome else None

    async def until_let_go(self) -> None:
        """Waits; raises `SideFailed` when the connector that is asked ends before."""
        gone = self.play.sides.chat.gone
        async with trio.open_nursery() as nursery:
            for event in (gone, self.go_on):
                nursery.start_soon(_cancel_when, event, nursery.cancel_scope)
        if not self.go_on.is_set():
            raise SideFailed("the connector ended")

    def unpaint(self) -> None:
        """The terminal's first words were not its last: it is not ready any more until it is let go."""
        tui = self.play.sides.tui
        painted = tui.state
        tui.state = lambda: evolve(painted(), ready=self.go_on.is_set())

    def let_go(self) -> None:
        """On with the switch."""
        self.go_on.set()
        if self.play.sides.tui is not None:
            self.play.sides.tui.bell.ring()


async def _cancel_when(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


async def through_stopping(held: Held, list_: object, nursery: trio.Nursery) -> None:
    """To the chat: the terminal names another conversation as it ends, so the list is asked for once more."""
    world = held.play.world
    world.quit, world.farewell, world.listed = "hang", f"hybridmux-demo tui --resume {OTHER}", [ID, OTHER]
    nursery.start_soon(held.ask)
    await wait_all_tasks_blocked()
    assert held.phase == "stopping"
    world.list_ = list_


@asynccontextmanager
async def holding(direction: str) -> AsyncIterator[Held]:
    """A switch in the phase of `HELD`; it is let go at the latest when the body has ended."""
    async with play(World(), ORIGIN[direction]) as p, trio.open_nursery() as nursery:
        held = Held(p, direction)
        if direction == "to_chat":
            await through_stopping(held, held.until_let_go, nursery)
        else:
            p.world.tui_starts = [_sync(held.unpaint)]
            nursery.start_soon(held.ask)
        with trio.fail_after(60):
            while held.phase != HELD[direction]:
                await p.session.bell.wait(p.session.bell.version)
        await wait_all_tasks_blocked()
        assert held.outcome == []
        yield held
        held.let_go()
        await held.ended()
        nursery.cancel_scope.cancel()


def _sync(function: Any) -> Any:
    async def call() -> None:
        function()

    return call


def rests_on(p: Play, step: Step, session_id: str = ID) -> None:
    """The session is on one side and nowhere else, and its record says so."""
    assert p.session.position.step is step
    assert p.world.writers == {"tui" if step is Step.TUI else "chat"}
    assert (p.record.side, p.record.state, p.record.activity) == (step.value, "active", "idle")
    assert p.record.agent_session_id == session_id
