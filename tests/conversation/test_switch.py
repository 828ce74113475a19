"""The switch over scripted sides, on the mock clock: phases, deadlines, rollback."""

from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.conversation import lifecycle, switch
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import OccupiedElsewhere, SideFailed
from hybridmux.errors import AgentFailed, Conflict, StoreUnusable
from hybridmux.wire.chat import Outdated

from .play import WATCHED, Play, play
from .world import ID, World


async def to_chat(p: Play, chosen: str | None = None):
    return await p.session.operate("switch", partial(switch.to_chat, p.session, chosen))


async def to_terminal(p: Play):
    return await p.session.operate("switch", partial(switch.to_terminal, p.session))


def assert_back_in_terminal(p: Play, session_id=ID) -> None:
    """The session rests on the terminal, on the same conversation, and nothing else lives."""
    assert p.session.position.step is Step.TUI
    assert p.world.writers == {"tui"}
    assert p.sides.tui.session_id == session_id
    assert p.session.sides.chat is None
    assert p.record.side == "tui"
    assert p.record.activity == "idle"


async def test_terminal_to_chat_holds_the_history(autojump_clock):
    async with play(World(history=["one", "two"])) as p:
        result = await to_chat(p)
        assert result.side == "acp"
        assert p.world.happened == ["connector", "quit", f"load {ID}"]
        assert p.texts() == ["one", "two"]
        assert p.record.side == "acp"
        assert p.record.activity == "idle"
        assert [e["kind"] for e in p.events("marker")] == ["loaded", "switched"]


@pytest.mark.parametrize(
    ("draft", "unsent", "told"),
    [
        (None, True, ["terminal_draft"]),
        (None, False, []),
        (False, True, []),
        (True, False, ["terminal_draft"]),
    ],
)
async def test_the_keys_tell_of_unsent_text_where_the_agent_does_not(autojump_clock, draft, unsent, told):
    async with play(World(draft=draft)) as p:
        p.sides.tui.unsent = unsent
        await to_chat(p)
        assert p.session.position.step is Step.ACP
        assert [each["code"] for each in p.events("notice")] == told


async def test_twenty_round_trips_keep_the_id(autojump_clock):
    async with play(World()) as p:
        for _ in range(20):
            await to_chat(p)
            await to_terminal(p)
            assert p.sides.tui.session_id == ID
        assert p.session.record.agent_session_id == ID
        assert p.record.agent_session_history == []


@pytest.mark.parametrize("code", [0, 143, 137])
async def test_a_terminal_that_dies_during_the_switch_never_closes_the_session(autojump_clock, code):
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        nursery.start_soon(to_chat, p)
        await wait_all_tasks_blocked()
        assert p.session.position.step is Step.INTERRUPTING
        p.sides.tui.die(code)
        await wait_all_tasks_blocked()
        assert p.session.position.step is Step.ACP
        assert p.record.state == "active"


async def test_a_missing_connector_is_a_conflict_and_touches_nothing(autojump_clock):
    world = World()
    async with play(world) as p:
        world.missing = "demo-acp is not installed"
        with pytest.raises(AgentFailed, match="not installed"):
            await to_chat(p)
        assert world.happened == []
        assert_back_in_terminal(p)


@pytest.mark.parametrize("fault", ["hang", SideFailed("exit code 71")])
@pytest.mark.parametrize("moment", ["initialize", "list_"])
async def test_a_fault_in_the_precheck_touches_nothing(autojump_clock, moment, fault):
    world = World()
    async with play(world) as p:
        setattr(world, moment, fault)
        with pytest.raises(AgentFailed):
            await to_chat(p)
        assert "quit" not in world.happened
        assert_back_in_terminal(p)


@pytest.mark.parametrize(
    ("fault", "words"),
    [("hang", "no end within 600 s"), (SideFailed("the agent ended (exit code 71)"), "exit code 71")],
)
async def test_a_fault_in_load_rolls_back(autojump_clock, fault, words):
    async with play(World(load=fault)) as p:
        with pytest.raises(AgentFailed, match=f"loading: .*{words}"):
            await to_chat(p)
        assert p.world.happened[-2:] == ["stop chat", f"tui {ID}"] or p.world.happened[-1] == f"tui {ID}"
        assert_back_in_terminal(p)


async def test_an_active_writer_elsewhere_rolls_back_with_its_reason(autojump_clock):
    async with play(World(load=OccupiedElsewhere("another program has it open"))) as p:
        with pytest.raises(Conflict) as caught:
            await to_chat(p)
        assert caught.value.reason == "occupied_external"
        assert_back_in_terminal(p)


@pytest.mark.parametrize("fault", ["hang", SideFailed("exit code 1")])
async def test_a_failed_roll_back_ends_interrupted_with_nothing_alive(autojump_clock, fault):
    async with play(World(load=SideFailed("no"), tui_starts=[fault])) as p:
        with pytest.raises(AgentFailed, match="interrupted"):
            await to_chat(p)
        assert p.world.writers == set()
        assert p.record.state == "interrupted"
        assert p.session.over.is_set()


async def test_a_conversation_that_is_not_stored_yet_is_not_eligible(autojump_clock):
    async with play(World(stored=False)) as p:
        with pytest.raises(Conflict) as caught:
            await to_chat(p)
        assert caught.value.extra == {"eligibility": "no_session_id"}
        assert_back_in_terminal(p)


async def test_a_conversation_that_is_not_listed_is_not_eligible(autojump_clock):
    async with play(World(listed=[])) as p:
        with pytest.raises(Conflict) as caught:
            await to_chat(p)
        assert caught.value.extra == {"eligibility": "not_listed"}
        assert_back_in_terminal(p)


async def test_a_running_turn_is_interrupted_once(autojump_clock):
    async with play(World(turn="running")) as p:
        await to_chat(p)
        assert p.world.happened.count("interrupt") == 1


async def switching_until(step: Step, p: Play, nursery: trio.Nursery, results: list) -> None:
    async def switching() -> None:
        results.append(await to_chat(p))

    nursery.start_soon(switching)
    while p.session.position.step is not step:
        await p.session.bell.wait(p.session.bell.version)
    await trio.lowlevel.checkpoint()


async def waiting_for_choice(p: Play, nursery: trio.Nursery, results: list) -> None:
    await switching_until(Step.AWAITING_CHOICE, p, nursery, results)


@pytest.mark.parametrize(
    ("choice", "side", "stop"), [("force", "acp", "kill"), ("cancel", "tui", None), ("idle", "acp", "quit")]
)
async def test_a_turn_that_ignores_the_interrupt_is_asked_about(autojump_clock, choice, side, stop):
    results: list = []
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        await waiting_for_choice(p, nursery, results)
        if choice == "idle":
            p.sides.tui.set("idle")
        else:
            p.session.choice.answer(choice)
        await wait_all_tasks_blocked()
        assert results[0].side == side
        assert p.session.position.side == side
        if stop is None:
            assert "quit" not in p.world.happened
            assert "kill" not in p.world.happened
        else:
            assert stop in p.world.happened
        with pytest.raises(Conflict) as caught:
            p.session.choice.answer("wait")
        assert caught.value.reason == "answered"


async def test_wait_sends_no_new_keys_and_asks_again(autojump_clock):
    results: list = []
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        await waiting_for_choice(p, nursery, results)
        p.session.choice.answer("wait")
        await wait_all_tasks_blocked()
        assert p.session.position.step is Step.INTERRUPTING
        await trio.sleep(11)
        assert p.session.position.step is Step.AWAITING_CHOICE
        assert p.world.happened.count("interrupt") == 1
        p.session.choice.answer("cancel")


async def test_no_choice_in_time_means_cancel(autojump_clock):
    async with play(World(turn="running", interrupt="ignore"), choice=7.0) as p:
        began = trio.current_time()
        result = await to_chat(p)
        assert result.side == "tui"
        assert trio.current_time() - began == pytest.approx(17, abs=0.1)
        assert p.world.happened == ["connector", "interrupt", "stop chat"]
        assert p.record.activity == "turn"


async def test_an_unknown_turn_gets_no_keys_but_a_question(autojump_clock):
    results: list = []
    async with play(World(turn="unknown")) as p, trio.open_nursery() as nursery:
        await waiting_for_choice(p, nursery, results)
        assert "interrupt" not in p.world.happened
        p.session.choice.answer("cancel")


async def test_a_disk_that_is_full_before_the_switch_touches_nothing(autojump_clock):
    async with play(World(store_fails_at="switching")) as p:
        with pytest.raises(StoreUnusable):
            await to_chat(p)
        assert p.session.position.step is Step.TUI
        assert "quit" not in p.world.happened


async def test_a_disk_that_is_full_at_the_commit_rolls_back(autojump_clock):
    async with play(World(store_fails_at="acp")) as p:
        with pytest.raises(StoreUnusable):
            await to_chat(p)
        assert_back_in_terminal(p)


def watch(world: World, look) -> None:
    """Calls `look` with what happens, as it happens."""
    note = world.note

    def noted(what: str) -> None:
        look(what)
        note(what)

    world.__class__ = type("Watched", (World,), {"note": staticmethod(noted), "__slots__": ()})


async def test_the_record_says_switching_before_anything_is_stopped(autojump_clock):
    world = World()
    seen = []
    async with play(world) as p:
        watch(world, lambda what: seen.append((what, p.record.activity)))
        await to_chat(p)
    assert ("quit", "switching") in seen


async def test_the_farewell_names_another_conversation(autojump_clock):
    other = "demo_2"
    world = World(listed=[ID, other], farewell=f"Continue with: hybridmux-demo tui --resume {other}")
    async with play(world) as p:
        await to_chat(p)
        assert p.session.record.agent_session_id == other
        assert p.session.record.agent_session_history == [ID]
        assert p.session.id_change["now"] == other


async def test_the_farewell_names_a_conversation_nobody_lists(autojump_clock):
    async with play(World(farewell="Continue with: hybridmux-demo tui --resume demo_9")) as p:
        with pytest.raises(AgentFailed, match="demo_9"):
            await to_chat(p)
        assert_back_in_terminal(p)  # what nobody lists cannot be opened again


async def test_the_farewell_names_a_conversation_that_somebody_else_has(autojump_clock):
    other = "demo_2"
    world = World(listed=[ID, other], farewell=f"Continue with: hybridmux-demo tui --resume {other}")
    world.elsewhere.add(other)
    async with play(world, profile=WATCHED) as p:
        with pytest.raises(AgentFailed, match="open"):
            await to_chat(p)
        assert_back_in_terminal(p)
        assert p.sides.tui.session_id == ID


async def test_without_the_program_there_is_no_way_back_and_none_out(autojump_clock):
    async with play(World()) as p:
        p.world.no_program = "claude is not installed"
        with pytest.raises(AgentFailed, match="not installed"):
            await to_chat(p)
        assert p.session.position.step is Step.TUI
        assert p.world.happened == []


async def test_what_is_old_is_told_before_anything_is_stopped(autojump_clock):
    old = Outdated(name="Demo", version="0.1", verified="1.0")
    seen = []
    world = World(outdated=[old])
    async with play(world) as p:
        watch(world, lambda what: seen.append((what, p.session.outdated)))
        await to_chat(p)
    assert ("quit", [old]) in seen


async def test_two_switches_at_once(autojump_clock):
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        await waiting_for_choice(p, nursery, [])
        with pytest.raises(Conflict) as caught:
            await to_chat(p)
        assert caught.value.reason == "switching"
        p.session.choice.answer("cancel")


async def test_a_client_that_goes_away_does_not_end_the_switch(autojump_clock):
    async with play(World(turn="running")) as p:
        with trio.CancelScope() as client:
            client.cancel()
            await to_chat(p)
        await wait_all_tasks_blocked()
        assert p.session.position.step is Step.ACP


async def test_chat_to_terminal_hands_the_queue_back_as_a_draft(autojump_clock):
    async with play(World(prompt="open"), "acp") as p:
        await p.session.turns.prompt("running")
        await p.session.turns.prompt("first")
        await p.session.turns.prompt("second")
        await wait_all_tasks_blocked()
        result = await to_terminal(p)
        assert result.draft == "first\n\nsecond"
        assert p.session.turns.queue.items == []
        assert p.world.happened == ["prompt running", "cancel", "stop chat", f"tui {ID}"]
        assert p.events("turn.end")[0]["stopReason"] == "cancelled"


async def test_an_agent_that_ignores_cancel_is_ended_after_the_deadline(autojump_clock):
    async with play(World(prompt="open", cancel="ignore"), "acp") as p:
        await p.session.turns.prompt("never ends")
        await wait_all_tasks_blocked()
        began = trio.current_time()
        result = await to_terminal(p)
        assert result.side == "tui"
        assert trio.current_time() - began == pytest.approx(10, abs=0.1)
        assert p.world.writers == {"tui"}
        assert p.events("turn.end")[0]["stopReason"] == "cancelled"


@pytest.mark.parametrize("fault", ["hang", SideFailed("exit code 1")])
@pytest.mark.parametrize("can_resume", [True, False])
async def test_a_terminal_that_does_not_start_rolls_back_to_the_chat(autojump_clock, fault, can_resume):
    world = World(prompt="open", can_resume=can_resume)
    async with play(world, "acp") as p:
        await p.session.turns.prompt("running")
        await p.session.turns.prompt("queued")
        await wait_all_tasks_blocked()
        world.tui_starts = [fault]
        with pytest.raises(AgentFailed, match="starting"):
            await to_terminal(p)
        assert p.session.position.step is Step.ACP
        assert world.writers == {"chat"}
        assert [item.text for item in p.session.turns.queue.items] == ["queued"]
        assert p.record.side == "acp"


async def test_the_server_stops_in_the_middle_of_a_switch(autojump_clock):
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:

        async def switching() -> None:
            with pytest.raises(Exception, match="stopping"):
                await to_chat(p)

        nursery.start_soon(switching)
        await wait_all_tasks_blocked()
        await lifecycle.shut_down(p.session)
        assert p.world.writers == set()
        assert p.record.state == "interrupted"
        assert p.record.activity == "switching"


async def test_closing_interrupts_a_running_turn_first(autojump_clock):
    async with play(World(turn="running")) as p:
        await p.session.operate("close", partial(lifecycle.close, p.session))
        assert p.world.happened == ["interrupt", "quit"]
        assert p.record.state == "closed"
        assert p.world.writers == set()


async def test_a_terminal_that_finds_an_active_writer_is_started_again(autojump_clock):
    world = World()
    async with play(world, "acp") as p:
        world.tui_starts = [
            OccupiedElsewhere("open in another app"),
            OccupiedElsewhere("open in another app"),
        ]
        assert (await to_terminal(p)).side == "tui"
        assert world.happened == ["stop chat", *["tui demo_1", "kill"] * 2, "tui demo_1"]


async def test_an_active_writer_that_stays_brings_the_chat_back(autojump_clock):
    world = World()
    async with play(world, "acp") as p:
        world.tui_starts = [OccupiedElsewhere("open in another app")] * 100
        with pytest.raises(Conflict) as caught:
            await to_terminal(p)
        assert caught.value.reason == "occupied_external"
        assert p.session.position.step is Step.ACP
        assert world.writers == {"chat"}


async def test_a_conversation_that_another_program_has_open_is_left_alone(autojump_clock):
    async with play(World(elsewhere={ID}), profile=WATCHED) as p:
        with pytest.raises(Conflict) as caught:
            await to_chat(p)
        assert caught.value.reason == "occupied_external"
        assert_back_in_terminal(p)
        assert "quit" not in p.world.happened


async def test_a_chat_whose_conversation_another_program_has_open_stays(autojump_clock):
    async with play(World(elsewhere={ID}), "acp", profile=WATCHED) as p:
        with pytest.raises(Conflict) as caught:
            await to_terminal(p)
        assert caught.value.reason == "occupied_external"
        assert p.session.position.step is Step.ACP
        assert p.world.happened == []
        assert p.world.writers == {"chat"}


async def test_a_message_that_waits_for_a_connector_comes_back_as_the_draft(autojump_clock):
    world = World()
    async with play(world, "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        world.initialize = "hang"
        await p.session.turns.prompt("not sent yet")
        await wait_all_tasks_blocked()
        await p.session.turns.prompt("behind it")
        result = await to_terminal(p)
        assert result.draft == "not sent yet\n\nbehind it"
        assert world.prompts == []


async def unreadable(want):
    """A terminal that says that it cannot go on, and lives."""
    await trio.lowlevel.checkpoint()
    raise SideFailed("what it shows looks like trouble")


async def test_a_terminal_that_cannot_be_read_has_not_ended_its_turn(autojump_clock):
    results: list = []
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        p.sides.tui.watch = unreadable
        await waiting_for_choice(p, nursery, results)
        p.session.choice.answer("wait")
        await trio.sleep(p.session.budgets.interrupting + 1)
        assert p.session.position.step is Step.AWAITING_CHOICE
        assert (results, p.sides.tui.exit_code) == ([], None)
        assert "quit" not in p.world.happened
        p.session.choice.answer("cancel")


@pytest.mark.parametrize("step", [Step.INTERRUPTING, Step.AWAITING_CHOICE])
async def test_the_end_of_the_program_is_the_end_of_its_turn(autojump_clock, step):
    results: list = []
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        await switching_until(step, p, nursery, results)
        p.sides.tui.die(0)
        await wait_all_tasks_blocked()
        assert [one.side for one in results] == ["acp"]
