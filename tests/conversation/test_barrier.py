"""What a replay must hold, as a table; and the switch that reads a lagging one again."""

from functools import partial

import pytest
import trio
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.budgets import HEARD_TEXTS
from hybridmux.conversation import switch
from hybridmux.conversation.barrier import Heard, Known, judge
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import OccupiedElsewhere
from hybridmux.conversation.stay import Stay
from hybridmux.errors import AgentFailed, Conflict

from .play import play
from .world import ID, World


def heard(firm: str, *, loose: str = "", fresh: bool = False) -> Heard:
    return Heard(firm=firm.split(), loose=loose.split(), fresh=fresh)


@pytest.mark.parametrize(
    ("known", "replay", "verdict"),
    [
        (Known(), "", "whole"),
        (Known(), "a b", "whole"),
        (Known(heard=heard("a b")), "a b", "whole"),
        (Known(later=1), "", "behind"),
        (Known(later=1), "a", "whole"),
        (Known(spoke=True), "", "behind"),
        (Known(spoke=True), "a", "whole"),
        (Known(heard=Heard(firm=["a"], fresh=True), later=5), "", "behind"),
        (Known(heard=Heard(firm=["a"]), spoke=True), "", "behind"),
        (Known(heard=Heard(firm=["a"]), spoke=True), "b", "changed"),
        (Known(later=2), "a", "behind"),
        (Known(heard=heard("a b", fresh=True)), "a", "behind"),
        (Known(heard=heard("a b", fresh=True)), "a b", "whole"),
        (Known(heard=heard("a b")), "a", "changed"),
        (Known(heard=heard("a b"), later=1), "a b", "behind"),
        (Known(heard=heard("a b"), later=1), "a b c", "whole"),
        (Known(heard=heard("a b"), later=2), "a b c", "behind"),
        # the same words more than once
        (Known(heard=heard("a go go", fresh=True)), "a go", "behind"),
        (Known(heard=heard("a go"), later=1), "a go", "behind"),
        (Known(heard=heard("a go"), later=1), "a go go", "whole"),
        # rewound or compacted in the terminal
        (Known(heard=heard("a b"), later=1), "a c", "changed"),
        (Known(heard=heard("a b c"), later=1), "summary c d", "changed"),
        # a turn that was interrupted may be there or not
        (Known(heard=heard("a", loose="b")), "a b", "whole"),
        (Known(heard=heard("a", loose="b")), "a", "whole"),
        (Known(heard=heard("a", loose="b"), later=1), "a b", "behind"),
        (Known(heard=heard("a", loose="b"), later=1), "a b c", "whole"),
        # cancelled in the chat
        (Known(heard=Heard(firm=["a"], loose=["b"], hoped=["b"])), "a", "late"),
        (Known(heard=Heard(firm=["a"], loose=["b"], hoped=["b"])), "a b", "whole"),
        (Known(heard=Heard(firm=["a"], loose=["b"], hoped=["b"]), later=1), "a c", "whole"),
        # interrupted in the terminal
        (Known(heard=heard("a"), unfinished=1), "a", "late"),
        (Known(heard=heard("a"), unfinished=1), "a b", "whole"),
        (Known(heard=heard("a"), later=1, unfinished=1), "a b", "late"),
        (Known(heard=heard("a"), later=1, unfinished=1), "a", "behind"),
    ],
)
def test_the_verdict(known, replay, verdict):
    assert judge(known, heard(replay)) == verdict


def test_an_agent_may_wrap_a_message():
    known = Known(heard=Heard(firm=["fix the bug"], fresh=True))
    assert judge(known, Heard(firm=["<context/> fix the bug"])) == "whole"


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abcd"), max_size=4))
def test_a_replay_that_only_grew_is_whole(before, after):
    known = Known(heard=Heard(firm=before, fresh=bool(before)), later=len(after))
    assert judge(known, Heard(firm=before + after)) == "whole"


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
def test_a_replay_without_the_last_chat_turn_is_behind(texts):
    known = Known(heard=Heard(firm=texts, fresh=True))
    assert judge(known, Heard(firm=texts[:-1])) == "behind"


def test_messages_are_firm_when_their_turn_ended_well():
    log = Heard()
    log.message("from a replay", is_new=True, in_turn=False)
    log.message("one", is_new=True, in_turn=True)
    log.message(" more", is_new=False, in_turn=True)
    assert log.firm == ["from a replay"]
    log.turn_ended(well=True)
    assert (log.firm, log.fresh) == (["from a replay", "one more"], True)
    log.message("two", is_new=True, in_turn=True)
    log.turn_ended(well=False)
    assert (log.firm, log.loose, log.fresh) == (["from a replay", "one more"], ["two"], True)


def test_what_is_remembered_is_bounded():
    log = Heard()
    for index in range(HEARD_TEXTS + 10):
        log.message(f"{index} " + "x" * 1000, is_new=True, in_turn=False)
    assert len(log.firm) == HEARD_TEXTS
    assert max(map(len, log.firm)) < 400
    assert judge(Known(heard=heard("0 1 2")), log) == "changed"  # the last one is not there
    # the first one fell off, that is all
    assert judge(Known(heard=Heard(firm=["0 xx", log.firm[-1]])), log) == "whole"


@pytest.mark.parametrize(
    ("turns", "finished"),
    [
        ("idle", 0),
        ("running idle", 1),
        ("running asking running idle running", 1),
        ("running idle running idle", 2),
    ],
)
def test_a_stay_counts_finished_turns(turns, finished):
    stay = Stay("t0")
    for turn in turns.split():
        stay.see(state(turn), interrupted=False, now="t", clock=5.0)
    assert (stay.finished, stay.finished_at) == (finished, 5.0 if finished else None)


def test_an_interrupted_turn_is_not_a_finished_one():
    stay = Stay("t0")
    stay.see(state("running"), interrupted=False, now="t1", clock=1.0)
    stay.see(state("idle"), interrupted=True, now="t2", clock=2.0)
    assert (stay.finished, stay.stopped, stay.turn, stay.since) == (0, 1, "idle", "t2")


def test_what_is_not_stated_is_not_counted():
    stay = Stay("t0", counts=False)
    for turn in ("running", "idle", "running"):
        stay.see(state(turn), interrupted=turn == "idle", now="t", clock=1.0)
    assert (stay.turn, stay.finished, stay.unfinished) == ("running", 0, 0)


@pytest.mark.parametrize(
    ("source", "interrupted", "spoke"),
    [
        ("report", False, True),
        ("registry", False, True),
        ("title", False, False),
        ("screen", False, False),
        (None, False, False),
        ("report", True, False),
    ],
)
def test_a_turn_that_the_agent_states_is_more_than_nothing(source, interrupted, spoke):
    stay = Stay("t0", counts=False)
    for turn in ("running", "idle"):
        look = evolve(state(turn), source=source)
        stay.see(look, interrupted=interrupted and turn == "idle", now="t", clock=1.0, enter_at=0.0)
    assert Known().after(stay).spoke is spoke
    stay.see(state("idle", "another"), interrupted=False, now="t", clock=2.0)
    assert not Known().after(stay).spoke


def test_another_conversation_starts_from_nothing():
    stay = Stay("t0")
    for turn, session in (("running", "a"), ("idle", "a"), ("idle", "b"), ("running", "b"), ("idle", "b")):
        stay.see(state(turn, session), interrupted=False, now="t", clock=1.0)
    assert stay.finished == 1
    known = Known(session_id="a", heard=heard("x y"), later=3)
    assert known.after(stay) == Known(session_id="b", later=1, last_end=1.0)
    assert known.after(Stay("t", session_id="a", finished=2, finished_at=7.0)).later == 5


def state(turn, session=ID):
    from hybridmux.agents.profile import TuiState

    return TuiState(turn=turn, ready=True, session_id=session)


async def to_chat(p):
    return await p.session.operate("switch", partial(switch.to_chat, p.session, None))


async def to_terminal(p):
    return await p.session.operate("switch", partial(switch.to_terminal, p.session))


async def one_turn(p, text):
    """A turn in the terminal that the agent will replay."""
    p.sides.tui.set("running")
    await trio.testing.wait_all_tasks_blocked()
    p.world.history.append(text)
    p.sides.tui.set("idle")
    await trio.testing.wait_all_tasks_blocked()


@pytest.mark.parametrize("loads", [1, 3])
async def test_a_history_that_lags_is_read_again_on_a_fresh_connection(autojump_clock, loads):
    async with play(World(history=[], lag=loads)) as p:
        await one_turn(p, "typed")
        assert (await to_chat(p)).side == "acp"
        assert p.texts() == ["typed"]
        assert p.world.happened.count(f"load {ID}") == loads + 1
        assert p.world.happened.count("connector") == loads + 1
        assert p.events("notice") == []


async def test_a_history_that_never_comes_rolls_back_in_bounded_time(autojump_clock):
    async with play(World(history=[], lag=10**6), retry=9.0) as p:
        await one_turn(p, "typed")
        began = trio.current_time()
        with pytest.raises(AgentFailed, match="does not hold the last finished turn"):
            await to_chat(p)
        assert trio.current_time() - began < 12
        assert p.session.position.step is Step.TUI
        assert p.world.writers == {"tui"}
        # Asked again with nothing new in between, the agent's word counts.
        assert (await to_chat(p)).side == "acp"
        assert [e["code"] for e in p.events("notice")] == ["history_changed"]


async def test_a_turn_after_the_roll_back_is_demanded_again(autojump_clock):
    async with play(World(history=[], lag=10**6), retry=5.0) as p:
        await one_turn(p, "typed")
        with pytest.raises(AgentFailed):
            await to_chat(p)
        await one_turn(p, "more")
        with pytest.raises(AgentFailed, match="last finished turn"):
            await to_chat(p)


async def test_a_turn_that_was_undone_in_the_terminal_commits_with_a_notice(autojump_clock):
    async with play(World(history=["one"], updated_at="2099-01-01T00:00:00Z"), retry=5.0) as p:
        await one_turn(p, "typed")
        p.world.history.remove("typed")
        p.world.history.remove("one")
        assert (await to_chat(p)).side == "acp"
        assert p.texts() == []
        assert [e["code"] for e in p.events("notice")] == ["history_changed"]


@pytest.mark.parametrize(("lag", "notices"), [(2, []), (10**6, ["history_changed"])])
async def test_an_interrupted_turn_is_waited_for_and_not_demanded(autojump_clock, lag, notices):
    async with play(World(turn="running", history=["interrupted"], lag=lag)) as p:
        began = trio.current_time()
        assert (await to_chat(p)).side == "acp"
        assert trio.current_time() - began < 8
        assert p.texts() == ["interrupted"] * (not notices)
        assert [e["code"] for e in p.events("notice")] == notices


async def test_a_turn_interrupted_before_any_answer_counts_as_settled(autojump_clock):
    async with play(World(turn="running", history=["a question nobody answered"])) as p:
        assert (await to_chat(p)).side == "acp"
        assert p.texts() == ["a question nobody answered"]
        assert p.events("notice") == []


async def test_the_last_chat_turn_must_be_in_the_next_replay(autojump_clock):
    async with play(World(can_resume=False), "acp") as p:
        await p.session.turns.prompt("said here")
        await trio.testing.wait_all_tasks_blocked()
        await to_terminal(p)
        p.world.history = ["hello"]
        with pytest.raises(AgentFailed, match="last finished turn"):
            await to_chat(p)
        p.world.history = ["hello", "said here"]
        assert (await to_chat(p)).side == "acp"


@pytest.mark.parametrize("refusals", [1, 4])
async def test_an_active_writer_right_after_our_own_stop_is_tried_again(autojump_clock, refusals):
    async with play(World(refusals=refusals)) as p:
        assert (await to_chat(p)).side == "acp"
        assert p.world.happened.count(f"load {ID}") == refusals + 1
        assert p.world.happened.count("connector") == refusals + 1


async def test_an_active_writer_that_stays_is_external(autojump_clock):
    async with play(World(load=OccupiedElsewhere("another program has it open")), retry=7.0) as p:
        began = trio.current_time()
        with pytest.raises(Conflict) as caught:
            await to_chat(p)
        assert caught.value.reason == "occupied_external"
        assert trio.current_time() - began < 9
        assert p.session.position.step is Step.TUI
