import os
import subprocess

import pytest
import trio

from hybridmux.proc import table
from hybridmux.proc.reaper import reap_strangers

GRACE = 0.05


@pytest.fixture
async def reaper(nursery):
    nursery.start_soon(reap_strangers, GRACE)
    await trio.testing.wait_all_tasks_blocked()


def zombies():
    return [one for one in table.entries().values() if one.ppid == os.getpid() and not one.alive]


async def test_orphans_are_reaped(reaper, started, read_line, until):
    child = await started("(true &); (setsid true &); (env -i true &); echo; read x")
    await read_line(child)
    child.close_stdin()
    await child.wait()
    await until(lambda: zombies() == [] and len(table.descendants(os.getpid(), table.entries())) == 0)
    child.close()


async def test_nobodys_child_is_stolen(reaper, started):
    """Many short ones, waited for late, while orphans keep the reaper busy."""
    codes = {}

    async def one(number):
        child = await started(f"(true &); exit {number}")
        await trio.sleep(3 * GRACE)
        codes[number] = await child.wait()
        child.close()

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(one, number)
    assert codes == {number: number for number in range(20)}


async def test_a_process_somebody_else_started_keeps_its_code(reaper, started):
    child = await started("(true &); exit")
    results = [await trio.run_process(["sh", "-c", "exit 7"], check=False) for _ in range(5)]
    assert [one.returncode for one in results] == [7] * 5
    await child.wait()
    child.close()


async def test_a_stranger_has_its_time(started, until, nursery, mock_clock):
    """A zombie nobody owns is left alone until its grace is over."""
    process = subprocess.Popen(["true"])  # noqa: ASYNC220 - not one of ours
    nursery.start_soon(reap_strangers, 5.0)
    await trio.testing.wait_all_tasks_blocked()
    with trio.fail_after(1e6):
        while not zombies():
            await trio.lowlevel.checkpoint()
    mock_clock.jump(4.0)
    await trio.testing.wait_all_tasks_blocked()
    assert [one.pid for one in zombies()] == [process.pid]
    assert process.wait() == 0
