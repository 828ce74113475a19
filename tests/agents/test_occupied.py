"""A conversation that a program outside the server has open: nothing is moved under its hands."""

import pytest

from tests.agents.sides import PROFILE, ready, until_screen, until_turn
from tests.agents.sides import submit as type_in
from tests.agents.use import (
    AGENT,
    PATIENCE,
    heard,
    hybrid,
    kill_side,
    said,
    say_in_chat,
    say_in_terminal,
    server_of,
    start,
)
from tests.support.client import Unexpected
from tests.support.leaks import processes

pytestmark = pytest.mark.skipif(
    PROFILE.evidence not in ("registry", "locks"), reason="shows nobody who has a conversation open"
)


@pytest.mark.skipif(PROFILE.evidence == "locks", reason="its lock keeps the other program out")
async def test_the_terminal_stays_while_another_program_has_its_conversation(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client)
        await say_in_terminal(client, sid, "first words")
        await client.switch(sid, "acp")
        agent_id = (await hybrid(client, sid))["agentSessionId"]
        await client.switch(sid, "tui")
        before = {one.pid for one in processes(server.data)}
        async with ready(agent_id), client.terminal(sid) as term:
            with pytest.raises(Unexpected) as refused:
                await client.switch(sid, "acp")
            assert (refused.value.status, refused.value.reason) == (409, "occupied_external")
            assert {one.pid for one in processes(server.data)} == before
            assert term.closed is None
        await client.switch(sid, "acp")
        assert await heard(client, sid) == said("first words")


async def test_the_chat_stays_while_another_program_has_its_conversation(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client, startSide="acp")
        await say_in_chat(client, sid, "first words")
        agent_id = (await hybrid(client, sid))["agentSessionId"]
        await kill_side(server, sid)  # a lock is free then
        async with ready(agent_id) as foreign:
            with pytest.raises(Unexpected) as refused:
                await client.switch(sid, "tui")
            assert (refused.value.status, refused.value.reason) == (409, "occupied_external")
            assert (await hybrid(client, sid))["side"] == "acp"
            assert processes(server.data) == []
            assert foreign.exit_code is None
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await term.until_text("echo: first words", PATIENCE)


async def test_a_closed_session_is_not_resumed_while_another_program_has_its_conversation(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client, startSide="acp")
        await say_in_chat(client, sid, "first words")
        agent_id = (await hybrid(client, sid))["agentSessionId"]
        await client.delete(f"/api/sessions/{sid}")
        async with ready(agent_id):
            for side in ("acp", "tui"):
                with pytest.raises(Unexpected) as refused:
                    await client.resume(sid, {"side": side})
                assert (refused.value.status, refused.value.reason) == (409, "occupied_external")
            assert processes(server.data) == []
        await client.resume(sid, {"side": "acp"})
        assert await heard(client, sid) == said("first words")


@pytest.mark.skipif(PROFILE.evidence == "locks", reason="its lock keeps the other program out")
async def test_what_another_program_said_is_read_before_the_next_message(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client, startSide="acp")
        await say_in_chat(client, sid, "first words")
        agent_id = (await hybrid(client, sid))["agentSessionId"]
        async with client.chat(sid) as chat:
            async with ready(agent_id) as foreign:
                await chat.until(
                    lambda view: view.state["eligibility"].get("reason") == "occupied_external", PATIENCE
                )
                await type_in(foreign, "their words")
                await until_screen(foreign, "echo: their words")
                await until_turn(foreign, "idle", PATIENCE)
                await foreign.stop(clean=True)
            assert await chat.until_closed(PATIENCE) == (1013, "the log was reset")
        await say_in_chat(client, sid, "last words")
        assert await heard(client, sid) == said("first words", "their words", "last words")
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            for words in ("first words", "their words", "last words"):
                await term.until_text(f"echo: {words}", PATIENCE)
