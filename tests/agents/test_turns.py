"""A switch in the middle of something: a running answer, an open approval; and the chat's own turns."""

import re
from contextlib import suppress

import trio

from tests.agents.use import (
    AGENT,
    PATIENCE,
    PROJECT,
    ask_in_terminal,
    runs,
    session_of,
    submit,
    turns,
    until_processes,
)
from tests.support.client import TerminalView

RESTING = "run: touch began; env sleep 3617"
"""A process of its own: omp's shell sleeps without one. codex's shell has the system's PATH."""


async def allow(term: TerminalView) -> None:
    """Says yes to an approval by Enter, again if it was shown a moment before it took keys."""
    await term.until_text(AGENT.asking, PATIENCE)
    while re.search(AGENT.asking, term.text()):
        await term.send(b"\r")
        with suppress(AssertionError):
            await term.until_no_text(AGENT.asking, 2.0)


async def test_a_running_terminal_turn_is_interrupted_and_its_words_are_kept(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await submit(term, "slow 40")
            await term.until_text("tick 3", PATIENCE)
            async with client.chat(sid) as chat:
                assert chat.state["eligibility"] == {"available": True}
            assert (await client.switch(sid, "acp"))["side"] == "acp"
        async with client.chat(sid) as chat:
            assert_interrupted(turns(chat))


async def test_ctrl_z_does_not_take_the_terminal_away(tmp_path):
    """There is no shell to bring it back from."""
    async with session_of(tmp_path) as (client, sid), client.terminal(sid) as term:
        await ask_in_terminal(term, "first words")
        await term.send(b"\x1a")
        await ask_in_terminal(term, "more words")


def assert_interrupted(conversation: list[tuple[str, str]]) -> None:
    """The prompt, what the agent keeps of the interrupted answer, and what it says of the interruption."""
    asked, *rest = conversation
    assert asked == ("user", "slow 40")
    if AGENT.keeps_words:
        role, answer = rest.pop(0)
        assert role == "agent"
        assert answer.startswith("tick 1 tick 2")
        assert "done" not in answer
    assert rest == [*AGENT.interrupted]


async def test_an_open_approval_in_the_terminal_is_rejected_by_the_switch(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await submit(term, "run: touch never")
            await term.until_text(AGENT.asking, PATIENCE)
            assert (await client.switch(sid, "acp"))["side"] == "acp"
        assert not await trio.Path(PROJECT, "never").exists()
        async with client.chat(sid) as chat:
            assert turns(chat)[0] == ("user", "run: touch never")
            ends = [tool["status"] for tool in chat.of("tool.upsert") if "status" in tool][-1:]
            assert ends == (["failed"] if AGENT.replays_refused else [])


async def test_a_running_shell_command_of_the_terminal_ends_with_the_switch(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await submit(term, RESTING)
            await allow(term)
            with suppress(trio.TooSlowError):
                await until_processes(lambda: runs("sleep 3617"))
            assert runs("sleep 3617"), term.describe()
            assert (await client.switch(sid, "acp"))["side"] == "acp"
            assert not runs("sleep 3617")
        async with client.chat(sid) as chat:
            assert turns(chat)[0] == ("user", RESTING)


async def test_the_chat_asks_cancels_and_carries_on(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await submit(term, "hello")
            await term.until_text("echo: hello", PATIENCE)
            await client.switch(sid, "acp")
        base = f"/api/sessions/{sid}/chat"
        async with client.chat(sid) as chat:
            await client.command("PUT", f"{base}/permission-mode", {"mode": "ask"})
            await client.prompt(sid, "run: expr 20 + 22 > sum; cat sum")
            request = await chat.until_request()
            allow = next(o["optionId"] for o in request["options"] if o["kind"] == "allow_once")
            answer = {"outcome": "selected", "optionId": allow}
            await client.command("POST", f"{base}/requests/{request['requestId']}", answer)
            assert (await chat.until_turns_ended(1, PATIENCE))["stopReason"] == "end_turn"
            assert "42" in turns(chat)[-1][1]
            await client.prompt(sid, "slow 40")
            await chat.until(lambda view: "tick 2" in turns(view)[-1][1], PATIENCE)
            await client.command("POST", f"{base}/cancel")
            assert (await chat.until_turns_ended(2, PATIENCE))["stopReason"] == "cancelled"
            await client.prompt(sid, "think: hard")
            assert (await chat.until_turns_ended(3, PATIENCE))["stopReason"] == "end_turn"
            assert ("thought", "hard") in [(role, text.strip()) for role, text in chat.messages()]
            assert turns(chat)[-1] == ("agent", "echo: think: hard")
