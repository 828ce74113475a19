"""Who belongs to a program, and that none of them outlives `end`."""

import os
import signal
import subprocess

import pytest
import trio

from hybridmux.proc import pidfd, table
from hybridmux.proc.family import Family
from hybridmux.proc.mark import Mark, new_run
from hybridmux.proc.spawn import DEVNULL, PIPE, spawn

STEP = 10.0
QUIET = "</dev/null >/dev/null 2>&1"


def names(family):
    return sorted(table.entry(pid).name for pid in family.members())


async def gone(child):
    child.close()
    return await child.wait()


CASES = {
    "plain": "sleep 1000 & echo; wait",
    "job of a shell that left": f"(sleep 1000 {QUIET} &); echo; exec cat",
    "double fork": f"( (sleep 1000 {QUIET} &) & ); echo; exec cat",
    "setsid": f"setsid sleep 1000 {QUIET} & echo; wait",
    "setsid, orphaned": f"(setsid sleep 1000 {QUIET} &); echo; exec cat",
    "empty environment": f"env -i sleep 1000 {QUIET} & echo; wait",
    "empty environment, orphaned": f"(env -i sleep 1000 {QUIET} &); echo; exec cat",
    "empty environment, setsid": f"env -i setsid sleep 1000 {QUIET} & echo; wait",
    "empty environment, setsid, orphaned, holds a pipe": "(env -i setsid sleep 1000 &); echo; exec cat",
    "nohup": f"nohup sleep 1000 {QUIET} & echo; wait",
    "ignores SIGTERM": f"(trap '' TERM HUP; exec sleep 1000) {QUIET} & echo; wait",
    "stopped": f"sleep 1000 {QUIET} & until grep -q sl /proc/$!/comm; do :; done; kill -STOP $!; echo; wait",
    "its own children": f"(sleep 1000 & sleep 1000 & wait) {QUIET} & echo; wait",
}


@pytest.mark.parametrize("script", CASES.values(), ids=CASES)
async def test_found_and_ended(started, read_line, until, script):
    child = await started(script)
    family = Family(child)
    await read_line(child)
    await until(lambda: "sleep" in names(family))
    members = family.members()
    assert child.pid in members
    report = await family.end(0.5 if "trap" in script else STEP)
    assert report.how == ("SIGKILL" if "trap" in script else "SIGTERM")
    assert (report.survivors, report.spared) == ([], [])
    assert [pid for pid in members if (one := table.entry(pid)) and one.alive] == []
    await gone(child)


async def test_remembered_when_nothing_else_tells(started, read_line, until):
    """`env -i setsid` with everything closed: after its parent's end only having been seen connects it."""
    child = await started(f"env -i setsid sleep 1000 {QUIET} & echo; read x")
    family = Family(child)
    await read_line(child)
    await until(lambda: names(family) == ["sh", "sleep"])
    child.close_stdin()
    await child.wait()
    assert names(family) == ["sleep"]
    assert (await family.end(STEP)).how == "SIGTERM"
    assert family.members() == []
    child.close()


async def test_the_others_that_ended_are_named_once_each(started, read_line, until):
    child = await started("sleep 1000 & sleep 1000 & echo; read x; read x")
    family = Family(child)
    await read_line(child)
    await until(lambda: names(family) == ["sh", "sleep", "sleep"])
    report = await family.end(STEP)
    assert (report.along, report.detached) == (["sleep"], [])
    await gone(child)


async def test_what_left_before_the_last_look_is_not_named(started, read_line, until):
    child = await started("sleep 1000 & echo $!; read x; read x")
    family = Family(child)
    pid = int(await read_line(child))
    await until(lambda: names(family) == ["sh", "sleep"])
    pidfd.send(pid, table.entry(pid).start_ticks, signal.SIGKILL)
    await until(lambda: names(family) == ["sh"])
    assert (await family.end(STEP)).along == []
    await gone(child)


async def test_an_orphan_without_any_tie_is_named_and_left_alone(started, read_line, until):
    child = await started(f"(env -i setsid sleep 1000.55 {QUIET} &); echo; read x")
    family = Family(child)
    await read_line(child)

    def detached():
        below = [one for one in table.entries().values() if one.ppid == os.getpid()]
        return [one for one in below if table.command_line(one.pid) == "sleep 1000.55"]

    (orphan,) = await until(detached)
    report = await family.end(STEP)
    assert (report.along, report.detached, report.survivors) == ([], ["sleep"], [])
    assert table.entry(orphan.pid).alive
    pidfd.send(orphan.pid, orphan.start_ticks, signal.SIGKILL)
    await pidfd.all_gone({orphan.pid: orphan.start_ticks})
    later = await started("exit 0")
    assert (await Family(later).end(STEP)).detached == []
    await gone(later)
    await gone(child)


async def test_a_newcomer_during_the_end_is_ended_too(started, read_line):
    child = await started("trap 'sleep 1000 & exit 5' TERM; echo; read x; read x")
    family = Family(child)
    await read_line(child)
    report = await family.end(STEP)
    assert (report.how, report.survivors) == ("SIGTERM", [])
    assert await gone(child) == 5


async def test_others_are_not_touched(started, read_line, mark):
    """Another run of the same session, and processes without a mark below the same parent."""
    child = await started("echo; read x")
    other = await started("echo; read x", mark=Mark(mark.data, mark.session, mark.start, new_run()))
    family = Family(child)
    with subprocess.Popen(["sleep", "1000"]) as unmarked:  # noqa: ASYNC220 - not one of ours
        await read_line(child)
        await read_line(other)
        assert family.members() == [child.pid]
        await family.end(STEP)
        assert await gone(child) == -signal.SIGTERM
        assert other.returncode is None
        assert unmarked.poll() is None
        unmarked.kill()
    assert await gone(other) == 1


async def test_when_all_have_gone_already(started):
    child = await started("exit 3")
    family = Family(child)
    await child.wait()
    report = await family.end(STEP)
    assert (report.how, report.survivors) == ("exited", [])
    child.close()


async def test_a_zombie_is_gone(started, until):
    child = await started("exit 3")
    family = Family(child)
    await until(lambda: table.entry(child.pid).state == "Z")
    assert family.members() == []
    assert (await family.end(STEP)).how == "exited"
    assert await gone(child) == 3


async def test_ended_by_two_at_once_and_again(started, read_line):
    child = await started("trap 'exit 9' TERM; echo; read x; read x")
    family = Family(child)
    await read_line(child)
    reports = []

    async def end():
        reports.append((await family.end(STEP)).how)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end)
        nursery.start_soon(end)
    assert sorted(reports) == ["SIGTERM", "exited"]
    assert (await family.end(STEP)).how == "exited"
    assert await gone(child) == 9


async def test_ending_is_not_cancelled(started, read_line):
    child = await started("trap '' TERM; echo; while :; do sleep 1000; done")
    family = Family(child)
    await read_line(child)
    with trio.CancelScope() as scope:
        scope.cancel()
        report = await family.end(0.5)
    assert report.how == "SIGKILL"
    assert await gone(child) == -signal.SIGKILL


async def test_what_survives_is_named(started, read_line):
    child = await started("trap '' TERM; echo; read x")
    family = Family(child)
    await read_line(child)
    report = await family.end(0.02, steps=(signal.SIGTERM,))
    assert report.how == "survived"
    assert report.survivors == ["sh"]
    assert await gone(child) == 1


async def test_shared_daemons_are_left_alone(started, read_line, until):
    child = await started(f"(setsid sleep 1000.77 {QUIET} &); sleep 1000 & echo; wait")
    family = Family(child, spare=[r"sleep 1000\.77$"])
    await read_line(child)
    await until(lambda: names(family) == ["sh", "sleep"])
    report = await family.end(STEP)
    assert report.survivors == []
    assert report.spared == ["sleep"]
    (pid,) = [one for one in table.entries() if table.command_line(one) == "sleep 1000.77"]
    os.kill(pid, signal.SIGKILL)
    await pidfd.all_gone({pid: table.entry(pid).start_ticks})
    await gone(child)


async def test_a_signal_to_all(started, read_line, until):
    child = await started("trap 'echo got; exit 0' USR1; sleep 1000 & echo; while :; do wait; done")
    family = Family(child)
    await read_line(child)
    await until(lambda: "sleep" in names(family))
    family.signal(signal.SIGUSR1)
    assert await read_line(child) == "got"
    await until(lambda: family.members() == [])
    assert await gone(child) == 0


async def test_the_wrong_start_time_is_not_signalled(started, read_line):
    child = await started("echo; read x")
    await read_line(child)
    assert pidfd.send(child.pid, child.start_ticks + 1, signal.SIGKILL) is False
    assert pidfd.send(child.pid, child.start_ticks, signal.SIGKILL, lambda _: False) is False
    with trio.fail_after(1):
        await pidfd.all_gone({child.pid: child.start_ticks + 1})
    assert child.returncode is None
    assert pidfd.send(child.pid, child.start_ticks, signal.SIGKILL) is True
    assert await gone(child) == -signal.SIGKILL
    assert pidfd.send(child.pid, child.start_ticks, signal.SIGKILL) is False


async def test_a_session_number_proves_nothing_after_the_end(mark, env, started, read_line):
    """Once all have gone, the leader's pid may become another's."""
    child = await started("exit 0")
    family = Family(child)
    await child.wait()
    await family.end(STEP)
    other = await spawn(
        ["sh", "-c", "sleep 1000 & echo; wait"],
        cwd="/", env=env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, mark=Mark("d", "s", "t", new_run()),
    )  # fmt: skip
    await read_line(other)
    stranger = Family(other)
    # As if the number had been given away.
    family.child.pid, family.child.start_ticks = other.pid, other.start_ticks - 1
    assert family.members() == []
    assert len(stranger.members()) == 2
    await stranger.end(STEP)
    child.close()
    await gone(other)
