"""What an agent sends around its answers, in one read with them: nothing is lost, and nothing overtakes."""

from contextlib import asynccontextmanager

import orjson
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.budgets import EARLY_UPDATES, Budgets
from hybridmux.conversation.acp_side import AcpSide
from hybridmux.conversation.view import chat_state
from tests.acp.fake_agent import FakeAgent

from .play import play
from .wired import WiredSides
from .world import ID, World

OURS, OTHER = "s9", "s8"
CALLS = {
    "session/new": lambda side, took: side.new(took),
    "session/load": lambda side, took: side.load(OURS, took),
    "session/resume": lambda side, took: side.resume(OURS, took),
}
REQUESTS = {
    "session/request_permission": {"outcome": {"outcome": "cancelled"}},
    "elicitation/create": {"action": "cancel"},
}


def update(name: str, session: str = OURS) -> dict:
    return {"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": name}}}


def at_once(agent: FakeAgent, *messages: dict) -> None:
    agent.say_raw(b"".join(orjson.dumps({"jsonrpc": "2.0", **each}) + b"\n" for each in messages))


@asynccontextmanager
async def opening(method: str):
    """An agent that is asked to open a session; what its side gives on, in order; the request."""
    agent, side, got = FakeAgent(), AcpSide(Budgets()), []
    side.sink = lambda params: got.append(params["update"]["sessionUpdate"])
    del agent.handlers[method]
    async with agent.connect(side) as connector, trio.open_nursery() as nursery:
        await side.begin(connector)
        nursery.start_soon(CALLS[method], side, lambda answer: got.append("the answer"))
        yield agent, side, got, await agent.expect(method)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("method", CALLS)
async def test_what_comes_around_the_answer_keeps_its_place(autojump_clock, method):
    async with opening(method) as (agent, _, got, request):
        answer = {"id": request.id, "result": {"sessionId": OURS}}
        at_once(agent, update("a"), update("of others", OTHER), answer, update("b"), update("no", OTHER))
        await wait_all_tasks_blocked()
        assert got == ["a", "the answer", "b"]


async def test_what_comes_before_a_new_session_is_known_is_bounded(autojump_clock):
    async with opening("session/new") as (agent, _, got, request):
        early = [update(str(number)) for number in range(EARLY_UPDATES + 5)]
        at_once(agent, *early, {"id": request.id, "result": {"sessionId": OURS}})
        await wait_all_tasks_blocked()
        assert got == [*(str(number) for number in range(5, EARLY_UPDATES + 5)), "the answer"]


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(("asked", "refused"), REQUESTS.items())
async def test_a_request_waits_for_whoever_answers_once_a_session_is_open(
    autojump_clock, method, asked, refused
):
    class Asker:
        async def permission(self, params):
            return {"outcome": {"outcome": "selected", "optionId": "yes"}}

        async def form(self, params):
            return {"action": "accept", "content": {}}

    def answers() -> dict:
        return {one["id"]: one["result"] for one in agent.heard if "result" in one}

    async with opening(method) as (agent, side, _, request):
        ask = {"method": asked, "params": {"sessionId": OURS}}
        at_once(agent, {"id": 71, **ask})
        await wait_all_tasks_blocked()
        assert answers() == {71: refused}  # the agent may wait for it before it opens anything
        at_once(agent, {"id": request.id, "result": {"sessionId": OURS}}, {"id": 72, **ask})
        await wait_all_tasks_blocked()
        assert 72 not in answers()
        side.asker = Asker()
        await wait_all_tasks_blocked()
        assert answers()[72] != refused


# --- in a session ---


def options(value: str) -> list[dict]:
    return [{"id": "model", "name": "Model", "type": "select", "currentValue": value, "options": []}]


def newer(agent: FakeAgent, session: str) -> tuple[dict, dict]:
    """What comes right behind an answer that says `small`."""
    return tuple(
        {"method": "session/update", "params": {"sessionId": session, "update": each}}
        for each in (
            {"sessionUpdate": "config_option_update", "configOptions": options("large")},
            {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "init"}]},
        )
    )


@pytest.mark.parametrize(
    "method", ["session/new", "session/load", "session/resume", "session/set_config_option"]
)
async def test_news_right_behind_an_answer_are_in_the_chat_state(autojump_clock, method):
    def hasty(agent: FakeAgent) -> None:
        """Answers and goes on in one write."""
        take = agent._take

        def read(message: dict, nursery) -> None:
            if message.get("method") != method:
                take(message, nursery)
                return
            answer = {"id": message["id"], "result": {"sessionId": ID, "configOptions": options("small")}}
            at_once(agent, answer, *newer(agent, ID))

        agent._take = read
        if method != "session/new":
            agent.handlers["session/new"] = begin

    async def begin(agent: FakeAgent, params: dict) -> dict:
        return {"sessionId": ID, "configOptions": options("small")}

    world = World()
    async with play(world, "acp", sides=WiredSides(world, hasty)) as p:
        if method == "session/set_config_option":
            await p.session.set_option("model", "small")
        elif method == "session/resume":
            p.sides.agent.crash()
            await wait_all_tasks_blocked()
            await p.session.turns.prompt("hello")
        elif method == "session/load":
            await p.to_terminal()
            await p.to_chat()
        await wait_all_tasks_blocked()
        state = chat_state(p.session)
        assert [one["value"] for one in state["configOptions"]] == ["large"]
        assert [one["name"] for one in state["commands"]] == ["init"]
