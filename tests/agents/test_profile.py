"""What the profile says of the agent's terminal, held against the real program."""

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import trio

from hybridmux.agents.launch import Launch
from hybridmux.agents.registry import BUILT_IN, Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation.sides import Plan, SideFailed
from hybridmux.conversation.tui import Tui, open_tui
from hybridmux.proc.mark import Mark, new_run
from tests.agents.use import AGENT, PATIENCE, PROJECT

PROFILE = next(profile for profile in BUILT_IN if profile.name == AGENT.name)
SOON = 5.0
"""Seconds in which an agent takes a key."""
AWKWARD = (0.0, 4.95)
"""Seconds after the keys of an earlier interrupt: opencode forgets a first Esc 5 s after any first Esc."""


def tui(session_id: str | None = None) -> AbstractAsyncContextManager[Tui]:
    """The agent's terminal, as the server starts it."""
    launch = Registry().read(AGENT.cmd)
    assert isinstance(launch, Launch)
    plan = Plan(profile=PROFILE, launch=launch, session="s", cwd=PROJECT, env=dict(os.environ))
    return open_tui(plan, Mark("d", "s", "t", new_run()), session_id, 100, 30, Budgets())


@asynccontextmanager
async def ready() -> AsyncIterator[Tui]:
    """A new conversation that takes input."""
    async with tui() as agent:
        with trio.fail_after(PATIENCE):
            await agent.ready()
        yield agent


async def until_turn(agent: Tui, turn: str, seconds: float) -> None:
    """Waits for that turn state; its failure shows the screen."""
    with trio.move_on_after(seconds):
        await agent.watch(lambda state: state.turn == turn)
        return
    raise AssertionError(f"no {turn} turn in {seconds} s:\n{agent.terminal.screen.text()}")


async def until_screen(agent: Tui, text: str) -> None:
    """Waits for a text on the screen."""
    seen = agent.terminal.changes
    with trio.fail_after(PATIENCE):
        while text not in agent.terminal.screen.text():
            seen = await agent.terminal.changed(seen)


async def submit(agent: Tui, text: str) -> None:
    """Types a prompt and Enter, as two writes."""
    await agent.write(text.encode())
    await until_screen(agent, text)
    await agent.write(b"\r")


async def test_interrupt_and_quit() -> None:
    async with ready() as agent:
        assert agent.state().turn == "idle"
        pressed = trio.current_time()
        for number, pause in enumerate(AWKWARD):
            await submit(agent, f"slow 60 turn {number}")
            await until_turn(agent, "running", PATIENCE)
            await trio.sleep_until(pressed + pause)
            pressed = trio.current_time()
            await agent.press(PROFILE.interrupt)
            await until_turn(agent, "idle", SOON)
        await agent.write(b"a draft")
        await until_screen(agent, "a draft")
        await agent.press(PROFILE.interrupt)  # a key too many is no harm
        await agent.settled()
        assert agent.state().turn == "idle"
        assert "a draft" in agent.terminal.screen.text()
        last = await agent.stop(clean=True)
        assert agent.exit_code == 0
        assert PROFILE.farewell(last)


async def test_an_open_approval_shows_and_is_dismissed() -> None:
    async with ready() as agent:
        await submit(agent, "run: touch never")
        await until_turn(agent, "asking", PATIENCE)
        await agent.press(PROFILE.dismiss)
        await until_turn(agent, "idle", PATIENCE)
        assert not (await trio.Path(PROJECT, "never").exists())


async def test_an_unknown_session_is_no_terminal_that_is_ready() -> None:
    async with tui(AGENT.unknown_id) as agent:
        with trio.fail_after(PATIENCE), pytest.raises(SideFailed, match="not found"):
            await agent.ready()
