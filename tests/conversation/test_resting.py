"""An operation may fail in any way: its session does not stay between two places."""

import os

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.demo_profile import PROFILE
from hybridmux.agents.launch import Launch
from hybridmux.budgets import Budgets
from hybridmux.conversation import lifecycle
from hybridmux.conversation.phases import Step
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import Plan, SideFailed
from hybridmux.conversation.tui import open_tui
from hybridmux.errors import AgentFailed, StoreUnusable
from hybridmux.terminal.keyboard import InputStuck

from .play import Play, play
from .world import World


def failing(error: Exception):
    async def fails(*args, **more):
        await trio.sleep(1)
        raise error

    return fails


async def test_a_terminal_that_reads_no_keys_is_a_question_as_at_the_deadline(autojump_clock):
    async with play(World(turn="running"), interrupting=20.0) as p, trio.open_nursery() as nursery:
        p.sides.tui.press = failing(InputStuck(0))
        nursery.start_soon(p.to_chat)
        await trio.sleep(5)
        assert p.session.position.step is Step.AWAITING_CHOICE
        p.session.choice.answer("force")
        await wait_all_tasks_blocked()
        await trio.sleep(5)
        assert p.session.position.step is Step.ACP


async def test_a_terminal_that_reads_no_keys_can_be_closed(autojump_clock):
    async with play(World(turn="running"), interrupting=20.0) as p:
        p.sides.tui.press = failing(InputStuck(0))
        await close(p)
        assert (p.session.position.step, p.record.state) == (Step.ENDED, "closed")


async def close(p: Play) -> None:
    await p.session.operate("close", lambda: lifecycle.close(p.session))


@pytest.mark.parametrize("error", [AgentFailed("a new way to fail"), OSError(5, "a new way to fail")])
@pytest.mark.parametrize("work", [Play.to_chat, close])
async def test_a_terminal_that_was_not_touched_is_where_it_was(autojump_clock, error, work):
    async with play(World(turn="running")) as p:
        p.sides.tui.press = failing(error)
        with pytest.raises(AgentFailed, match="a new way to fail"):
            await work(p)
        assert (p.session.position.step, p.record.state, p.record.activity) == (Step.TUI, "active", "turn")
        del p.sides.tui.press
        assert (await p.to_chat()).side == "acp"


@pytest.mark.parametrize("work", [Play.to_terminal, close])
async def test_a_chat_that_was_not_touched_is_where_it_was(autojump_clock, work):
    async with play(World(prompt="open"), "acp") as p:
        await p.turn_in_chat("one")
        p.session.turns.settle = failing(AgentFailed("a new way to fail"))
        with pytest.raises(AgentFailed, match="a new way to fail"):
            await work(p)
        assert (p.session.position.step, p.record.state) == (Step.ACP, "active")
        del p.session.turns.settle
        assert (await p.to_terminal()).side == "tui"


async def test_from_stopping_on_it_has_ended(autojump_clock):
    async with play(World()) as p:

        async def work() -> None:
            p.session.position.begin("close")
            p.session.position.move(Step.STOPPING)
            raise AgentFailed("a new way to fail")

        with pytest.raises(AgentFailed):
            await p.session.operate("close", work)
        assert (p.session.position.step, p.record.state) == (Step.ENDED, "interrupted")
        assert p.sides.tui.code is not None


@pytest.mark.parametrize("place", ["tui", "acp"])
async def test_nothing_is_started_by_a_failure_under_the_servers_stop(autojump_clock, place):
    world = World()
    async with play(world, place) as p, trio.open_nursery() as nursery:
        s, put = p.session, p.session.store.put
        writing = trio.Event()

        async def slow(record, **more):
            if record.side != place:
                writing.set()
                with trio.CancelScope(shield=True):  # as a write to the disk
                    await trio.sleep(1)
                raise StoreUnusable("the disk is full", "/x")
            return await put(record, **more)

        async def switch() -> None:
            with pytest.raises(Exception, match="the server is stopping"):
                await (p.to_chat() if place == "tui" else p.to_terminal())

        s.store.put = slow
        nursery.start_soon(switch)
        await writing.wait()
        world.happened.clear()
        await lifecycle.shut_down(s)
        assert [what for what in world.happened if what.startswith(("tui", "connector"))] == []
        assert p.record.state == "interrupted"


async def test_a_failure_without_a_stop_still_goes_back(autojump_clock):
    async with play(World(load=SideFailed("no"))) as p:
        with pytest.raises(AgentFailed, match="no"):
            await p.to_chat()
        assert p.session.position.step is Step.TUI


async def test_a_program_that_reads_no_keys_is_stopped(tmp_path):
    script = "stty raw -echo; printf ready; exec sleep 1000"
    launch = Launch(agent="demo", program="/bin/sh", args=("-c", script))
    plan = Plan(profile=PROFILE, launch=launch, session="s1", cwd="/", env={"PATH": os.environ["PATH"]})
    budgets = Budgets(input_stall=0.2, stopping_step=1.5)
    async with open_tui(plan, Run.of(tmp_path).mark("s1"), None, 80, 24, budgets) as tui:
        while "ready" not in tui.terminal.screen.text():
            await tui.terminal.changed(tui.terminal.changes)
        with pytest.raises(InputStuck):
            await tui.write(b"x" * 1_000_000)
        await tui.stop(clean=True)
        assert (tui.report.how, tui.report.survivors) == ("SIGTERM", [])
