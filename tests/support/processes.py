"""Real processes, each test's own; whatever a test leaves open or alive fails it."""

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from hybridmux.proc import keeper, spawn, table
from hybridmux.proc.keeper import set_subreaper
from hybridmux.proc.mark import Mark, new_run


@pytest.fixture(autouse=True)
def nothing_left():
    """Descriptors and children as before; orphans, which come to us as the subreaper, reaped."""
    set_subreaper()
    before = open_descriptors()
    yield
    until = time.monotonic() + 2  # an orphan may be about to end
    while (alive := [one for one in children() if one.alive]) and time.monotonic() < until:
        time.sleep(0.01)
    unwaited = dict(spawn.owned())
    keeper.kill_below()
    spawn._owned.clear()  # so that the next test does not fail for this one
    assert (alive, unwaited) == ([], {})
    assert open_descriptors() == before


def children():
    return [one for one in table.entries().values() if one.ppid == os.getpid()]


def open_descriptors():
    return {one.name: target for one in Path("/proc/self/fd").iterdir() if (target := target_of(one))}


def target_of(link):
    with suppress(OSError):
        return str(link.readlink())


@pytest.fixture
def mark():
    return Mark(new_run(), "session", new_run(), new_run())


@pytest.fixture
def env():
    return {"PATH": os.environ["PATH"], "HOME": "/tmp", "LANG": "C.UTF-8"}


@pytest.fixture
def until():
    async def wait(condition, seconds=10):
        with trio.fail_after(seconds):
            while not (value := condition()):  # noqa: ASYNC110 - other processes set no events
                await trio.sleep(0.005)
        return value

    return wait


@pytest.fixture
def started(mark, env):
    """`await started(script, ...)`: a shell script as a child, stdin and stdout piped."""

    async def start(script, *, mark=mark, **more):
        ends = {"stdin": spawn.PIPE, "stdout": spawn.PIPE, "stderr": spawn.DEVNULL} | more
        return await spawn.spawn(["sh", "-c", script], cwd="/", env=env, mark=mark, **ends)

    return start


@pytest.fixture
def read_line():
    async def read(child, seconds=10):
        """One line of its output, the newline not included; what there is at the end of file."""
        line = b""
        with trio.fail_after(seconds):
            while not line.endswith(b"\n"):
                await trio.lowlevel.wait_readable(child.stdout)
                byte = os.read(child.stdout, 1)
                if not byte:
                    break
                line += byte
        return line.decode().removesuffix("\n")

    return read
