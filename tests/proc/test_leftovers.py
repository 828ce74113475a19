import os
import signal
import sys

import pytest

from hybridmux.proc import table
from hybridmux.proc.leftovers import end_leftovers, leftovers
from hybridmux.proc.mark import Mark, new_run

STEP = 10.0


@pytest.fixture
def data():
    return new_run()


async def test_only_other_starts_of_the_same_data_folder(started, read_line, data):
    marks = [Mark(data, "s", "before", "r"), Mark(data, "s", "now", "r"), Mark(new_run(), "s", "before", "r")]
    old, own, foreign = children = [await started("echo; read x", mark=mark) for mark in marks]
    for child in children:
        await read_line(child)
    (found,) = leftovers(data, "now")
    assert (found.pid, found.start_ticks, found.mark) == (old.pid, old.start_ticks, marks[0])
    assert str(found) == "sh"
    assert await end_leftovers(data, "now", STEP) == ([found], [])
    assert await old.wait() == -signal.SIGTERM
    assert own.returncode is foreign.returncode is None
    assert leftovers(data, "now") == []
    for child in children:
        child.close()
        await child.wait()


@pytest.mark.parametrize(
    ("script", "code"),
    [("trap '' TERM; echo; read x", -signal.SIGKILL), ("echo; kill -STOP $$", -signal.SIGTERM)],
    ids=["ignores SIGTERM", "stopped"],
)
async def test_what_does_not_want_to_go(started, read_line, until, data, script, code):
    child = await started(script, mark=Mark(data, "s", "before", "r"))
    await read_line(child)
    if "STOP" in script:
        await until(lambda: table.entry(child.pid).state == "T")
    _, left = await end_leftovers(data, "now", 0.5 if code == -signal.SIGKILL else STEP)
    assert left == []
    assert await child.wait() == code
    child.close()


async def test_never_itself_or_what_it_runs_in(mark, env, started, read_line, data):
    """A server started in a terminal that an earlier server of the same data folder left behind."""
    program = (
        "import os, sys; sys.path[:0] = sys.argv[1:]; from hybridmux.proc.leftovers import leftovers;"
        f"print(os.getppid(), [one.pid for one in leftovers({data!r}, 'now')])"
    )
    path = os.pathsep.join(sys.path)
    script = f'read x & PYTHONPATH={path} {sys.executable} -c "{program}"; exit'
    child = await started(script, mark=Mark(data, "s", "before", "r"))
    assert await read_line(child) == f"{child.pid} []"
    child.close()
    await child.wait()
