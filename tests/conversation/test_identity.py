"""Which conversation a switch to the chat takes, and when that is known, over scripted sides."""

import pytest
import trio
from attrs import evolve
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.demo_profile import PROFILE, farewell
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import SideFailed
from hybridmux.conversation.view import chat_state
from hybridmux.errors import AgentFailed, Conflict

from .play import Play, play
from .world import ID, World, behave

OTHER, NEW = "demo_2", "demo_3"
BEFORE, SINCE = "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"
STARTED = 1767225900.0
"""Between these two."""
SILENT = evolve(PROFILE, identity="list")
LATE = evolve(SILENT, stores_first_turn="ended")


def parting(session_id: str) -> str:
    words = f"Continue with: hybridmux-demo tui --resume {session_id}"
    assert farewell(words) == session_id
    return words


def changed(*names: str, **more) -> World:
    """These conversations of the folder have changed since the terminal was started, and no others."""
    known = {each: SINCE if each in names else BEFORE for each in (ID, OTHER, NEW)}
    return World(silent=True, listed=[ID, OTHER, NEW], updated=known, history=[], remembers=True, **more)


async def in_terminal(p: Play) -> None:
    """The recorded conversation has a turn of the chat, and is open in a terminal that says nothing of it."""
    await p.turn_in_chat("from the chat")
    await p.to_terminal()
    p.sides.tui.started_at = STARTED
    p.world.happened.clear()


def notices(p: Play) -> list[str]:
    return [each["code"] for each in p.events("notice")]


async def test_a_conversation_of_others_that_changed_meanwhile_is_not_moved_on_to(autojump_clock):
    async with play(changed(OTHER, farewell=parting(ID)), "acp", profile=SILENT) as p:
        await in_terminal(p)
        p.world.lag = 1  # what is known of it holds: a replay without the last message is read again
        await p.to_chat()
        assert [each for each in p.world.happened if each.startswith("load")] == [f"load {ID}"] * 2
        assert chat_state(p.session)["idChange"] is None
        assert (p.record.agent_session_id, p.record.agent_session_history) == (ID, [])
        assert p.texts() == ["from the chat"]
        assert notices(p) == []


async def test_a_new_conversation_owes_nothing_to_the_one_before(autojump_clock):
    async with play(changed(NEW, farewell=parting(NEW)), "acp", profile=SILENT) as p:
        await in_terminal(p)
        p.world.history = ["in the new one"]
        await p.to_chat()
        assert [each for each in p.world.happened if each.startswith("load")] == [f"load {NEW}"]
        assert (p.record.agent_session_id, p.record.agent_session_history) == (NEW, [ID])
        assert notices(p) == []


async def test_a_terminal_in_which_nothing_was_entered_keeps_its_conversation(autojump_clock):
    async with play(changed(OTHER, NEW), "acp", profile=SILENT) as p:
        await in_terminal(p)
        p.sides.tui.entered = False
        await p.to_chat()
        assert [each for each in p.world.happened if each.startswith("load")] == [f"load {ID}"]
        assert chat_state(p.session)["idChange"] is None
        assert (p.record.agent_session_id, p.record.agent_session_history) == (ID, [])


async def test_an_untouched_new_terminal_does_not_take_the_conversation_of_others(autojump_clock):
    world = changed(OTHER)
    world.listed = [OTHER]
    async with play(world, profile=SILENT) as p:
        p.sides.tui.started_at, p.sides.tui.entered = STARTED, False
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert (caught.value.reason, caught.value.extra) == ("not_eligible", {"eligibility": "no_session_id"})
        assert_at_rest_in_terminal(p)
        p.sides.tui.entered = True
        await p.to_chat()
        assert p.record.agent_session_id == OTHER


@pytest.mark.parametrize(
    ("last", "change", "told"),
    [
        (OTHER, None, []),
        (ID, None, ["not_the_chosen"]),
        (NEW, {"was": OTHER, "now": NEW, "reason": "the terminal had moved on to it"}, ["not_the_chosen"]),
    ],
)
async def test_the_last_words_count_more_than_a_choice(autojump_clock, last, change, told):
    async with play(changed(ID, OTHER, farewell=parting(last)), "acp", profile=SILENT) as p:
        await in_terminal(p)
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert caught.value.reason == "session_ambiguous"
        await p.to_chat(OTHER)
        assert p.record.agent_session_id == last
        assert chat_state(p.session)["idChange"] == change
        assert notices(p) == told


@pytest.mark.parametrize(
    ("fresh", "last", "listed", "moves"),
    [
        ((OTHER,), OTHER, (ID, OTHER), OTHER),
        ((OTHER,), ID, (ID, OTHER), ID),
        ((OTHER,), None, (ID, OTHER), None),
        ((OTHER,), None, (OTHER,), OTHER),
        ((ID,), None, (ID, OTHER), ID),
        ((), None, (ID, OTHER), ID),
    ],
)
async def test_a_guess_beside_the_recorded_conversation_wants_last_words(
    autojump_clock, fresh, last, listed, moves
):
    world = changed(*fresh, quit="ok" if last else "hang", farewell=parting(last) if last else "")
    async with play(world, "acp", profile=SILENT) as p:
        await in_terminal(p)
        world.listed = list(listed)
        if moves is None:
            with pytest.raises(Conflict) as caught:
                await p.to_chat()
            assert caught.value.reason == "session_ambiguous"
            assert {each["agentSessionId"] for each in caught.value.extra["candidates"]} == set(listed)
            assert p.session.position.step is Step.TUI
            assert p.sides.tui.session_id == p.record.agent_session_id == ID
            assert not any(each.startswith("load") for each in world.happened)
        else:
            await p.to_chat()
            assert p.record.agent_session_id == moves
            assert notices(p) == []
        assert chat_state(p.session)["idChange"] is None


@pytest.mark.parametrize("chosen", [ID, OTHER])
async def test_a_choice_after_such_a_guess_is_taken_without_last_words(autojump_clock, chosen):
    async with play(changed(OTHER, quit="hang"), "acp", profile=SILENT) as p:
        await in_terminal(p)
        with pytest.raises(Conflict):
            await p.to_chat()
        await p.to_chat(chosen)
        assert p.record.agent_session_id == chosen
        assert "not_the_chosen" not in notices(p)


async def test_a_guess_is_no_better_for_a_list_that_fails(autojump_clock):
    async with play(changed(OTHER), "acp", profile=SILENT) as p:
        await in_terminal(p)
        answers = iter([behave("ok"), behave(SideFailed("no list"))])
        p.world.list_ = lambda: next(answers)
        with pytest.raises(AgentFailed, match="starting: no list"):
            await p.to_chat()
        assert p.sides.tui.session_id == ID
        assert p.record.agent_session_id == ID


@pytest.mark.parametrize("last", [ID, NEW])
async def test_a_roll_back_opens_what_the_last_words_named(autojump_clock, last):
    async with play(changed(OTHER, farewell=parting(last)), "acp", profile=SILENT) as p:
        await in_terminal(p)
        p.world.load = SideFailed("no")
        with pytest.raises(AgentFailed, match="loading"):
            await p.to_chat()
        assert p.sides.tui.session_id == last
        assert p.session.position.step is Step.TUI
        assert p.record.agent_session_id == ID


@pytest.mark.parametrize("reopens", [True, False])
async def test_a_choice_that_the_agent_does_not_list_touches_nothing(autojump_clock, reopens):
    async with play(World(silent=True, reopens=reopens), profile=SILENT) as p:
        with pytest.raises(Conflict) as caught:
            await p.to_chat("demo_9")
        assert (caught.value.reason, caught.value.extra) == ("not_eligible", {"eligibility": "not_listed"})
        assert_at_rest_in_terminal(p)


# --- conversations that the end of their first turn stores ---


def first_turn(**more) -> World:
    return World(turn="running", stored=False, stores_at_end=True, **more)


def assert_at_rest_in_terminal(p: Play) -> None:
    assert p.session.position.step is Step.TUI
    assert p.world.writers == {"tui"}
    assert p.sides.chat.over
    assert "quit" not in p.world.happened
    assert p.record.activity in ("idle", "turn")


async def test_a_first_turn_is_interrupted_to_find_its_conversation(autojump_clock):
    async with play(first_turn(), profile=LATE) as p:
        assert chat_state(p.session)["eligibility"] == {"available": True}
        assert (await p.to_chat()).side == "acp"
        assert p.world.happened == ["connector", "interrupt", "quit", f"load {ID}"]


async def test_one_that_is_stored_a_little_later_is_waited_for(autojump_clock):
    world = first_turn(listed=[])
    async with play(world, profile=LATE) as p, trio.open_nursery() as nursery:
        nursery.start_soon(p.to_chat)
        while "interrupt" not in world.happened:
            await p.session.bell.wait(p.session.bell.version)
        await trio.sleep(1)
        assert p.session.position.step is Step.INTERRUPTING
        world.listed = [ID]
        await wait_all_tasks_blocked()
        await trio.sleep(2)
        assert p.session.position.step is Step.ACP


async def test_an_idle_terminal_of_such_an_agent_has_nothing_to_move_yet(autojump_clock):
    async with play(World(stored=False), profile=LATE) as p:
        assert chat_state(p.session)["eligibility"]["reason"] == "no_session_id"
        with pytest.raises(Conflict):
            await p.to_chat()
        assert_at_rest_in_terminal(p)


async def test_an_agent_that_stores_at_once_is_not_interrupted_for_it(autojump_clock):
    async with play(first_turn(), profile=SILENT) as p:
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert caught.value.extra == {"eligibility": "no_session_id"}
        assert p.world.happened == ["connector", "stop chat"]


async def test_a_first_turn_that_stored_nothing_leaves_the_terminal(autojump_clock):
    async with play(World(turn="running", stored=False), profile=LATE) as p:
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert (caught.value.reason, caught.value.extra) == ("not_eligible", {"eligibility": "no_session_id"})
        assert p.world.happened == ["connector", "interrupt", "stop chat"]
        assert notices(p) == ["switch_failed"]
        assert_at_rest_in_terminal(p)


@pytest.mark.parametrize("fault", ["hang", SideFailed("exit code 71")])
async def test_a_connector_that_fails_after_the_interrupt_leaves_the_terminal(autojump_clock, fault):
    world = first_turn()
    async with play(world, profile=LATE) as p:

        async def fail() -> None:
            if "interrupt" in world.happened:
                await behave(fault)

        world.list_ = fail
        with pytest.raises(AgentFailed, match="chat side"):
            await p.to_chat()
        assert notices(p) == ["switch_failed"]
        assert_at_rest_in_terminal(p)


@pytest.mark.parametrize(("choice", "side"), [("force", "tui"), ("cancel", "tui"), ("idle", "acp")])
async def test_a_first_turn_that_ignores_the_interrupt_is_asked_about(autojump_clock, choice, side):
    """Forced, there is still nothing stored: the turn goes on."""
    world = first_turn(interrupt="ignore")
    async with play(world, profile=LATE) as p, trio.open_nursery() as nursery:
        refused: list[Conflict] = []

        async def switching() -> None:
            try:
                await p.to_chat()
            except Conflict as exc:
                refused.append(exc)

        nursery.start_soon(switching)
        while p.session.position.step is not Step.AWAITING_CHOICE:
            await p.session.bell.wait(p.session.bell.version)
        await wait_all_tasks_blocked()
        if choice == "idle":
            p.sides.tui.set("idle")
        else:
            p.session.choice.answer(choice)
        await p.session.operations.idle()
        await wait_all_tasks_blocked()
        assert p.session.position.side == side
        assert len(refused) == (choice == "force")
        if side == "tui":
            assert p.sides.tui.turn == "running"
            assert_at_rest_in_terminal(p)


async def test_a_terminal_that_ends_in_its_first_turn_ends_the_session(autojump_clock):
    async with play(World(turn="running", stored=False, interrupt="exit"), profile=LATE) as p:
        with pytest.raises(Conflict):
            await p.to_chat()
        await wait_all_tasks_blocked()
        assert p.session.over.is_set()
        assert p.world.writers == set()
