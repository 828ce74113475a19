"""The main job with the demo agent, by HTTP and WebSocket, over real processes."""

from tests.support.client import ChatView, marked, serving


def said(view: ChatView) -> list[str]:
    """User texts, in order."""
    return [text for role, text in view.messages() if role == "user"]


async def test_the_round_trip(tmp_path):
    async with serving(tmp_path) as server:
        client = server.client
        session = await client.demo_session()
        sid = session["id"]
        assert session["hybrid"]["side"] == "tui"
        async with client.terminal(sid) as term:
            await term.until_text("ready")
            await term.type("hello one")
            await term.until_text("echo: hello one")
            assert (await client.switch(sid, "acp"))["side"] == "acp"
            assert await term.until_closed() == (4409, "session moved: acp") or term.closed[0] == 4409
        async with client.chat(sid) as chat:
            assert chat.messages() == [("user", "hello one"), ("agent", "echo: hello one")]
            agent_id = (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"]
            assert (await client.prompt(sid, "hello two")) == {"queued": False}
            end = await chat.until_turns_ended(1)
            assert end["stopReason"] == "end_turn"
            assert chat.messages()[2:] == [("user", "hello two"), ("agent", "echo: hello two")]
            assert len([e for e in chat.of("message.append") if e["role"] == "agent"]) > 2
        assert await client.switch(sid, "tui") == {"side": "tui", "dropped": [], "unsupported": []}
        async with client.terminal(sid) as term:
            await term.until_text("echo: hello two")
            assert "echo: hello one" in term.text()
        after = await client.get(f"/api/sessions/{sid}")
        assert after["id"] == sid
        assert after["hybrid"]["agentSessionId"] == agent_id
        await client.delete(f"/api/sessions/{sid}")
        assert await client.get("/api/sessions") == []
        (record,) = await client.get("/api/hybrid-sessions")
        assert record["state"] == "closed"
        assert marked(server.data) == []
