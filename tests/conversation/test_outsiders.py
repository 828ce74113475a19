"""Programs that are none of ours on a session's conversation, over scripted sides on the mock clock."""

from functools import partial

import pytest
import trio
from attrs import define, field
from trio.testing import wait_all_tasks_blocked

from hybridmux.budgets import Budgets
from hybridmux.conversation import view
from hybridmux.conversation.phases import Step
from hybridmux.errors import Conflict
from hybridmux.problems import said

from .play import FREE, WATCHED, Play, eligibility, play
from .world import ID, World

BEAT = Budgets().evidence_beat
THERE = {"available": False, "reason": "occupied_external", "text": said("occupied_external")}
watched = partial(play, profile=WATCHED)


@define
class Cued(World):
    """Somebody opens the conversation when a certain thing happens."""

    cue: str = field(default="", kw_only=True)

    def note(self, what: str) -> None:
        if what == self.cue:
            self.elsewhere.add(ID)
        World.note(self, what)


def waiting(p: Play) -> list[str]:
    """The queue."""
    return [item.text for item in p.session.turns.queue.items]


def notices(p: Play) -> list[str]:
    return [event["code"] for event in p.events("notice")]


async def refused(act) -> Conflict:
    """Does what is refused with `occupied_external`."""
    with pytest.raises(Conflict) as caught:
        await act
    assert caught.value.body() == {"error": said("occupied_external"), "reason": "occupied_external"}
    return caught.value


# --- seen ---


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_who_comes_and_goes_is_seen_within_a_beat_and_told_once(autojump_clock, place):
    world = World()
    async with watched(world, place) as p:
        for elsewhere, expected in [({ID}, THERE), (set(), FREE)] * 2:
            await trio.sleep(BEAT / 2)
            version = p.session.version
            world.elsewhere = elsewhere
            await trio.sleep(BEAT)
            assert eligibility(p) == expected
            told = p.session.version
            assert told == version + 1 or not elsewhere  # the chat is read again when they have gone
            await trio.sleep(10 * BEAT)
            assert p.session.version == told


async def test_nothing_is_looked_at_to_show_a_state(autojump_clock):
    async with watched(World()) as p:
        for _ in range(10):
            view.chat_state(p.session)
        assert p.world.looks == 0


async def test_an_agent_without_such_evidence_is_never_asked(autojump_clock):
    async with play(World(), "acp") as p:
        await p.turn_in_chat("hello")
        await trio.sleep(100 * BEAT)
        assert p.world.prompts == ["hello"]
        assert p.world.looks == 0


async def test_a_chat_whose_connector_has_died_is_still_looked_at(autojump_clock):
    async with watched(World(), "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        p.world.elsewhere = {ID}
        await trio.sleep(2 * BEAT)
        assert eligibility(p) == THERE


async def test_what_the_terminal_has_moved_on_to_is_what_counts(autojump_clock):
    async with watched(World(elsewhere={ID})) as p:
        await trio.sleep(2 * BEAT)
        assert eligibility(p) == THERE
        p.sides.tui.session_id = "demo_2"
        assert eligibility(p) == FREE
        p.world.elsewhere = {"demo_2"}
        await trio.sleep(2 * BEAT)
        assert eligibility(p) == THERE


async def test_a_look_that_an_operation_has_overtaken_does_not_count(autojump_clock):
    world = World()
    async with watched(world, "acp") as p, trio.open_nursery() as nursery:
        world.delay = lambda: BEAT
        await trio.sleep(1.5 * BEAT)  # a look is under way
        world.delay = lambda: 0.0
        world.tui_starts = ["hang"]
        nursery.start_soon(p.to_terminal)
        await wait_all_tasks_blocked()
        world.elsewhere = {ID}
        version = p.session.version
        await trio.sleep(5 * BEAT)
        assert p.session.version == version
        assert p.session.position.step is Step.STARTING
        nursery.cancel_scope.cancel()


# --- turns ---


@pytest.mark.parametrize("connector", ["there", "gone"])
async def test_a_message_is_refused_and_nothing_of_it_is_left(autojump_clock, connector):
    async with watched(World(elsewhere={ID}), "acp") as p:
        if connector == "gone":
            p.sides.chat.leave()
            await wait_all_tasks_blocked()
        end = p.session.log.journal.end
        p.world.happened.clear()
        await refused(p.session.turns.prompt("hello"))
        assert eligibility(p) == THERE  # at once
        assert (p.session.turns.turn, waiting(p), p.world.happened) == (None, [], [])
        assert p.session.log.journal.end == end
        p.world.elsewhere.clear()
        await p.turn_in_chat("hello")
        assert p.world.prompts == ["hello"]
        assert eligibility(p) == FREE


async def test_a_running_turn_is_not_harmed_and_the_queue_waits_behind_it(autojump_clock):
    finish = trio.Event()
    world = World(prompt=finish.wait, remembers=True)
    async with watched(world, "acp") as p:
        for text in ("one", "two", "three"):
            await p.session.turns.prompt(text)
        world.elsewhere = {ID}
        await trio.sleep(5 * BEAT)
        assert p.session.turns.running
        assert await p.session.turns.prompt("four") is not None
        finish.set()
        await wait_all_tasks_blocked()
        (end,) = p.events("turn.end")
        assert end["stopReason"] == "end_turn"
        assert p.session.turns.queue.paused
        assert notices(p) == ["occupied_external"]
        await refused(p.session.turns.unpause())
        assert (waiting(p), p.session.turns.queue.paused) == (["two", "three", "four"], True)
        assert world.happened == ["prompt one"]
        world.elsewhere = set()
        await p.session.turns.unpause()
        await wait_all_tasks_blocked()
        assert world.prompts == ["one", "two", "three", "four"]


async def test_who_comes_between_two_queued_messages_stops_the_second(autojump_clock):
    finish = trio.Event()
    world = Cued(prompt=finish.wait, cue="prompt two")
    async with watched(world, "acp") as p:
        for text in ("one", "two", "three"):
            await p.session.turns.prompt(text)
        finish.set()
        await wait_all_tasks_blocked()
        assert world.prompts == ["one", "two"]
        assert [end["stopReason"] for end in p.events("turn.end")] == ["end_turn"] * 2
        assert (waiting(p), p.session.turns.queue.paused) == (["three"], True)


async def test_a_turn_is_not_cancelled_for_a_message_that_cannot_go(autojump_clock):
    world = World(prompt="open")
    async with watched(world, "acp") as p:
        for text in ("one", "two", "three"):
            await p.session.turns.prompt(text)
        world.elsewhere = {ID}
        await refused(p.session.turns.send_now(p.session.turns.queue.items[1].id))
        assert waiting(p) == ["two", "three"]
        assert world.happened == ["prompt one"]
        assert p.session.turns.running


async def test_who_comes_while_a_turn_is_cancelled_keeps_the_message_waiting(autojump_clock):
    world = Cued(prompt="open", cue="cancel")
    async with watched(world, "acp") as p:
        for text in ("one", "two", "three"):
            await p.session.turns.prompt(text)
        await refused(p.session.turns.send_now(p.session.turns.queue.items[1].id))
        assert (waiting(p), p.session.turns.queue.paused) == (["three", "two"], True)
        assert world.prompts == ["one"]


@pytest.mark.parametrize("can_resume", [True, False])
async def test_who_comes_while_the_connector_starts_sends_the_message_back_to_the_queue(
    autojump_clock, can_resume
):
    world = World(can_resume=can_resume)
    async with watched(world, "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()

        async def come() -> None:
            world.elsewhere.add(ID)

        world.initialize = come
        item = await p.session.turns.prompt("hello")
        assert item in p.session.turns.queue.items
        await wait_all_tasks_blocked()
        assert (waiting(p), p.session.turns.queue.paused) == (["hello"], True)
        assert world.prompts == []
        (end,) = p.events("turn.end")
        assert (end["stopReason"], end["error"]) == ("error", said("occupied_external"))
        world.elsewhere.clear()
        world.initialize = "ok"
        await p.session.turns.unpause()
        await wait_all_tasks_blocked()
        assert world.prompts == ["hello"]


async def test_a_connector_is_not_started_again_beside_another_program(autojump_clock):
    async with watched(World(options={"effort": "low"}), "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        p.world.happened.clear()
        p.world.elsewhere = {ID}
        await refused(p.session.set_option("effort", "high"))
        assert p.world.happened == []


# --- what they leave behind ---


def said_by_users(p: Play) -> list[str]:
    """The timeline's user messages."""
    messages = [event for event in p.events("message.append") if event["role"] == "user"]
    return [event["content"]["text"] for event in messages]


async def visit(p: Play, *texts: str) -> None:
    """Somebody opens the conversation, says something in it and goes; seen both times."""
    p.world.elsewhere = {ID}
    await trio.sleep(1.5 * BEAT)
    p.world.history += texts
    p.world.elsewhere = set()


@pytest.mark.parametrize("can_resume", [True, False])
async def test_what_they_said_is_read_before_anything_more_is_said(autojump_clock, can_resume):
    async with watched(World(can_resume=can_resume, remembers=True), "acp") as p:
        await p.turn_in_chat("one")
        p.world.happened.clear()
        await visit(p, "theirs")
        await trio.sleep(2 * BEAT)
        assert f"load {ID}" in p.world.happened
        assert said_by_users(p) == p.world.history
        assert notices(p) == ["loaded_anew"]
        await trio.sleep(10 * BEAT)
        assert p.world.happened.count(f"load {ID}") == 1
        await p.turn_in_chat("two")
        assert p.world.prompts == ["one", "two"]


async def test_a_message_that_comes_as_they_go_waits_until_it_was_read(autojump_clock):
    async with watched(World(remembers=True), "acp") as p:
        await p.turn_in_chat("one")
        p.world.happened.clear()
        await visit(p, "theirs")
        await p.turn_in_chat("two")  # sooner than the beat
        happened = [each for each in p.world.happened if each.startswith(("load", "prompt"))]
        assert happened == [f"load {ID}", "prompt two"]
        assert said_by_users(p)[-2:] == ["theirs", "two"]


async def test_a_turn_that_ran_beside_them_keeps_its_connector_to_its_end(autojump_clock):
    finish = trio.Event()
    async with watched(World(prompt=finish.wait, options={"effort": "low"}), "acp") as p:
        await p.session.turns.prompt("one")
        p.world.happened.clear()
        await visit(p)
        await trio.sleep(2 * BEAT)
        await p.session.set_option("effort", "high")
        assert p.world.happened == ["set effort=high"]
        finish.set()
        await trio.sleep(2 * BEAT)
        assert f"load {ID}" in p.world.happened
        (end,) = p.events("turn.end") or [{"stopReason": p.session.turns.turn.stop_reason}]
        assert end["stopReason"] == "end_turn"


async def test_who_stays_while_the_connector_is_replaced_leaves_traces_again(autojump_clock):
    async with watched(Cued(cue="stop chat", remembers=True), "acp") as p:
        await p.turn_in_chat("hello")
        await refused(p.to_terminal())  # they came; the chat was opened again beside them
        p.world.history.append("theirs")
        p.world.elsewhere.clear()
        p.world.happened.clear()
        p.world.cue = ""
        await trio.sleep(2 * BEAT)
        assert f"load {ID}" in p.world.happened
        assert said_by_users(p) == p.world.history


# --- switches ---


async def test_who_comes_before_the_terminal_starts_sends_the_switch_back(autojump_clock):
    world = Cued(cue="stop chat")
    async with watched(world, "acp") as p:
        await p.turn_in_chat("hello")
        await refused(p.to_terminal())
        assert p.session.position.step is Step.ACP
        assert "tui" not in " ".join(world.happened)
        assert world.writers == {"chat"}
        assert p.record.side == "acp"
        assert eligibility(p) == THERE
        await refused(p.session.turns.prompt("more"))
        assert world.prompts == ["hello"]


async def test_who_comes_before_the_chat_is_loaded_keeps_it_silent(autojump_clock):
    world = Cued(cue="quit")
    async with watched(world) as p:
        await p.to_chat()
        await refused(p.session.turns.prompt("hello"))
        await trio.sleep(2 * BEAT)
        assert eligibility(p) == THERE
        assert world.prompts == []
        await refused(p.to_terminal())
        assert p.session.position.step is Step.ACP
        world.elsewhere.clear()
        await p.to_terminal()
        assert p.session.position.step is Step.TUI


async def test_messages_that_came_during_a_failed_switch_wait(autojump_clock):
    world = Cued(cue="stop chat")
    async with watched(world, "acp") as p, trio.open_nursery() as nursery:
        world.delay = lambda: 1.0

        async def switching() -> None:
            await refused(p.to_terminal())

        nursery.start_soon(switching)
        await trio.sleep(0.5)
        for text in ("one", "two"):
            assert await p.session.turns.prompt(text) is not None
        await trio.sleep(10)
        assert (waiting(p), p.session.turns.queue.paused) == (["one", "two"], True)
        assert world.prompts == []
        assert notices(p)[-1] == "occupied_external"


async def test_an_option_of_a_living_connector_is_set_all_the_same(autojump_clock):
    async with watched(World(options={"effort": "low"}, elsewhere={ID}), "acp") as p:
        await p.session.set_option("effort", "high")
        assert "set effort=high" in p.world.happened
