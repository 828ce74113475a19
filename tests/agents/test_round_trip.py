"""The main job with a real agent: its conversation moves to the chat and back, and keeps its id."""

from tests.agents.use import AGENT, PATIENCE, said, session_of, turns


async def test_the_conversation_moves_to_the_chat_and_back(tmp_path, clock):
    async with session_of(tmp_path) as (client, sid):

        async def hybrid():
            return (await client.get(f"/api/sessions/{sid}"))["hybrid"]

        async with client.terminal(sid) as term:
            with clock.step("terminal ready"):
                await term.until_text(AGENT.ready, PATIENCE)
            with clock.step("terminal turn"):
                await term.submit("first words")
                await term.until_text("echo: first words", PATIENCE)
            with clock.step("switch to chat"):
                assert (await client.switch(sid, "acp"))["side"] == "acp"
            assert (await term.until_closed())[0] == 4409
        agent_id = (await hybrid())["agentSessionId"]
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
                await term.submit("third words")
                await term.until_text("echo: third words", PATIENCE)
            with clock.step("switch to chat, again"):
                assert (await client.switch(sid, "acp"))["side"] == "acp"
        async with client.chat(sid) as chat:
            assert turns(chat) == said("first words", "second words", "third words")
        with clock.step("switch to the terminal, again"):
            assert (await client.switch(sid, "tui"))["side"] == "tui"
        assert (await hybrid())["agentSessionId"] == agent_id
