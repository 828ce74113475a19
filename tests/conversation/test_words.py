"""Why a session may not move, in the chat state and in refusals: what is no matter of other programs."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.installed import Obstacle
from hybridmux.budgets import Budgets
from hybridmux.conversation import switch
from hybridmux.conversation.phases import Step
from hybridmux.errors import Conflict
from hybridmux.problems import said
from hybridmux.wire.sessions import SwitchRequest

from .play import FREE, Play, eligibility, play
from .world import ID, World


@pytest.mark.parametrize("chosen", [None, "demo_2"])
async def test_a_terminal_with_several_agents_in_it_does_not_move(autojump_clock, chosen):
    async with play(World(not_root=True, listed=[ID, "demo_2"])) as p:
        assert eligibility(p) == {"available": False, "reason": "not_root", "text": said("not_root")}
        with pytest.raises(Conflict) as caught:
            await p.to_chat(chosen)
        assert caught.value.extra == {"eligibility": "not_root"}
        assert "quit" not in p.world.happened
        assert p.session.position.step is Step.TUI


async def ask(p: Play, to: str):
    return await switch.perform(p.session, SwitchRequest(client_request_id="request-1", to=to))


@pytest.mark.parametrize(("place", "to"), [("tui", "acp"), ("acp", "tui")])
async def test_who_asks_while_a_check_runs_is_told_so(autojump_clock, place, to):
    release = trio.Event()

    async def obstacles(plan, side) -> list[Obstacle]:
        await release.wait()
        return []

    async with play(World(), place) as p, trio.open_nursery() as nursery:
        p.sides.obstacles = obstacles
        nursery.start_soon(ask, p, to)
        await wait_all_tasks_blocked()
        assert eligibility(p) == {"available": False, "reason": "checking", "text": said("checking")}
        for other in ("tui", "acp"):
            with pytest.raises(Conflict) as caught:
                await ask(p, other)
            assert (caught.value.reason, caught.value.extra) == ("not_eligible", {"eligibility": "checking"})
            assert str(caught.value) == said("checking")
        release.set()
        await wait_all_tasks_blocked()
        assert p.session.position.side == to
        assert eligibility(p) == FREE


async def test_a_check_that_fails_is_over(autojump_clock):
    async with play(World(listed=[])) as p:
        with pytest.raises(Conflict):
            await p.to_chat()
        assert eligibility(p) == FREE


async def test_an_operation_with_a_phase_is_switching(autojump_clock):
    async with play(World(turn="running", interrupt="ignore")) as p, trio.open_nursery() as nursery:
        nursery.start_soon(ask, p, "acp")
        await wait_all_tasks_blocked()
        assert eligibility(p) == {"available": False, "reason": "switching", "text": said("switching")}
        with pytest.raises(Conflict) as caught:
            await ask(p, "acp")
        assert caught.value.reason == "switching"
        await trio.sleep(Budgets().interrupting + 1)
        p.session.choice.answer("cancel")
