"""A machine that is short of something (descriptors, terminals, temp space, a folder on a dead mount): what
needs it fails with a sentence, and the session goes on."""

import errno
import os
from contextlib import asynccontextmanager

import pytest
import trio
from attrs import evolve
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.demo_profile import PROFILE
from hybridmux.agents.launch import Launch
from hybridmux.budgets import Budgets
from hybridmux.conversation.acp_side import open_chat
from hybridmux.conversation.inputs import folder
from hybridmux.conversation.open_sides import OpenSides
from hybridmux.conversation.outsiders import Occupied
from hybridmux.conversation.phases import Step
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import Plan, SideFailed
from hybridmux.conversation.tui import open_tui
from hybridmux.errors import AgentFailed, BadRequest, Conflict
from tests.support.shortage import no_descriptors

from .play import FREE, WATCHED, eligibility, play
from .scripted import ScriptedSides
from .world import World

SHORT = OSError(errno.EMFILE, "Too many open files")


class Poor(ScriptedSides):
    """Sides on a machine that has enough, until a test says otherwise."""

    lacks = frozenset()

    def need(self, what: str) -> None:
        if what in self.lacks:
            raise SHORT

    @asynccontextmanager
    async def open_chat(self, plan):
        self.need("chat")
        async with super().open_chat(plan) as chat:
            yield chat

    @asynccontextmanager
    async def open_tui(self, plan, session_id, cols, rows):
        self.need("tui")
        async with super().open_tui(plan, session_id, cols, rows) as tui:
            yield tui

    async def obstacles(self, plan, side):
        self.need("obstacles")
        return await super().obstacles(plan, side)

    def openers(self, plan, session_id):
        self.need("openers")
        return super().openers(plan, session_id)

    async def openers_aside(self, plan, session_id):
        self.need("openers")
        return await super().openers_aside(plan, session_id)


@pytest.mark.parametrize("lacking", ["chat", "obstacles"])
async def test_no_precheck_and_the_terminal_is_untouched(autojump_clock, lacking):
    world = World()
    async with play(world, sides=Poor(world)) as p:
        p.sides.lacks = {lacking}
        with pytest.raises(AgentFailed, match="Too many open files"):
            await p.to_chat()
        await wait_all_tasks_blocked()
        assert (p.session.position.step, p.sides.tui.code) == (Step.TUI, None)
        p.sides.lacks = frozenset()
        assert (await p.to_chat()).side == "acp"


async def test_no_terminal_rolls_back_to_the_chat(autojump_clock):
    world = World()
    async with play(world, "acp", sides=Poor(world)) as p:
        p.sides.lacks = {"tui"}
        with pytest.raises(AgentFailed, match=r"starting: .*Too many open files"):
            await p.to_terminal()
        await wait_all_tasks_blocked()
        assert (p.session.position.step, p.record.state) == (Step.ACP, "active")


async def test_a_roll_back_that_lacks_something_ends_interrupted_and_says_why(autojump_clock):
    world = World(load=SideFailed("no"))
    async with play(world, sides=Poor(world)) as p:
        p.sides.lacks = {"tui"}
        with pytest.raises(AgentFailed, match=r"loading: no; .* is interrupted"):
            await p.to_chat()
        assert (p.session.position.step, p.record.state) == (Step.ENDED, "interrupted")
        assert "Too many open files" in p.events("notice")[-1]["text"]


async def test_a_message_fails_and_the_next_one_goes(autojump_clock):
    world = World()
    async with play(world, "acp", sides=Poor(world)) as p:
        p.sides.chat.leave()
        await wait_all_tasks_blocked()
        p.sides.lacks = {"chat"}
        await p.turn_in_chat("one")
        assert "Too many open files" in p.session.turns.turn.stop_reason + p.events("turn.end")[-1]["error"]
        p.sides.lacks = frozenset()
        await p.turn_in_chat("two")
        assert world.prompts == ["two"]


async def test_nothing_is_written_where_it_cannot_be_seen_who_else_writes(autojump_clock):
    world = World()
    async with play(world, "acp", profile=WATCHED, sides=Poor(world)) as p:
        p.sides.lacks = {"openers"}
        await trio.sleep(10)  # beats
        with pytest.raises(Occupied, match=r"it cannot be seen .*Too many open files"):
            await p.session.turns.prompt("one")
        assert (p.session.position.step, world.prompts) == (Step.ACP, [])
        p.sides.lacks = frozenset()
        await p.turn_in_chat("two")
        assert world.prompts == ["two"]
        assert eligibility(p) == FREE


async def test_a_queue_waits_where_it_cannot_be_seen_who_else_writes(autojump_clock):
    may_end = trio.Event()
    world = World(prompt=may_end.wait)
    async with play(world, "acp", profile=WATCHED, sides=Poor(world)) as p:
        await p.turn_in_chat("one")
        await p.session.turns.prompt("two")
        p.sides.lacks = {"openers"}
        may_end.set()
        await wait_all_tasks_blocked()
        assert p.session.turns.queue.paused
        assert (p.session.position.step, world.prompts) == (Step.ACP, ["one"])


async def test_versions_that_cannot_be_asked_for_are_not_told(autojump_clock):
    async def outdated(plan, chat):
        raise SHORT

    world = World()
    sides = ScriptedSides(world)
    sides.outdated = outdated
    async with play(world, "acp", sides=sides) as p:
        await wait_all_tasks_blocked()
        assert (p.session.position.step, p.session.outdated) == (Step.ACP, [])


@pytest.fixture
def dead_mount(monkeypatch):
    """Every look at the root folder fails."""
    look = os.stat

    def dead(path, **more):
        if path == "/":
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return look(path, **more)

    monkeypatch.setattr(os, "stat", dead)


async def test_a_folder_that_cannot_be_looked_at_is_a_409(autojump_clock, dead_mount):
    async with play(World()) as p:
        with pytest.raises(Conflict, match="not connected"):
            await p.to_chat()
        assert (p.session.position.step, p.sides.tui.code) == (Step.TUI, None)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("/", "cannot be used: Transport endpoint is not connected"),
        ("/" + 300 * "x", "cannot be used: File name too long"),
        ("~nobody-of-that-name/x", "give an absolute path"),
        ("/dev/null", "is not a folder"),
        ("/dev/null/x", "is not there"),
        ("/a\0b", "is not there"),
    ],
)
def test_a_new_session_cannot_be_there(dead_mount, given, why):
    with pytest.raises(BadRequest, match=why):
        folder(given)


# The real sides, through the door that all operations use.


def poor_sides(nursery: trio.Nursery, tmp_path) -> OpenSides:
    run, budgets = Run.of(tmp_path), Budgets()

    class Real:
        def open_tui(self, plan, session_id, cols, rows):
            return open_tui(plan, run.mark("s1"), session_id, cols, rows, budgets)

        def open_chat(self, plan):
            return open_chat(plan, run.mark("s1"), budgets)

    profile = evolve(PROFILE, own_temp=True, acp_argv=lambda _: ("/bin/cat",))
    launch = Launch(agent="x", program="/bin/cat")
    plan = Plan(profile=profile, launch=launch, session="s1", cwd="/", env={"PATH": "/bin:/usr/bin"})
    nothing = lambda *_: None  # noqa: E731
    return OpenSides(
        Real(), plan, lambda: nursery, tui_opened=nothing, chat_adopted=nothing, chat_closed=nothing
    )


@pytest.mark.parametrize("lack", ["descriptors", "temp space"])
@pytest.mark.parametrize("side", ["tui", "chat"])
async def test_a_real_side_that_cannot_be_had_is_a_side_that_failed(tmp_path, monkeypatch, side, lack):
    async with trio.open_nursery() as nursery:
        sides = poor_sides(nursery, tmp_path)
        opening = sides.open_chat if side == "chat" else lambda: sides.open_tui(None)
        if lack == "descriptors":
            with no_descriptors(), pytest.raises(SideFailed, match="Too many open files"):
                await opening()
        else:
            monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "full"))
            with pytest.raises(SideFailed, match="No such file"):
                await opening()
        nursery.cancel_scope.cancel()
