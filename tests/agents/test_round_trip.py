"""The main job with a real agent: its conversation moves between terminal and chat, and keeps its id."""

import pytest

from tests.agents.sides import PROFILE
from tests.agents.use import (
    AGENT,
    LONG,
    PATIENCE,
    heard,
    hybrid,
    record_of,
    said,
    say_in_chat,
    say_in_terminal,
    server_of,
    session_of,
    start,
    submit,
    turns,
)
from tests.support.leaks import processes, temp_folders

TRIPS = 20 if LONG else 3


async def test_from_the_terminal_to_the_chat_and_back_twice(tmp_path, clock):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            with clock.step("terminal ready"):
                await term.until_text(AGENT.ready, PATIENCE)
            with clock.step("terminal turn"):
                await submit(term, "first words")
                await term.until_text("echo: first words", PATIENCE)
            with clock.step("switch to chat"):
                assert (await client.switch(sid, "acp"))["side"] == "acp"
            assert (await term.until_closed())[0] == 4409
        agent_id = (await hybrid(client, sid))["agentSessionId"]
        assert agent_id
        async with client.chat(sid) as chat:
            assert turns(chat) == said("first words")
            with clock.step("chat turn"):
                assert await client.prompt(sid, "second words") == {"queued": False}
                assert (await chat.until_turns_ended(1, PATIENCE))["stopReason"] == "end_turn"
            assert turns(chat) == said("first words", "second words")
        with clock.step("switch to the terminal"):
            assert (await client.switch(sid, "tui"))["side"] == "tui"
        async with client.terminal(sid) as term:
            await term.until_text("echo: second words", PATIENCE)
            assert "echo: first words" in term.text()
            with clock.step("terminal turn, again"):
                await submit(term, "third words")
                await term.until_text("echo: third words", PATIENCE)
            with clock.step("switch to chat, again"):
                assert (await client.switch(sid, "acp"))["side"] == "acp"
        assert await heard(client, sid) == said("first words", "second words", "third words")
        with clock.step("switch to the terminal, again"):
            assert (await client.switch(sid, "tui"))["side"] == "tui"
        async with client.terminal(sid) as term:
            for text in ("first words", "second words", "third words"):
                await term.until_text(f"echo: {text}", PATIENCE)
        assert (await hybrid(client, sid))["agentSessionId"] == agent_id
        assert (await record_of(client, sid))["agentSessionHistory"] == []


async def test_from_the_chat_to_the_terminal_and_back(tmp_path):
    async with session_of(tmp_path, startSide="acp") as (client, sid):
        agent_id = (await hybrid(client, sid))["agentSessionId"]
        await say_in_chat(client, sid, "first words")
        assert (await client.switch(sid, "tui"))["side"] == "tui"
        async with client.terminal(sid) as term:
            await term.until_text("echo: first words", PATIENCE)
        await say_in_terminal(client, sid, "second words")
        assert (await client.switch(sid, "acp"))["side"] == "acp"
        assert await heard(client, sid) == said("first words", "second words")
        assert (await hybrid(client, sid))["agentSessionId"] == agent_id
        assert (await record_of(client, sid))["agentSessionHistory"] == []


async def test_a_chat_without_a_prompt_goes_to_the_terminal(tmp_path):
    async with session_of(tmp_path, startSide="acp") as (client, sid):
        was = (await hybrid(client, sid))["agentSessionId"]
        assert was
        assert (await client.switch(sid, "tui"))["side"] == "tui"
        async with client.chat(sid) as chat:
            change = chat.state["idChange"]
        await say_in_terminal(client, sid, "first words")
        assert (await client.switch(sid, "acp"))["side"] == "acp"
        assert await heard(client, sid) == said("first words")
        now = (await hybrid(client, sid))["agentSessionId"]
        history = (await record_of(client, sid))["agentSessionHistory"]
        if PROFILE.reopens_unprompted:
            assert (now, change, history) == (was, None, [])
        else:
            assert now != was
            assert change["was"] == was
            assert history == []  # it was none: nothing was said in it


@pytest.mark.timeout(120 * TRIPS)
async def test_trips_in_a_row_leave_nothing_behind(tmp_path, clock):
    words = ["a beginning"]
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client)
        await say_in_terminal(client, sid, words[0])
        temp = len(temp_folders())
        with clock.step(f"{TRIPS} trips"):
            for trip in range(TRIPS):
                await client.switch(sid, "acp")
                assert await heard(client, sid) == said(*words)
                runs = {one.mark.run for one in processes(server.data)}
                assert len(runs) == 1, "processes of another side are left"
                words.append(f"trip {trip}")
                await say_in_chat(client, sid, words[-1])
                await client.switch(sid, "tui")
                assert runs.isdisjoint(one.mark.run for one in processes(server.data))
                assert len(temp_folders()) == temp
                async with client.terminal(sid) as term:
                    await term.until_text(f"echo: {words[-1]}", PATIENCE)
        await client.switch(sid, "acp")
        assert await heard(client, sid) == said(*words)
