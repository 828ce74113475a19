"""The hub on scripted sides: what two requests at once must not do to each other."""

import os
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents.registry import Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation import shell
from hybridmux.conversation.hub import Hub
from hybridmux.conversation.phases import Step
from hybridmux.conversation.run import Run
from hybridmux.errors import Conflict, ServerStopping
from hybridmux.terminal.screen import Screen
from hybridmux.wire.sessions import CreateSession, ResumeRequest

from .backstage import Configs, Records, Stage
from .machine import REQUEST_ID, Machine, machine
from .play import WATCHED

AGAIN = ResumeRequest(client_request_id=REQUEST_ID)
IN_CHAT = CreateSession(config_id="c1", start_side="acp")


async def asked(m: Machine, outcomes: list, work, *args) -> None:
    """A request, and what came of it."""
    try:
        await work(*args)
        outcomes.append("done")
    except Exception as exc:
        outcomes.append(exc)


async def closed_session(m: Machine) -> str:
    await m.do(("create", "acp"))
    await m.do(("close", 0))
    return m.ids[0]


async def test_a_record_is_either_removed_or_resumed(autojump_clock):
    async with machine() as m:
        sid = await closed_session(m)
        outcomes: list = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(asked, m, outcomes, m.hub.remove_record, sid)
            nursery.start_soon(asked, m, outcomes, m.hub.resume, sid, AGAIN)
        (refused,) = [one for one in outcomes if one != "done"]
        assert isinstance(refused, Conflict)
        assert (sid in m.records.items) == (sid in [s.id for s in m.hub.all()])


async def test_a_removed_record_does_not_come_back(autojump_clock):
    async with machine() as m:
        await m.do(("create", "tui"))
        await m.do(("exit", 0, 0))
        sid = m.ids[0]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(asked, m, [], m.hub.remove_record, sid)
            nursery.start_soon(asked, m, [], m.hub.rename, sid, "late")
        assert sid not in m.records.items


async def test_a_session_that_is_being_created_ends_with_the_server(autojump_clock):
    async with machine() as m:
        m.stage.more = {"new": "hang"}
        outcomes: list = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(asked, m, outcomes, m.hub.create, IN_CHAT)
            await wait_all_tasks_blocked()
            await m.stop()
        assert isinstance(outcomes[0], ServerStopping)
        assert m.records.items == {}


SHELL = CreateSession(cmd=["/bin/sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x; sleep 1000"], cwd="/")


def real_terminals() -> Hub:
    """A hub whose hybrid sessions are on scripted sides, and whose ordinary terminals are real."""
    return Hub(
        sides=Stage(True), registry=Registry([WATCHED]), records=Records(), configs=Configs(),
        budgets=Budgets(), run=Run.of(Path("/")), environ={"PATH": os.environ["PATH"]},
    )  # fmt: skip


async def test_a_fault_in_an_ordinary_terminal_ends_that_one_only(monkeypatch):
    monkeypatch.setattr(Screen, "catch_up", lambda *args, **more: 1 / 0)
    hub = real_terminals()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            await nursery.start(hub.serve)
            hybrid = await hub.create(CreateSession(config_id="c1"))
            shell = await hub.create(SHELL)
            seen = hub.bell.version
            while shell.info().status != "exited":
                seen = await hub.bell.wait(seen)
            assert shell in hub.all()
            assert hybrid.position.step is Step.TUI
            await hub.close(shell.id)
            assert hub.all() == [hybrid]
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def fails_to_open(*_, **__):
    await trio.lowlevel.checkpoint()
    yield 1 / 0


async def test_a_fault_while_an_ordinary_terminal_opens_is_told_as_it_is(monkeypatch):
    monkeypatch.setattr(shell, "open_terminal", fails_to_open)
    hub = real_terminals()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            await nursery.start(hub.serve)
            with pytest.raises(ZeroDivisionError):
                await hub.create(SHELL)
            assert hub.all() == []
            hybrid = await hub.create(CreateSession(config_id="c1"))
            assert hub.all() == [hybrid]
            nursery.cancel_scope.cancel()
