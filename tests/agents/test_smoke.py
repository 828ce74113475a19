"""Both sides of the agent without a server: a turn by keys, read and carried on by the connector."""

from hybridmux.acp.reading import Json
from tests.agents.sides import (
    PROFILE,
    connector,
    quit_by_keys,
    submit,
    tui,
    until_screen,
    until_turn,
)
from tests.agents.use import PATIENCE, Clock, said

QUIT = 5.0
"""Seconds from the quit keys to the program's end."""
ASKING = "run: expr 20 + 22 > sum; cat sum"
"""Writes a file: Claude Code runs what only reads without asking."""


def words(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


async def conversation_of_keys(clock: Clock, text: str) -> str:
    """One turn in a new terminal, and out by the quit keys; the agent session's id from the last lines."""
    started = clock.step("terminal ready")
    async with tui() as agent:
        with started:
            await agent.ready()
        with clock.step("terminal turn"):
            await submit(agent, text)
            await until_screen(agent, f"echo: {text}")
            await until_turn(agent, "idle", PATIENCE)
        await agent.settled()
        with clock.step("quit by keys"):
            last = await quit_by_keys(agent, QUIT)
        assert agent.exit_code == 0
    session_id = PROFILE.farewell(last)
    assert session_id, last
    return session_id


async def test_the_connector_reads_and_carries_on_what_was_typed(clock: Clock) -> None:
    session_id = await conversation_of_keys(clock, "first words")
    async with connector() as (chat, heard):
        with clock.step("initialize"):
            assert (await chat.initialize()).can_load
        with clock.step("session/list"):
            assert session_id in [one.session_id for one in await chat.list_sessions()]
        with clock.step("session/load"):
            await chat.load_session(session_id)
        assert heard.said() == said("first words")
        with clock.step("session/prompt"):
            assert (await chat.prompt(words("second words"))).stop_reason == "end_turn"
        assert heard.said()[-1] == ("agent", "echo: second words")
        with clock.step("stop"):
            assert (await chat.stop()).survivors == []


async def test_the_connector_asks_before_it_runs_a_command() -> None:
    async with connector() as (chat, heard):
        await chat.initialize()
        await chat.new_session()
        assert (await chat.prompt(words(ASKING))).stop_reason == "end_turn"
        assert len(heard.asked) == 1
        role, text = heard.said()[-1]
        assert role == "agent"
        assert "tool said:" in text
        assert "42" in text
