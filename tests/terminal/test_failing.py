"""A terminal that something goes wrong with: its program ends all the same, and so does its block."""

import pytest
import trio

from hybridmux.proc import spawn
from hybridmux.proc.family import Family
from hybridmux.terminal.screen import Screen
from tests.support.shortage import no_descriptors


async def test_no_terminal_to_be_had_is_a_start_that_failed(terminal):
    with no_descriptors(), pytest.raises(spawn.SpawnFailed, match="Too many open files"):
        async with terminal("true"):
            pass


async def test_it_ends_without_a_descriptor(terminal):
    async with terminal("sleep 1000") as t:
        t.family.members()
        with no_descriptors():
            report = await t.end()
    assert (report.how, report.survivors) == ("SIGTERM", [])


async def test_its_tasks_end_though_ending_fails(terminal, monkeypatch):
    async def fails(self, seconds, *, steps=()):
        await end(self, seconds)
        raise ZeroDivisionError

    end = Family.end
    monkeypatch.setattr(Family, "end", fails)
    with trio.fail_after(30), pytest.raises(ExceptionGroup) as caught:
        async with terminal("sleep 1000"):
            pass
    assert caught.group_contains(ZeroDivisionError)


async def test_its_exit_code_is_known_though_a_task_failed(terminal, monkeypatch):
    monkeypatch.setattr(Screen, "catch_up", lambda *args, **more: 1 / 0)
    seen = []

    async def life() -> None:
        async with terminal("head -c 200000 /dev/zero | tr '\\0' x; sleep 1000") as t:
            seen.append(t)
            await t.wait_exited()

    with trio.fail_after(30), pytest.raises(ExceptionGroup) as caught:
        await life()
    assert caught.group_contains(ZeroDivisionError)
    assert seen[0].exit_code is not None
