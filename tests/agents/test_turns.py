"""A switch in the middle of something: a running answer, an open approval; and the chat's own turns."""

from tests.agents.use import AGENT, PATIENCE, session_of, turns


async def test_a_running_terminal_turn_is_interrupted_and_its_words_are_kept(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await term.submit("slow 40")
            await term.until_text("tick 3", PATIENCE)
            assert (await client.switch(sid, "acp"))["side"] == "acp"
        async with client.chat(sid) as chat:
            (_, asked), (role, answer), *more = turns(chat)
            assert (asked, role, more) == ("slow 40", "agent", [])
            assert answer.startswith("tick 1 tick 2")
            assert "done" not in answer


async def test_an_open_approval_in_the_terminal_is_rejected_by_the_switch(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await term.submit("run: touch never")
            await term.until_text(AGENT.asking, PATIENCE)
            assert (await client.switch(sid, "acp"))["side"] == "acp"
        async with client.chat(sid) as chat:
            assert turns(chat)[0] == ("user", "run: touch never")
            assert [tool["status"] for tool in chat.of("tool.upsert") if "status" in tool][-1] == "failed"


async def test_the_chat_asks_cancels_and_carries_on(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            await term.submit("hello")
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
