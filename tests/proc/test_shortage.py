"""Without a descriptor left: what we started can still be seen, and is ended."""

import errno
import fcntl
import os

import pytest
import trio

from hybridmux.proc import locks, reaper, spare, table
from hybridmux.proc.family import UNSEEN, Family
from hybridmux.proc.spawn import DEVNULL, PIPE, SpawnFailed
from tests.support.shortage import no_descriptors

STEP = 10.0
NO_INPUT = {"stdin": DEVNULL, "stdout": DEVNULL}


def blind(monkeypatch) -> None:
    """Not even the spare helps: somebody else was faster."""

    def taken(work):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(table, "with_spare", taken)
    monkeypatch.setattr(locks, "with_spare", taken)


async def test_everybody_is_still_seen(started, mark):
    child = await started("sleep 1000 & wait", **NO_INPUT)
    family = Family(child)
    with no_descriptors():
        with pytest.raises(OSError, match="Too many"):
            os.listdir("/proc")  # noqa: PTH208
        assert child.pid in family.members()
        assert table.environ_mark(child.pid) == mark
        assert table.entries().keys() >= {os.getpid(), child.pid}
        assert child.pid in table.children(os.getpid())
    await family.end(STEP)
    await child.wait()


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("setsid sleep 1000 >&- & echo; wait", "SIGTERM"),
        ("trap '' TERM; setsid sleep 1000 >&- & echo; wait", "SIGKILL"),
    ],
)
async def test_a_family_is_ended(started, read_line, script, how):
    child = await started(script)
    family = Family(child)
    await read_line(child)
    with no_descriptors():
        report = await family.end(STEP if how == "SIGTERM" else 0.5)
    assert (report.how, report.survivors) == (how, [])
    child.close()
    await child.wait()


async def test_nobody_counts_as_gone_who_cannot_be_looked_at(started, until, monkeypatch):
    child = await started("sleep 1000 & wait", **NO_INPUT)
    family = Family(child)
    with monkeypatch.context() as shortage:
        blind(shortage)
        family.look()
        report = await family.end(0.3)
    assert (report.how, report.survivors) == ("survived", [UNSEEN])
    # Its group was told to end all the same.
    assert await child.wait() < 0
    await until(lambda: not family.members())
    assert (await family.end(STEP)).how == "exited"


async def test_a_signal_reaches_the_group_of_one_who_cannot_be_looked_at(started, monkeypatch):
    child = await started("exec sleep 1000", **NO_INPUT)
    blind(monkeypatch)
    Family(child).signal(15)
    with trio.fail_after(STEP):
        assert await child.wait() == -15


def test_a_lock_is_not_called_free_that_cannot_be_looked_at(tmp_path, monkeypatch):
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with no_descriptors():
            assert locks.lock_holders(tmp_path / "lock") == {os.getpid()}
        blind(monkeypatch)
        with pytest.raises(OSError, match="Too many"):
            locks.lock_holders(tmp_path / "lock")


async def test_the_reaper_looks_later(monkeypatch):
    blind(monkeypatch)
    assert reaper._sweep({(1, 2): 0.0}, 1.0) == {(1, 2): 0.0}


async def test_a_start_says_why_it_fails(started):
    with no_descriptors(), pytest.raises(SpawnFailed, match="Too many open files"):
        await started("true", stdin=PIPE)


def test_the_spare_is_kept_back_again():
    before = sorted(spare._held)
    with no_descriptors():
        assert spare.with_spare(lambda: os.listdir("/proc/self"))  # noqa: PTH208
        assert len(spare._held) == spare.COUNT
    assert sorted(spare._held) == before


def test_what_goes_wrong_for_another_reason_is_not_tried_again():
    tries = []

    def work():
        tries.append(1)
        raise FileNotFoundError(errno.ENOENT, "gone")

    with pytest.raises(FileNotFoundError):
        spare.with_spare(work)
    assert tries == [1]
