"""Turns, the queue, cancelling and requests over a scripted agent, on the mock clock."""

from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.conversation import lifecycle
from hybridmux.errors import BadRequest, Conflict
from hybridmux.wire.chat_commands import RequestAnswer

from .play import play
from .wired import Strict, WiredSides
from .world import World

OPTIONS = [
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
]


def permission() -> dict:
    """What an agent sends."""
    return {"toolCall": {"toolCallId": "t1", "title": "rm"}, "options": OPTIONS}


def answer(outcome: str, option: str | None = None) -> RequestAnswer:
    """What a person says."""
    return RequestAnswer(client_request_id="x" * 8, outcome=outcome, option_id=option)


async def test_messages_wait_their_turn_in_order(autojump_clock):
    async with play(World(prompt="open"), "acp") as p:
        for text in ("one", "two", "three"):
            await p.session.turns.prompt(text)
        await wait_all_tasks_blocked()
        assert [item.text for item in p.session.turns.queue.items] == ["two", "three"]
        p.world.prompt = "ok"
        await p.session.turns.cancel()
        await wait_all_tasks_blocked()
        assert p.session.turns.queue.paused
        await p.session.turns.unpause()
        await wait_all_tasks_blocked()
        assert [w for w in p.world.happened if w.startswith("prompt")] == [
            "prompt one",
            "prompt two",
            "prompt three",
        ]


async def test_a_cancel_that_is_ignored_ends_the_connector_and_the_next_message_brings_it_back(
    autojump_clock,
):
    async with play(World(prompt="open", cancel="ignore"), "acp") as p:
        await p.session.turns.prompt("stuck")
        await wait_all_tasks_blocked()
        began = trio.current_time()
        await p.session.turns.cancel()
        await trio.sleep(11)
        assert p.events("turn.end")[0]["stopReason"] == "cancelled"
        assert "kill chat" in p.world.happened
        assert trio.current_time() - began < 12
        p.world.prompt = "ok"
        await p.session.turns.prompt("again")
        await wait_all_tasks_blocked()
        assert p.texts()[-1] == "echo: again"
        assert p.world.writers == {"chat"}


async def test_a_second_cancel_does_not_wait_for_the_deadline(autojump_clock):
    async with play(World(prompt="open", cancel="ignore"), "acp") as p:
        await p.session.turns.prompt("stuck")
        await wait_all_tasks_blocked()
        began = trio.current_time()
        await p.session.turns.cancel()
        await p.session.turns.cancel()
        await wait_all_tasks_blocked()
        assert p.events("turn.end")
        assert trio.current_time() == began


async def test_a_connector_that_dies_ends_the_turn_in_error_and_pauses_the_queue(autojump_clock):
    async with play(World(prompt="open"), "acp") as p:
        await p.session.turns.prompt("one")
        await p.session.turns.prompt("two")
        await wait_all_tasks_blocked()
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        assert p.events("turn.end")[0]["stopReason"] == "error"
        assert p.session.turns.queue.paused
        assert not p.session.turns.running


async def test_what_is_asked_while_a_turn_is_cancelled_is_answered_at_once(autojump_clock):
    async with play(World(prompt="open", cancel="ignore"), "acp") as p:
        for mode in ("ask", "auto"):
            p.session.turns.asking.set_mode(mode)
            await p.session.turns.prompt("stuck")
            await wait_all_tasks_blocked()
            await p.session.turns.cancel()
            with trio.fail_after(0.1):
                assert await p.session.turns.asking.permission(permission()) == {
                    "outcome": {"outcome": "cancelled"}
                }
                assert await p.session.turns.asking.form({"message": "x"}) == {"action": "cancel"}
            await p.session.turns.cancel()
            await wait_all_tasks_blocked()
        assert p.session.turns.asking.open_requests() == []


async def test_an_open_request_is_cancelled_with_its_turn(autojump_clock):
    async with play(World(prompt="open"), "acp") as p, trio.open_nursery() as nursery:
        p.session.turns.asking.set_mode("ask")
        await p.session.turns.prompt("stuck")
        outcomes = []

        async def ask() -> None:
            outcomes.append(await p.session.turns.asking.permission(permission()))

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        await p.session.turns.cancel()
        await wait_all_tasks_blocked()
        assert outcomes == [{"outcome": {"outcome": "cancelled"}}]
        assert [e["outcome"] for e in p.events("request.close")] == ["cancelled"]


async def test_auto_grants_silently_and_ask_waits_for_a_person(autojump_clock):
    async with play(World(), "acp") as p, trio.open_nursery() as nursery:
        asking = p.session.turns.asking
        granted = {"outcome": {"outcome": "selected", "optionId": "yes"}}
        assert await asking.permission(permission()) == granted
        assert p.events("request.open") == []
        asking.set_mode("ask")
        outcomes = []

        async def ask() -> None:
            outcomes.append(await asking.permission(permission()))

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        (request,) = asking.open_requests()
        with pytest.raises(BadRequest):
            asking.answer(request["requestId"], answer("selected", "maybe"))
        asking.answer(request["requestId"], answer("selected", "no"))
        with pytest.raises(Conflict) as caught:
            asking.answer(request["requestId"], answer("selected", "yes"))
        assert caught.value.reason == "answered"
        await wait_all_tasks_blocked()
        assert outcomes == [{"outcome": {"outcome": "selected", "optionId": "no"}}]
        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        asking.set_mode("auto")
        await wait_all_tasks_blocked()
        assert outcomes[1] == granted


async def test_send_now_goes_before_the_others(autojump_clock):
    async with play(World(prompt="open"), "acp") as p:
        for text in ("one", "two", "three"):
            await p.session.turns.prompt(text)
        await wait_all_tasks_blocked()
        last = p.session.turns.queue.items[-1]
        p.world.prompt = "ok"
        await p.session.turns.send_now(last.id)
        await wait_all_tasks_blocked()
        prompts = [w for w in p.world.happened if w.startswith("prompt")]
        assert prompts == ["prompt one", "prompt three", "prompt two"]
        with pytest.raises(Conflict) as caught:
            await p.session.turns.waiting.remove(last.id)
        assert caught.value.reason == "sent"


async def test_an_acknowledged_message_has_gone_out_and_its_turn_is_on_disk(autojump_clock):
    world = World(prompt="open")
    async with play(world, "acp") as p:
        await p.session.turns.prompt("first")
        assert world.prompts == ["first"]
        assert p.record.activity == "turn"


async def test_an_acknowledgement_does_not_wait_for_an_agent_that_starts_slowly(autojump_clock):
    world = World()
    async with play(world, "acp") as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        world.initialize = "hang"
        began = trio.current_time()
        await p.session.turns.prompt("first")
        assert trio.current_time() - began <= p.session.budgets.prompt_ack
        assert p.record.activity == "turn"


async def test_send_now_sends_what_was_edited_and_moved_meanwhile(autojump_clock):
    async with play(World(prompt="open", cancel="ignore"), "acp") as p, trio.open_nursery() as nursery:
        turns = p.session.turns
        for text in ("one", "two", "three"):
            await turns.prompt(text)
        await wait_all_tasks_blocked()
        two, three = turns.queue.items
        nursery.start_soon(turns.send_now, three.id)
        await wait_all_tasks_blocked()
        await turns.waiting.edit(three.id, "three, edited", up=False)
        await turns.waiting.edit(two.id, None, up=True)
        p.world.prompt = "ok"
        p.sides.chat.finish_turn.set()
        await wait_all_tasks_blocked()
        assert p.world.prompts == ["one", "three, edited", "two"]


async def test_send_now_of_what_is_removed_meanwhile_leaves_the_rest_waiting(autojump_clock):
    async with play(World(prompt="open", cancel="ignore"), "acp") as p, trio.open_nursery() as nursery:
        turns = p.session.turns
        for text in ("one", "two", "three"):
            await turns.prompt(text)
        await wait_all_tasks_blocked()
        three = turns.queue.items[-1]
        nursery.start_soon(turns.send_now, three.id)
        await wait_all_tasks_blocked()
        await turns.waiting.remove(three.id)
        p.sides.chat.finish_turn.set()
        await wait_all_tasks_blocked()
        assert p.world.prompts == ["one"]
        assert turns.queue.paused


@pytest.mark.parametrize("ends", ["well", "abandoned"])
async def test_a_turn_is_whole_in_a_log_that_was_read_anew_as_it_began(autojump_clock, ends):
    """The disk is slow, and the conversation that others have written to is just being read again."""
    world = World(history=["before"])
    async with play(world, "acp") as p, trio.open_nursery() as nursery:
        s, put = p.session, p.session.store.put

        async def slowly(record, **more):
            await read_anew.wait()
            return await put(record, **more)

        s.outsiders.left_traces = True
        s.store.put, read_anew = slowly, trio.Event()
        world.delay = lambda: 1.0
        old = s.log
        nursery.start_soon(s.connected)
        nursery.start_soon(s.turns.prompt, "mine")
        while s.log is old:
            await s.bell.wait(s.bell.version)
        if ends == "abandoned":
            nursery.start_soon(s.turns.abandon)
        read_anew.set()
        await wait_all_tasks_blocked()
        answer = ["echo: mine"] if ends == "well" else []
        assert p.texts() == ["before", "mine", *answer]
        (start,), (end,) = p.events("turn.start"), p.events("turn.end")
        assert start["turnId"] == end["turnId"]


@pytest.mark.parametrize("leaves", ["to the terminal", "closed"])
async def test_a_message_that_was_never_written_is_not_lost(autojump_clock, leaves):
    """The agent does not read: its pipe is full."""
    world, strict = World(), Strict()
    async with play(world, "acp", sides=WiredSides(world, strict.teach)) as p:
        p.sides.agent.stream.limit = -1
        await p.session.turns.prompt("a long message")
        if leaves == "closed":
            await p.session.operate("close", partial(lifecycle.close, p.session))
            assert p.record.queued == 1
        else:
            assert (await p.to_terminal()).draft == "a long message"
        assert strict.prompts == []


async def test_a_message_that_was_written_is_the_agents(autojump_clock):
    world, strict = World(), Strict()
    async with play(world, "acp", sides=WiredSides(world, strict.teach)) as p:
        await p.session.turns.prompt("a message")
        p.sides.agent.stream.limit = -1
        assert (await p.to_terminal()).draft is None
        assert strict.prompts == ["a message"]
