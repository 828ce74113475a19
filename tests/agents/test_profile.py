"""What the profile says of the agent's terminal, held against the real program."""

import pytest
import trio

from hybridmux.conversation.sides import SideFailed
from tests.agents.sides import PROFILE, ready, submit, tui, until_screen, until_turn
from tests.agents.use import AGENT, PATIENCE, PROJECT

SOON = 10.0
"""Seconds in which an agent takes a key."""
AWKWARD = (0.0, 4.95)
"""Seconds after the keys of an earlier interrupt: opencode forgets a first Esc 5 s after any first Esc."""


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
        for typed in (b"", b"a draft"):
            await agent.write(typed)
            await until_screen(agent, typed.decode())
            await agent.write(b"\x1b")  # a key too many is no harm
            assert (await agent.settled()).turn == "idle"
        assert "a draft" in agent.terminal.screen.text()
        await agent.write(b"\x7f" * len("a draft"))  # the first quit key would only clear it
        await agent.settled()
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
        with trio.fail_after(PATIENCE), pytest.raises(SideFailed, match=AGENT.unknown):
            await agent.ready()
