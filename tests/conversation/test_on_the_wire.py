"""What reaches an agent, line by line: prompts one at a time, cancels only into a prompt, messages only."""

from contextlib import suppress
from functools import partial

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from hybridmux.conversation import switch
from hybridmux.conversation.view import chat_state
from hybridmux.errors import AgentFailed, Conflict
from tests.acp.fake_agent import Fail

from .play import play
from .wired import Strict, WiredSides
from .world import World

ODD = ["two\nlines", "\r\n", "\u2028 \u2029 \x00 \x85", '{"jsonrpc"', "🙂" * 9, "x" * 20_000]
ACTS = ["say", "say", "cancel", "cancel", "send_now", "unpause", "edit", "die", "option", "round"]


def told(method: str, error: Fail):
    """A handler that refuses."""

    async def refuse(agent, params):
        raise error

    return {method: refuse}


class Person:
    """Does what people do to a chat, several things at once."""

    def __init__(self, p, strict: Strict) -> None:
        self.p, self.turns, self.strict = p, p.session.turns, strict
        self.texts = iter(range(10_000))

    async def say(self) -> None:
        number = next(self.texts)
        await self.turns.prompt(f"{number} {ODD[number % len(ODD)]}")

    async def cancel(self) -> None:
        await self.turns.cancel()

    async def send_now(self) -> None:
        if self.turns.queue.items:
            await self.turns.send_now(self.turns.queue.items[-1].id)

    async def unpause(self) -> None:
        await self.turns.unpause()

    async def edit(self) -> None:
        if self.turns.queue.items:
            await self.turns.waiting.edit(self.turns.queue.items[-1].id, "changed\nmy mind", up=True)

    async def finish(self) -> None:
        self.strict.finish.set()

    async def die(self) -> None:
        self.p.sides.agent.crash()

    async def option(self) -> None:
        await self.p.session.set_option("model", "lar\nge")

    async def round(self) -> None:
        """To the terminal and back."""
        await self.p.session.operate("switch", partial(switch.to_terminal, self.p.session))
        await self.p.session.operate("switch", partial(switch.to_chat, self.p.session, None))

    async def act(self, name: str) -> None:
        with suppress(AgentFailed, Conflict):  # moved, gone or sent in between
            await getattr(self, name)()


async def crowd(moments: list[list[str]]) -> Strict:
    """Each moment's acts begin together; the next moment comes when nothing moves any more."""
    strict = Strict()
    world = World()
    async with play(world, "acp", sides=WiredSides(world, strict.teach)) as p, trio.open_nursery() as nursery:
        person = Person(p, strict)
        for moment in moments:
            for name in moment:
                nursery.start_soon(person.act, name)
            await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return strict


# A turn that ends while its cancel is on the way is nobody's fault: turns end in moments of their own.
MOMENT = st.one_of(st.just(["finish"]), st.lists(st.sampled_from(ACTS), min_size=1, max_size=3))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(MOMENT, max_size=12))
def test_no_agent_is_sent_what_it_does_not_forgive(moments):
    async def run() -> None:
        assert (await crowd(moments)).wrong == []

    trio.run(run, clock=MockClock(autojump_threshold=0))


async def test_the_crowd_gets_through(autojump_clock):
    strict = await crowd(
        [["say", "say"], ["cancel"], ["unpause"], ["send_now"], ["finish"], ["round"], ["say"]]
    )
    assert len(strict.prompts) == 3
    assert strict.cancels == 1


async def test_cancels_without_a_turn_send_nothing(autojump_clock):
    """Two of them make Claude Code fail the next prompt."""
    strict = Strict()
    world = World()
    async with play(world, "acp", sides=WiredSides(world, strict.teach)) as p:
        chat = p.session.chat_now()
        for _ in range(2):
            await p.session.turns.cancel()
            await p.session.turns.settle()
            await chat.cancel()
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        strict.finish.set()
        await wait_all_tasks_blocked()
        await p.session.turns.cancel()
        await chat.cancel()
        await wait_all_tasks_blocked()
        assert "session/cancel" not in p.sides.agent.methods()
        assert p.events("turn.end")[0]["stopReason"] == "end_turn"


async def test_a_switch_during_a_cancel_does_not_cancel_again(autojump_clock):
    strict = Strict()
    world = World()
    async with play(world, "acp", sides=WiredSides(world, strict.teach)) as p:
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        await p.session.turns.cancel()
        await p.session.operate("switch", partial(switch.to_terminal, p.session))
        assert p.sides.agent.methods().count("session/cancel") == 1
        assert p.session.position.side == "tui"


async def test_a_turn_that_is_stopped_before_it_was_sent_sends_neither(autojump_clock):
    strict = Strict()
    world = World()
    async with play(world, "acp", sides=WiredSides(world, strict.teach)) as p:
        disk = trio.Event()
        p.session.note_activity = disk.wait  # nothing goes out before the turn's start is on disk
        async with trio.open_nursery() as nursery:
            nursery.start_soon(p.session.turns.prompt, "never mind")
            await wait_all_tasks_blocked()
            await p.session.turns.cancel()
            disk.set()
        await wait_all_tasks_blocked()
        assert not {"session/prompt", "session/cancel"} & set(p.sides.agent.methods())
        assert p.events("turn.end")[0]["stopReason"] == "cancelled"


@pytest.mark.parametrize("method", ["session/list", "session/load"])
async def test_an_agent_without_a_login_says_so_in_the_answer(autojump_clock, method):
    world = World()
    login = told(method, Fail(-32000, "Authentication required"))
    async with play(world, sides=WiredSides(world, lambda agent: agent.handlers.update(login))) as p:
        with pytest.raises(AgentFailed, match="Authentication required: log in to the agent in a terminal"):
            await p.session.operate("switch", partial(switch.to_chat, p.session, None))
        assert chat_state(p.session)["authRequired"] is True
        login.clear()


async def test_an_agent_without_a_login_begins_no_chat(autojump_clock):
    world = World()
    login = told("session/new", Fail(-32000, "Authentication required"))
    with pytest.raises(BaseExceptionGroup) as caught:
        async with play(world, "acp", sides=WiredSides(world, lambda agent: agent.handlers.update(login))):
            pass
    assert "log in to the agent in a terminal" in str(caught.value.exceptions[0])
