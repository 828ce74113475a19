"""Conversations without a prompt, agents that can open one again and agents that cannot."""

from functools import partial

import pytest
from trio.testing import wait_all_tasks_blocked

from hybridmux.conversation import lifecycle
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import AuthRequired, SideFailed
from hybridmux.conversation.unprompted import REASON
from hybridmux.conversation.view import chat_state
from hybridmux.errors import AgentFailed

from .play import play
from .test_chat_profile import resume, to_chat, to_terminal
from .world import ID, World

FIRST, SECOND = f"{ID}_1", f"{ID}_2"


async def closed(p) -> None:
    await p.session.operate("close", partial(lifecycle.close, p.session))


def id_change(p) -> dict | None:
    return chat_state(p.session)["idChange"]


@pytest.mark.parametrize("reopens", [True, False])
async def test_the_mark_is_there_until_the_first_prompt_has_reached_the_agent(autojump_clock, reopens):
    async with play(World(reopens=reopens), "acp") as p:
        assert p.record.unprompted
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert not p.record.unprompted


async def test_a_terminal_that_states_it_is_stored_takes_the_mark_away(autojump_clock):
    async with play(World(stored=False), "acp") as p:
        await to_terminal(p)
        assert p.record.unprompted
        p.world.stored = True
        p.sides.tui.set("running")
        await wait_all_tasks_blocked()
        assert not p.record.unprompted
        assert p.record.agent_session_id == ID


async def test_an_agent_that_can_open_it_again_gets_it_on_either_side(autojump_clock):
    async with play(World(), "acp") as p:
        await to_terminal(p)
        assert p.world.happened == ["stop chat", f"tui {ID}"]
        assert id_change(p) is None
        await to_chat(p)
        await closed(p)
    async with play(p.world, record=p.record) as again:
        await resume(again, "tui")
        assert again.sides.tui.session_id == ID
        assert id_change(again) is None


async def test_the_terminal_begins_afresh_where_it_cannot(autojump_clock):
    async with play(World(reopens=False), "acp") as p:
        await to_terminal(p)
        assert p.world.happened == ["stop chat", "tui new"]
        assert p.record.agent_session_id is None
        assert not p.record.unprompted
        assert id_change(p) == {"was": FIRST, "now": None, "reason": REASON}
        p.sides.tui.set("running")
        p.sides.tui.set("idle")
        await wait_all_tasks_blocked()
        assert p.record.agent_session_id == SECOND
        p.world.history = ["said in the terminal"]
        await to_chat(p)
        assert p.texts() == ["said in the terminal"]
        await to_terminal(p)
        assert p.sides.tui.session_id == SECOND


async def test_with_a_prompt_it_moves(autojump_clock):
    async with play(World(reopens=False), "acp") as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        await to_terminal(p)
        assert p.sides.tui.session_id == FIRST
        assert id_change(p) is None


@pytest.mark.parametrize("answers", [True, False])
async def test_a_first_turn_that_is_cancelled_by_the_switch_counts(autojump_clock, answers):
    async with play(World(reopens=False, prompt="open", answers=answers), "acp") as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert p.record.unprompted is not answers
        await to_terminal(p)
        assert p.sides.tui.session_id == FIRST


async def test_a_first_turn_whose_agent_dies_after_it_began_to_answer_counts(autojump_clock):
    async with play(World(reopens=False, prompt="open"), "acp") as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        assert not p.record.unprompted
        await to_terminal(p)
        assert p.sides.tui.session_id == FIRST


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_a_resume_begins_afresh_where_it_cannot(autojump_clock, place):
    async with play(World(reopens=False), "acp") as p:
        await closed(p)
        assert p.record.unprompted
    p.world.happened.clear()
    async with play(p.world, record=p.record) as again:
        await resume(again, place)
        now = SECOND if place == "acp" else None
        steps = ["new"] if place == "acp" else ["stop chat", "tui new"]
        assert p.world.happened == ["connector", *steps]
        assert again.record.agent_session_id == now
        assert again.record.unprompted is (place == "acp")
        assert id_change(again) == {"was": FIRST, "now": now, "reason": REASON}
        assert again.session.position.step is Step(place)


async def test_a_resume_without_a_connector_goes_by_the_mark(autojump_clock):
    async with play(World(reopens=False), "acp") as p:
        await closed(p)
    p.world.missing = "not installed"
    async with play(p.world, record=p.record) as again:
        await resume(again, "tui")
        assert p.world.happened[-1] == "tui new"


async def test_what_the_agent_lists_counts_more_than_the_mark(autojump_clock):
    """The server died before it heard of the first answer."""
    async with play(World(reopens=False), "acp") as p:
        await closed(p)
    p.world.prompted.add(FIRST)
    async with play(p.world, record=p.record) as again:
        await resume(again, "tui")
        assert again.sides.tui.session_id == FIRST
        assert id_change(again) is None


async def test_a_failed_resume_leaves_the_record_as_it_was(autojump_clock):
    async with play(World(reopens=False), "acp") as p:
        await closed(p)
    before = p.record
    p.world.tui_starts = [SideFailed("exit code 1")]
    async with play(p.world, record=before) as again:
        with pytest.raises(AgentFailed):
            await resume(again, "tui")
        assert again.session.record == before
        assert id_change(again) is None


async def test_a_connector_that_died_early_is_replaced_with_a_fresh_conversation(autojump_clock):
    async with play(World(reopens=False), "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert p.texts() == ["hello", "echo: hello"]
        assert p.record.agent_session_id == SECOND
        assert not p.record.unprompted
        assert id_change(p) == {"was": FIRST, "now": SECOND, "reason": REASON}


async def test_a_prompt_that_never_reached_the_agent_leaves_the_mark(autojump_clock):
    async with play(World(reopens=False, prompt="lost"), "acp") as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert p.events("turn.end")[-1]["stopReason"] == "error"
        assert p.record.unprompted
        p.world.prompt = "ok"
        await p.session.turns.prompt("hello again")
        await wait_all_tasks_blocked()
        assert p.texts()[-1] == "echo: hello again"


@pytest.mark.parametrize("kept", [True, False])
async def test_without_a_login_the_agents_list_decides(autojump_clock, kept):
    """Claude Code begins a conversation without a login and then refuses the prompt."""
    async with play(World(reopens=False, prompt=AuthRequired("Authentication required")), "acp") as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        assert p.record.unprompted
        if not kept:
            p.world.prompted.clear()
        await to_terminal(p)
        assert p.sides.tui.session_id == (FIRST if kept else None)


@pytest.mark.parametrize(
    ("answers", "list_", "known", "kept"),
    [
        (True, "hang", True, True),
        (True, SideFailed("no list"), True, True),
        (False, "hang", True, True),  # no answer is not: it is not listed
        (False, SideFailed("no list"), True, True),
        (False, "ok", True, True),
        (False, "ok", False, False),
    ],
)
async def test_a_first_turn_that_hangs_is_something_that_was_said(
    autojump_clock, answers, list_, known, kept
):
    async with play(World(reopens=False, prompt="open", cancel="ignore", answers=answers), "acp") as p:
        await p.turn_in_chat("hello")
        assert p.record.unprompted is not answers
        p.world.list_ = list_
        if not known:
            p.world.prompted.clear()
        await to_terminal(p)
        assert p.sides.tui.session_id == (FIRST if kept else None)
        assert (id_change(p) is None) is kept


async def test_a_refusal_after_the_first_words_leaves_the_mark(autojump_clock):
    refusal = AuthRequired("Authentication required")
    async with play(World(reopens=False, prompt=refusal, answers=True), "acp") as p:
        await p.turn_in_chat("hello")
        assert p.texts() == ["hello", "echo: hello"]
        assert p.record.unprompted


@pytest.mark.parametrize("list_", ["hang", SideFailed("no list")])
async def test_a_list_that_does_not_come_does_not_hold_up_the_switch(autojump_clock, list_):
    async with play(World(reopens=False), "acp") as p:
        p.world.list_ = list_
        await to_terminal(p)
        assert p.session.position.step is Step.TUI
        assert p.record.agent_session_id is None


async def test_a_terminal_that_does_not_start_rolls_back_to_a_fresh_chat(autojump_clock):
    async with play(World(reopens=False), "acp") as p:
        p.world.tui_starts = [SideFailed("exit code 1")]
        with pytest.raises(AgentFailed, match="starting"):
            await to_terminal(p)
        assert p.session.position.step is Step.ACP
        assert p.record.agent_session_id == SECOND
        assert p.record.unprompted
        assert id_change(p)["now"] == SECOND


async def test_the_options_of_a_conversation_hold_in_the_one_that_takes_its_place(autojump_clock):
    world = World(reopens=False, options={"mode": "ask", "effort": "low"})
    async with play(world, "acp") as p:
        await p.session.set_option("mode", "plan")
        await p.session.set_option("effort", "high")
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        shown = {option["id"]: option["value"] for option in chat_state(p.session)["configOptions"]}
        assert shown == {"mode": "plan", "effort": "high"}
