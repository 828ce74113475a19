"""Ends that nobody asked for, and what a session comes back to."""

import shutil
from pathlib import Path

import pytest

from tests.agents.sides import PROFILE
from tests.agents.use import (
    AGENT,
    PATIENCE,
    ask_in_terminal,
    heard,
    hybrid,
    kill_side,
    record_of,
    said,
    say_in_chat,
    say_in_terminal,
    server_of,
    start,
)
from tests.support.client import Client, Unexpected
from tests.support.leaks import processes
from tests.support.talk import until_info


async def test_a_killed_connector_is_replaced_for_the_next_prompt(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client, startSide="acp")
        await say_in_chat(client, sid, "first words")
        async with client.chat(sid) as chat:
            await kill_side(server, sid)
            # A message that is sent to a dying program has an uncertain fate, and is not sent again.
            await chat.until(
                lambda view: "agent_gone" in [one["code"] for one in view.of("notice")], PATIENCE
            )
        await say_in_chat(client, sid, "second words")
        assert await heard(client, sid) == said("first words", "second words")
        await client.switch(sid, "tui")
        await client.switch(sid, "acp")
        assert await heard(client, sid) == said("first words", "second words")


async def test_a_killed_terminal_is_interrupted_and_resumed(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client)
        async with client.terminal(sid) as term:
            await ask_in_terminal(term, "first words")
            await term.until_quiet()
        await client.switch(sid, "acp")
        await client.switch(sid, "tui")
        await kill_side(server, sid)
        await until_info(client, sid, lambda info: info["hybrid"]["state"] == "interrupted")
        assert processes(server.data, sid) == []
        await client.resume(sid, {"side": "acp"})
        assert await heard(client, sid) == said("first words")


async def first_words_in_terminal(client: Client, sid: str) -> str | None:
    """A session that has never been on the other side; the conversation it has, if its agent states that."""
    async with client.terminal(sid) as term:
        await ask_in_terminal(term, "first words")
        await term.until_quiet()
    if PROFILE.evidence is None:
        assert (await hybrid(client, sid))["agentSessionId"] is None
        return None
    return str(await until_info(client, sid, lambda info: info["hybrid"]["agentSessionId"]))


async def check_terminal(client: Client, sid: str, noted: str | None) -> None:
    """The words are there again, and the conversation is the one that was noted, if any was."""
    async with client.terminal(sid) as term:
        await term.until_text("echo: first words", PATIENCE)
        await term.until_quiet()
    await check_id(client, sid, noted)


async def check_chat(client: Client, sid: str, noted: str | None) -> None:
    """The same."""
    assert await heard(client, sid) == said("first words")
    await check_id(client, sid, noted)


async def check_id(client: Client, sid: str, noted: str | None) -> None:
    record = await record_of(client, sid)
    assert record["agentSessionId"] is not None
    assert record["agentSessionId"] == (noted or record["agentSessionId"])
    assert record["agentSessionHistory"] == []
    assert (await hybrid(client, sid))["agentSessionId"] == record["agentSessionId"]


async def test_a_killed_terminal_that_never_moved_has_kept_its_words(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client)
        noted = await first_words_in_terminal(client, sid)
        await kill_side(server, sid)
        await until_info(client, sid, lambda info: info["hybrid"]["state"] == "interrupted")
        await client.resume(sid, {"side": "acp"})
        await check_chat(client, sid, noted)
        await client.switch(sid, "tui")
        await check_terminal(client, sid, noted)


async def test_a_killed_server_finds_what_was_said_in_a_terminal_that_never_moved(tmp_path):
    async with server_of(tmp_path) as server:
        sid = await start(server.client)
        noted = await first_words_in_terminal(server.client, sid)
        server.crash()
        server.process.wait()
    async with server_of(tmp_path) as server:
        client = server.client
        await client.resume(sid, {"side": "tui"})
        await check_terminal(client, sid, noted)
        await client.switch(sid, "acp")
        await check_chat(client, sid, noted)


async def test_a_closed_session_is_resumed_on_either_side(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client)
        await say_in_terminal(client, sid, "first words")
        await client.delete(f"/api/sessions/{sid}")
        record = await record_of(client, sid)
        assert record["state"] == "closed"
        await client.resume(sid, {"side": "tui"})
        async with client.terminal(sid) as term:
            await term.until_text("echo: first words", PATIENCE)
        await say_in_terminal(client, sid, "second words")
        await client.delete(f"/api/sessions/{sid}")
        await client.resume(sid, {"side": "acp"})
        assert await heard(client, sid) == said("first words", "second words")
        assert (await record_of(client, sid))["agentSessionId"] == record["agentSessionId"]


async def test_a_killed_server_finds_its_session_again(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client, startSide="acp")
        await say_in_chat(client, sid, "first words")
        await client.prompt(sid, "slow 60")
        async with client.chat(sid) as chat:
            await chat.until(lambda view: "tick 2" in view.messages()[-1][1], PATIENCE)
        server.crash()
        server.process.wait()
    async with server_of(tmp_path) as server:
        client = server.client
        record = await record_of(client, sid)
        assert (record["state"], record["activity"]) == ("interrupted", "turn")
        assert processes(server.data) == []
        await client.resume(sid, {"side": "acp"})
        assert (await heard(client, sid))[:3] == [*said("first words"), ("user", "slow 60")]
        await say_in_chat(client, sid, "and on")
        assert (await heard(client, sid))[-2:] == said("and on")


def forget_everything() -> None:
    """The agent's conversations are gone."""
    for pattern in AGENT.store:
        for path in Path.home().glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("side", ["acp", "tui"])
async def test_a_conversation_that_is_gone_is_missed(tmp_path, side):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client, startSide="acp")
        await say_in_chat(client, sid, "first words")
        await client.delete(f"/api/sessions/{sid}")
        before = await record_of(client, sid)
        forget_everything()
        with pytest.raises(Unexpected) as refused:
            await client.resume(sid, {"side": side})
        assert (refused.value.status, refused.value.reason) == (409, "session_missing")
        assert processes(server.data) == []
        assert await record_of(client, sid) == before
