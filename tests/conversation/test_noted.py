"""What is known of a terminal's conversation when its server or its program has died, over scripted sides."""

from functools import partial

import pytest
import trio
from attrs import evolve
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.demo_profile import PROFILE, farewell
from hybridmux.budgets import Budgets
from hybridmux.conversation import resuming
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import SideFailed
from hybridmux.conversation.unprompted import REASON
from hybridmux.conversation.view import chat_state, session_info
from hybridmux.errors import AgentFailed, Conflict
from hybridmux.store.records import Record

from .play import WATCHED, Play, play
from .test_chat_profile import resume
from .world import ID, World

FIRST, SECOND = f"{ID}_1", f"{ID}_2"
OTHER, NEW = "demo_2", "demo_3"
BEFORE, SINCE = "2025-12-31T23:59:00Z", "2026-01-01T00:10:00Z"
"""Around the creation of the session on stage."""
STATING = evolve(WATCHED, identity="list")
SILENT = evolve(PROFILE, identity="list")


def early(**more) -> World:
    """Such as Claude Code and codex: an id from the start, and nothing to open under it before a prompt."""
    return World(reopens=False, early=True, **more)


async def a_turn(p: Play) -> None:
    for turn in ("running", "idle"):
        p.sides.tui.set(turn)
        await wait_all_tasks_blocked()


async def another(p: Play, session_id: str) -> None:
    """`/new`, `/clear`, `/resume`: nothing is painted for it."""
    p.sides.tui.session_id = session_id
    await trio.sleep(2 * Budgets().evidence_beat)


def died(p: Play) -> Record:
    """What is on disk when the server starts again."""
    return evolve(p.record, state="interrupted")


def obstacle(p: Play) -> str | None:
    return chat_state(p.session)["eligibility"].get("reason")


# --- agents that state their conversation ---


async def test_the_record_has_a_conversation_before_its_first_prompt(autojump_clock):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        assert (p.record.agent_session_id, p.record.unprompted) == (FIRST, True)
        assert session_info(p.session).hybrid.agent_session_id == FIRST
        await a_turn(p)
        assert (p.record.agent_session_id, p.record.unprompted) == (FIRST, False)


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_what_was_said_is_there_again_after_a_crash(autojump_clock, place):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        await a_turn(p)
        left = died(p)
    async with play(p.world, record=left, profile=STATING) as again:
        await resume(again, place)
        assert again.session.record.agent_session_id == FIRST
        assert p.world.happened[-1] == ("tui demo_1_1" if place == "tui" else "load demo_1_1")
        assert chat_state(again.session)["idChange"] is None


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_a_conversation_without_a_prompt_is_replaced_and_leaves_no_history(autojump_clock, place):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        left = died(p)
    async with play(p.world, record=left, profile=STATING) as again:
        await resume(again, place)
        assert p.world.happened[-1] == ("tui new" if place == "tui" else "new")
        await trio.sleep(2 * Budgets().evidence_beat)
        assert again.record.agent_session_history == []
        assert (again.record.agent_session_id, again.record.unprompted) == (SECOND, True)
        assert chat_state(again.session)["idChange"]["reason"] == REASON


async def test_a_prompt_that_ran_unseen_is_found_in_the_agents_list(autojump_clock):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        p.world.prompted.add(FIRST)
        left = died(p)
        assert left.unprompted
    async with play(p.world, record=left, profile=STATING) as again:
        await resume(again, "tui")
        assert again.sides.tui.session_id == FIRST
        assert not again.record.unprompted


@pytest.mark.parametrize("prompted", [True, False])
async def test_the_history_has_what_was_said_something_in(autojump_clock, prompted):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        if prompted:
            await a_turn(p)
        await another(p, OTHER)
        assert (p.record.agent_session_id, p.record.unprompted) == (OTHER, True)
        assert p.record.agent_session_history == ([FIRST] if prompted else [])
        await another(p, FIRST)
        assert (p.record.agent_session_id, p.record.unprompted) == (FIRST, not prompted)
        assert p.record.agent_session_history == []


async def test_a_turn_that_is_read_off_the_title_is_no_proof(autojump_clock):
    async with play(early(source="title"), profile=STATING) as p:
        await another(p, FIRST)
        await a_turn(p)
        assert p.record.unprompted
        assert obstacle(p) is None  # nor is an idle one that there was none


async def test_work_that_nobody_asked_for_is_no_prompt(autojump_clock):
    """codex reports that it works while it starts."""
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        for turn in ("running", "idle"):
            p.sides.tui.set(turn, entered=False)
            await wait_all_tasks_blocked()
        assert p.record.unprompted
        assert obstacle(p) == "no_session_id"


async def test_a_farewell_names_a_conversation_with_a_prompt(autojump_clock):
    words = f"Continue with: hybridmux-demo tui --resume {FIRST}"
    assert farewell(words) == FIRST
    async with play(early(farewell=words), profile=STATING) as p:
        await another(p, FIRST)
        assert p.record.unprompted
        p.sides.tui.die(1)
        await wait_all_tasks_blocked()
        assert (p.record.agent_session_id, p.record.unprompted) == (FIRST, False)


async def test_what_another_session_has_open_is_not_taken_until_it_is_free(autojump_clock):
    async with play(early(), profile=STATING) as p:
        p.session.taken = lambda: frozenset({OTHER})
        await another(p, FIRST)
        await another(p, OTHER)
        assert p.record.agent_session_id == FIRST
        assert obstacle(p) == "occupied"
        p.session.taken = frozenset
        await trio.sleep(2 * Budgets().evidence_beat)
        assert p.record.agent_session_id == OTHER


async def test_what_changed_during_an_operation_is_noted_after_it(autojump_clock):
    async with play(early(list_="hang"), profile=STATING) as p:
        await another(p, FIRST)
        await a_turn(p)
        async with trio.open_nursery() as nursery:

            async def refused() -> None:
                with pytest.raises(AgentFailed):
                    await p.to_chat()

            nursery.start_soon(refused)
            await another(p, OTHER)
            assert p.session.operations.current == "switch"
            assert p.record.agent_session_id == FIRST
        await trio.sleep(2 * Budgets().evidence_beat)
        assert p.record.agent_session_id == OTHER


async def test_the_eligibility_waits_for_a_first_message_but_a_switch_asks_the_agent(autojump_clock):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        assert obstacle(p) == "no_session_id"
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert caught.value.extra == {"eligibility": "no_session_id"}
        p.world.prompted.add(FIRST)  # unseen
        await p.to_chat()
        assert p.session.position.step is Step.ACP
        assert (p.record.agent_session_id, p.record.unprompted) == (FIRST, False)


async def test_the_first_turn_ends_the_obstacle(autojump_clock):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        for turn in ("running", "asking", "idle"):
            p.sides.tui.set(turn)
            await wait_all_tasks_blocked()
            assert obstacle(p) is None


async def test_a_prompt_on_the_command_line_may_have_run_without_a_key(autojump_clock):
    async with play(early(), profile=STATING) as p:
        await another(p, FIRST)
        assert obstacle(p) == "no_session_id"
        plan = p.session.plan
        p.session.plan = evolve(plan, launch=evolve(plan.launch, dropped=("do this",)))
        p.session.changed()
        assert obstacle(p) is None


# --- agents that state nothing ---


def changed(*names: str, **more) -> World:
    """These conversations of the folder have changed since the session was created, and no others."""
    known = {each: SINCE if each in names else BEFORE for each in (ID, OTHER, NEW)}
    return World(silent=True, listed=[ID, OTHER, NEW], updated=known, **more)


async def lost(world: World, place: str = "tui") -> Record:
    """A session that was in a terminal when the server died; nobody noted its conversation."""
    async with play(world, profile=SILENT) as p:
        await a_turn(p)
        left = evolve(died(p), agent_session_id=None, side=place)
    world.happened.clear()
    return left


def notices(p: Play) -> list[str]:
    return [each["code"] for each in p.events("notice")]


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_the_only_one_that_changed_since_is_taken_and_that_is_said(autojump_clock, place):
    world = changed(OTHER)
    async with play(world, record=await lost(world), profile=SILENT) as p:
        await resume(p, place)
        assert p.record.agent_session_id == OTHER
        steps = ["stop chat", f"tui {OTHER}"] if place == "tui" else [f"load {OTHER}"]
        assert world.happened == ["connector", *steps]
        assert notices(p) == ["conversation_found"]


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_where_none_changed_a_new_one_begins(autojump_clock, place):
    world = changed()
    async with play(world, record=await lost(world), profile=SILENT) as p:
        await resume(p, place)
        assert world.happened[-1] == ("tui new" if place == "tui" else "new")
        assert notices(p) == []


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_of_several_one_has_to_be_chosen(autojump_clock, place):
    world = changed(OTHER, NEW)
    left = await lost(world)
    async with play(world, record=left, profile=SILENT) as p:
        with pytest.raises(Conflict) as caught:
            await resume(p, place)
        assert caught.value.reason == "session_missing"
        assert {each["agentSessionId"] for each in caught.value.extra["candidates"]} == {OTHER, NEW}
        assert p.session.record == left
        assert world.writers == set()
    async with play(world, record=left, profile=SILENT) as p:
        await p.session.operate("resume", partial(resuming.resume, p.session, place, NEW))
        assert p.record.agent_session_id == NEW
        assert notices(p) == []


async def test_what_another_record_has_is_not_taken_for_it(autojump_clock):
    world = changed(OTHER, NEW)
    left = await lost(world)
    world.records["s2"] = evolve(left, id="s2", agent_session_id=OTHER)
    async with play(world, record=left, profile=SILENT) as p:
        await resume(p, "tui")
        assert p.sides.tui.session_id == NEW


@pytest.mark.parametrize("fault", ["missing", "hang", SideFailed("exit code 71")])
async def test_a_terminal_does_not_wait_for_a_connector_that_does_not_work(autojump_clock, fault):
    world = changed(OTHER)
    left = await lost(world)
    if fault == "missing":
        world.missing = "not installed"
    else:
        world.initialize = fault
    async with play(world, record=left, profile=SILENT) as p:
        await resume(p, "tui")
        assert world.happened[-1] == "tui new"
        assert notices(p) == ([] if fault == "missing" else ["not_checked"])


async def test_a_session_that_was_in_the_chat_begins_anew(autojump_clock):
    world = changed(OTHER)
    async with play(world, record=await lost(world, "acp"), profile=SILENT) as p:
        await resume(p, "acp")
        assert world.happened == ["connector", "new"]


async def test_an_agent_that_reports_its_conversation_had_none(autojump_clock):
    world = changed(OTHER)
    async with play(world, record=await lost(world), profile=PROFILE) as p:
        await resume(p, "tui")
        assert world.happened == ["tui new"]
