"""Whether a session may move, live in the chat state, with a stand-in for Claude Code and real processes."""

import pytest

from hybridmux.problems import said
from tests.e2e import outside
from tests.e2e.conftest import SHORT
from tests.e2e.stage import Stage
from tests.support.fake_claude import foreign

QUICK = SHORT + "evidence_beat = 0.2\n"
FREE = {"available": True}
SECONDS = 5.0


def refusal(reason: str) -> dict:
    """As the chat state shows it."""
    return {"available": False, "reason": reason, "text": said(reason)}


@pytest.mark.parametrize("side", ["tui", "acp"])
async def test_a_program_of_others_is_shown_while_it_has_the_conversation_open(server, tmp_path, fault, side):
    there = refusal("occupied_external")
    async with server(config=QUICK) as running:
        stage = Stage(running, tmp_path, fault)
        config = await outside.claude(stage)
        sid = await outside.in_chat(stage, config)
        agent_session = await stage.agent_session(sid)
        await running.client.switch(sid, side)
        async with running.client.chat(sid) as chat:
            for _ in range(2):
                await chat.until(lambda v: v.state["eligibility"] == FREE, SECONDS)
                with foreign(outside.claude_home(stage), agent_session):
                    await chat.until(lambda v: v.state["eligibility"] == there, SECONDS)
            await chat.until(lambda v: v.state["eligibility"] == FREE, SECONDS)
        await running.client.switch(sid, "acp" if side == "tui" else "tui")


async def test_several_agents_in_one_terminal_are_shown(server, tmp_path, fault):
    async with server(config=QUICK) as running:
        stage = Stage(running, tmp_path, fault)
        async with outside.several(stage) as names, running.client.chat(names["terminal"]) as chat:
            await chat.until(lambda v: v.state["eligibility"] == refusal("not_root"), SECONDS)


async def test_a_conversation_that_another_session_leaves_is_free_again(server, tmp_path, fault):
    async with server(config=QUICK) as running:
        client = running.client
        stage = Stage(running, tmp_path, fault)
        config = await outside.claude(stage)
        first, second = await outside.in_chat(stage, config), await outside.in_terminal(stage, config)
        taken = await stage.agent_session(first)
        async with client.terminal(second) as term:
            await term.type(f"/resume {taken}")
        async with client.chat(second) as chat:
            await chat.until(lambda v: v.state["eligibility"] == refusal("occupied"), SECONDS)
            await client.delete(f"/api/sessions/{first}")
            await chat.until(lambda v: v.state["eligibility"] == FREE, SECONDS)


async def test_whose_conversation_another_session_visits_is_told_so(server, tmp_path, fault):
    async with server(config=QUICK) as running:
        client = running.client
        stage = Stage(running, tmp_path, fault)
        config = await outside.claude(stage)
        first, second = await outside.in_chat(stage, config), await outside.in_terminal(stage, config)
        own = await stage.agent_session(first)
        async with client.chat(first) as chat, client.terminal(second) as term:
            await term.type(f"/resume {own}")
            await chat.until(lambda v: v.state["eligibility"] == refusal("occupied"), SECONDS)
            answer = await client.prompt(first, "may not be lost", status=409)
            assert answer == {"error": said("occupied"), "reason": "occupied_external"}
