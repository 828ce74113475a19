"""A small server under a real keeper."""

import os
import signal
import sys
from contextlib import suppress

import pytest
import trio

from hybridmux.proc import table
from hybridmux.proc.family import Family
from hybridmux.proc.mark import Mark, new_run
from hybridmux.proc.spawn import DEVNULL, PIPE, spawn
from hybridmux.terminal.pty import Pty

SERVER = """
import os, sys
sys.path[:0] = {path!r}
from hybridmux.proc import keeper
assert "trio" not in sys.modules

def main():
    import signal, subprocess, time
    {body}

keeper.run_under_keeper(main)
"""

LISTEN = """
    import trio
    from hybridmux.proc.signals import keeper_gone, stop_requests
    async def listen():
        async with stop_requests() as requests:
            print("ready", os.getpid(), flush=True)
            async for number in requests:
                print(number.name, flush=True)
    async def gone():
        await keeper_gone()
        print("keeper gone", flush=True)
        os._exit(3)
    async def both():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
            nursery.start_soon(gone)
    trio.run(both)
"""

COUNT = """
    import threading
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, lambda got, _: os.write(1, signal.Signals(got).name.encode() + b"\\n"))
    print("ready", os.getpid(), flush=True)
    while True:
        time.sleep(0.01)
"""

BROOD = """
    for command in ("sleep 1000", "setsid sleep 1000 &", "env -i setsid sleep 1000 &",
                    "nohup sleep 1000 & ", "trap '' TERM HUP; sleep 1000", "(sleep 1000; sleep 1000) &"):
        subprocess.Popen(["sh", "-c", command], stdin=-3, stdout=-3, stderr=-3)
    def sleeping():
        from hybridmux.proc import table
        found = table.descendants(os.getpid(), table.entries())
        return [pid for pid in found if table.command_line(pid) == "sleep 1000"]
    while len(sleeping()) < 6:
        time.sleep(0.01)
    print("ready", os.getpid(), *sleeping(), flush=True)
"""


@pytest.fixture
async def under_keeper(mark, env, tmp_path):
    """`await under_keeper(body)`: the keeper as a child; whatever is left of it afterwards is ended."""
    families = []

    async def start(body):
        file = tmp_path / "server.py"
        file.write_text(SERVER.format(path=sys.path, body=body.strip()))
        child = await spawn(
            [sys.executable, str(file)],
            cwd="/",
            env=env,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=2,
            mark=mark,
        )
        families.append(Family(child))
        return child

    yield start
    for family in families:
        await family.end(5.0, steps=(signal.SIGKILL,))
        await family.child.wait()
        family.child.close()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return 0", 0),
        ("return 7", 7),
        ("sys.exit(5)", 5),
        ("os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGTERM)", 128 + signal.SIGTERM),
    ],
)
async def test_the_exit_code_is_the_servers(under_keeper, body, code):
    child = await under_keeper(body)
    assert await child.wait() == code


@pytest.mark.parametrize("last", ["os.kill(os.getpid(), signal.SIGKILL)", "return 4"])
async def test_nothing_outlives_the_server(under_keeper, read_line, last):
    child = await under_keeper(BROOD + "\n    " + last)
    _, *pids = (await read_line(child)).split()
    assert len(pids) == 7
    with trio.fail_after(5):
        code = await child.wait()
    assert code in (128 + signal.SIGKILL, 4)
    assert [pid for pid in map(int, pids) if (one := table.entry(pid)) and one.alive] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
async def test_signals_are_passed_on_once(under_keeper, read_line, number):
    child = await under_keeper(COUNT)
    await read_line(child)
    os.kill(child.pid, number)
    assert await read_line(child) == number.name
    # Any second one would have come before this.
    os.kill(child.pid, signal.SIGUSR1)
    assert await read_line(child) == "SIGUSR1"


async def test_a_signal_to_the_whole_group_is_one_request(under_keeper, read_line):
    child = await under_keeper(LISTEN)
    _, server = (await read_line(child)).split()
    os.killpg(child.pid, signal.SIGTERM)
    assert await read_line(child) == "SIGTERM"
    with trio.move_on_after(0.2) as waited:
        await read_line(child)
    assert waited.cancelled_caught
    os.kill(int(server), signal.SIGKILL)
    assert await child.wait() == 128 + signal.SIGKILL


async def test_the_server_notices_that_its_keeper_is_gone(under_keeper, read_line):
    child = await under_keeper(LISTEN)
    await read_line(child)
    os.kill(child.pid, signal.SIGKILL)
    assert await read_line(child) == "keeper gone"


async def test_ctrl_c_in_a_terminal_arrives_once(env, tmp_path, until):
    """The kernel signals the whole foreground group: keeper and server."""
    file = tmp_path / "server.py"
    file.write_text(SERVER.format(path=sys.path, body=COUNT.strip()))
    pty = Pty.open(80, 24)
    mark = Mark("d", "s", "t", new_run())
    child = await pty.spawn([sys.executable, str(file)], cwd="/", env=env, mark=mark)
    output = b""

    def shows(text):
        nonlocal output
        with suppress(BlockingIOError):
            output += os.read(pty.master, 65536)
        return text in output

    await until(lambda: shows(b"ready"))
    os.write(pty.master, b"\x03")
    await until(lambda: shows(b"SIGINT"))
    os.kill(child.pid, signal.SIGUSR1)
    await until(lambda: shows(b"SIGUSR1"))
    assert output.count(b"SIGINT") == 1
    await Family(child).end(5.0, steps=(signal.SIGKILL,))
    await child.wait()
    pty.close()
