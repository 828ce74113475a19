"""What the demo agent's profile says of its chat, by HTTP and WebSocket, over real processes."""

import pytest

from tests.support.client import Client, Unexpected

from .test_faults import spoken_session

CHOSEN = {"effort": "high", "fast": True, "model": "demo-large", "mode": "plan"}


async def choose(client: Client, sid: str) -> None:
    """Sets every option that the demo agent has."""
    for name, value in CHOSEN.items():
        body = {"enabled": value} if isinstance(value, bool) else {"value": value}
        await client.command("PUT", f"/api/sessions/{sid}/chat/config/{name}", body)


async def assert_kept(client: Client, sid: str) -> None:
    """The chat shows what was chosen."""
    async with client.chat(sid) as chat:
        options = {option["id"]: option["value"] for option in chat.state["configOptions"]}
        assert options == CHOSEN
        assert [notice["code"] for notice in chat.of("notice")] == []


async def test_options_last_through_switches_and_resumes(server):
    """The agent keeps its mode and model; effort and fast are set again."""
    async with server() as running:
        client = running.client
        sid = await spoken_session(client)
        await client.switch(sid, "acp")
        await choose(client, sid)
        await assert_kept(client, sid)
        await client.switch(sid, "tui")
        await client.switch(sid, "acp")
        await assert_kept(client, sid)
        await client.delete(f"/api/sessions/{sid}")
        await client.resume(sid)
        await assert_kept(client, sid)


@pytest.mark.parametrize("moment", ["list", "load"])
async def test_a_switch_without_a_login_stays_in_the_terminal_and_says_where_to_log_in(server, fault, moment):
    async with server() as running:
        client = running.client
        sid = await spoken_session(client)
        fault.write_text(f"acp.{moment}:auth")
        with pytest.raises(Unexpected) as caught:
            await client.switch(sid, "acp")
        assert caught.value.status == 502
        assert "log in to the agent in a terminal" in caught.value.body["error"]
        async with client.chat(sid) as chat:
            assert chat.state["side"] == "tui"
            assert chat.state["authRequired"] is True
            fault.write_text("")
            await client.switch(sid, "acp")
        async with client.chat(sid) as chat:
            assert chat.state["authRequired"] is False


async def test_a_chat_without_a_login_is_not_begun(server, fault):
    async with server() as running:
        fault.write_text("acp.new:auth")
        with pytest.raises(Unexpected) as caught:
            await running.client.demo_session("acp")
        assert caught.value.status == 502
        assert "log in to the agent in a terminal" in caught.value.body["error"]
        assert await running.client.get("/api/sessions") == []
        assert await running.client.get("/api/hybrid-sessions") == []


async def test_an_empty_chat_moves_under_its_id_where_the_agent_can_open_it_again(server):
    async with server() as running:
        client = running.client
        session = await client.demo_session("acp")
        sid, agent_id = session["id"], session["hybrid"]["agentSessionId"]
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            await term.until_text("ready")
            await term.type("hello")
            await term.until_text("echo: hello")
        await client.switch(sid, "acp")
        async with client.chat(sid) as chat:
            assert chat.messages() == [("user", "hello"), ("agent", "echo: hello")]
            assert chat.state["idChange"] is None
        assert (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"] == agent_id
