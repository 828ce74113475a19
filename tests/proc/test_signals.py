import os
import signal
import sys

import pytest
import trio

from hybridmux.proc import signals
from hybridmux.proc.signals import keeper_gone, stop_requests


@pytest.fixture(autouse=True)
def handlers():
    """The handlers of the tests' own process stay."""
    before = {number: signal.getsignal(number) for number in signals.STOPS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", signals.STOPS)
async def test_one_that_comes_late_does_not_spoil_a_stop(number):
    async with stop_requests():
        pass
    os.kill(os.getpid(), number)
    assert signal.getsignal(number) not in (signal.SIG_DFL, signal.default_int_handler)


async def test_one_request_however_often_it_arrives(mock_clock):
    got = []

    async def listen(requests):
        async for number in requests:
            got.append(number)

    async def send(*numbers):
        for number in numbers:
            os.kill(os.getpid(), number)
        await trio.testing.wait_all_tasks_blocked(0.05)

    async with stop_requests() as requests, trio.open_nursery() as nursery:
        nursery.start_soon(listen, requests)
        await send(signal.SIGINT, signal.SIGTERM)
        assert len(got) == 1
        mock_clock.jump(signals.SAME_REQUEST / 2)
        await send(signal.SIGTERM)
        assert len(got) == 1
        mock_clock.jump(signals.SAME_REQUEST)
        await send(signal.SIGHUP)
        assert got[1:] == [signal.SIGHUP]
        nursery.cancel_scope.cancel()


async def test_without_a_keeper_it_is_never_gone(autojump_clock):
    with trio.move_on_after(1e6) as scope:
        await keeper_gone()
    assert scope.cancelled_caught


PROGRAM = """
import os, signal, sys
sys.path[:0] = {path!r}
from hybridmux.proc.signals import heed_ignored
if {heed}:
    heed_ignored()
os.kill(os.getpid(), signal.SIGHUP)
os.kill(os.getpid(), signal.SIGINT)
os.execvp("grep", ["grep", "SigIgn", "/proc/self/status"])
"""


@pytest.mark.parametrize(("heed", "ignored"), [(False, {signal.SIGHUP, signal.SIGINT}), (True, set())])
async def test_signals_ignored_by_us_are_not_by_our_children(started, read_line, heed, ignored, tmp_path):
    """As `nohup server &` in a script starts it; it lives through them either way."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(path=sys.path, heed=heed))
    child = await started(f"trap '' HUP INT; exec {sys.executable} {program}")
    line = await read_line(child)
    mask = int(line.removeprefix("SigIgn:"), 16)
    assert {number for number in (signal.SIGHUP, signal.SIGINT) if mask >> (number - 1) & 1} == ignored
    await child.wait()
    child.close()
