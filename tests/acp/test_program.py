"""The connector over real processes: how they start, speak and end, and that nothing of them is left."""

import os
import sys
from pathlib import Path

import pytest
import trio

from hybridmux.acp.connector import ConnectorSpec, open_connector
from hybridmux.acp.jsonrpc import PeerClosed
from hybridmux.acp.program import Tail
from hybridmux.budgets import STDERR_LINE, STDERR_TAIL, Budgets
from hybridmux.proc.mark import Mark, new_run
from hybridmux.proc.spawn import SpawnFailed
from hybridmux.proc.table import entries, environ_mark
from tests.acp.fake_agent import Recorder

AGENT = str(Path(__file__).with_name("small_agent.py"))
TEXT = [{"type": "text", "text": "hello"}]


@pytest.fixture
def mark() -> Mark:
    return Mark("data", "session", "start", new_run())


@pytest.fixture
def opened(mark, tmp_path):
    """Opens a small agent with these habits."""

    def opener(*habits: str, handler=None, step: float = 5.0):
        argv = (sys.executable, "-S", "-E", AGENT, *habits)
        spec = ConnectorSpec(argv=argv, cwd=str(tmp_path), env={"PATH": os.environ["PATH"]})
        return open_connector(
            spec, mark=mark, handler=handler or Recorder(), budgets=Budgets(stopping_step=step)
        )

    return opener


def left(mark: Mark) -> list[int]:
    """Live processes that carry this mark."""
    return [pid for pid in entries() if environ_mark(pid) == mark]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_conversation_over_pipes(opened, mark, tmp_path):
    handler = Recorder()
    async with opened(handler=handler) as connector:
        assert (await connector.initialize()).name == "small"
        _, answer = await connector.new_session()
        assert answer == {"sessionId": "s-1", "cwd": str(tmp_path), "mark": str(mark)}
        result = await connector.prompt(TEXT)
        report = await connector.stop()
    assert result.stop_reason == "end_turn"
    assert [one["content"]["text"] for one in handler.updates] == ["hello"]
    assert (report.how, report.survivors) == ("exited", [])
    assert left(mark) == []


async def test_a_prompt_larger_than_any_pipe(opened):
    handler = Recorder()
    words = "x" * 5_000_000
    async with opened(handler=handler) as connector:
        await connector.prompt([{"type": "text", "text": words}])
    assert handler.updates[0]["content"]["text"] == words


async def test_leaving_the_block_ends_it_without_being_asked(opened, mark):
    async with opened("stays") as connector:
        await connector.initialize()
        assert left(mark)
    assert left(mark) == []


@pytest.mark.parametrize(
    ("habit", "how"), [("stays", "SIGTERM"), ("stubborn", "SIGKILL"), ("child", "SIGTERM")]
)
async def test_stop_goes_as_far_as_it_must(opened, mark, habit, how):
    async with opened(habit, step=0.3) as connector:
        await connector.initialize()
        report = await connector.stop()
        assert (report.how, report.survivors) == (how, [])
        assert left(mark) == []
        await connector.wait_closed()


async def test_stop_of_an_agent_that_reads_nothing(opened, mark):
    async with opened("reads once", step=0.3) as connector:
        await connector.initialize()
        connector.start_prompt([{"type": "text", "text": "x" * 1_000_000}])
        assert (await connector.stop()).how == "SIGTERM"
    assert left(mark) == []


async def test_kill_takes_the_whole_family(opened, mark):
    async with opened("stubborn", "child") as connector:
        await connector.initialize()
        # A process that is being exec'd has no environment to be seen for a moment.
        with trio.fail_after(10):
            while len(left(mark)) != 2:  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(0.005)
        report = await connector.kill()
        assert (report.how, left(mark)) == ("SIGKILL", [])


async def test_a_crash_is_told_with_the_last_words(opened):
    async with opened("crash") as connector:
        with pytest.raises(PeerClosed, match=r"python.* ended with exit status 3: cannot go on"):
            await connector.initialize()


WRAPPER = ("bash", "-ic", 'exec -- "$@"', "hybridmux")


@pytest.mark.parametrize("prints", ["echo -ne '\\e[5 q'", "printf '\\033]0;%s\\007' host", "echo Welcome"])
async def test_a_start_file_may_print_before_the_agent_speaks(mark, tmp_path, prints):
    (tmp_path / ".bashrc").write_text(prints + "\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    spec = ConnectorSpec(argv=(*WRAPPER, sys.executable, "-S", "-E", AGENT), cwd=str(tmp_path), env=env)
    async with open_connector(spec, mark=mark, handler=Recorder(), budgets=Budgets(starting=10)) as connector:
        assert (await connector.initialize()).name == "small"
        assert (await connector.prompt(TEXT)).stop_reason == "end_turn"


async def test_behind_a_shell_the_agent_is_named(mark, tmp_path):
    argv = (*WRAPPER, sys.executable, "-S", "-E", AGENT, "crash")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    spec = ConnectorSpec(argv=argv, cwd=str(tmp_path), env=env, name="small-acp")
    async with open_connector(spec, mark=mark, handler=Recorder(), budgets=Budgets()) as connector:
        with pytest.raises(PeerClosed, match=r"^small-acp ended with exit status 3: "):
            await connector.initialize()


async def test_much_on_stderr_is_drained_and_the_end_of_it_kept(opened):
    async with opened("noisy", "leaves") as connector:
        await connector.initialize()
        assert (await connector.wait_closed()).endswith("ended with exit status 0: last words")
        assert len(connector._program.stderr.lines()) == STDERR_TAIL


async def test_an_end_is_noticed_though_a_child_holds_the_output_open(opened, mark):
    async with opened("child", "leaves") as connector:
        await connector.initialize()
        assert "ended with exit status 0" in await connector.wait_closed()
    assert left(mark) == []


@pytest.mark.parametrize(
    ("argv", "cwd"),
    [(("/no/such/program",), "/"), (("sh",), "/no/such/folder"), (("/etc/passwd",), "/"), (("",), "/")],
)
async def test_what_cannot_be_started_raises(mark, argv, cwd):
    spec = ConnectorSpec(argv=argv, cwd=cwd, env={"PATH": "/bin"})
    with pytest.raises(SpawnFailed, match=r"cannot (start|use)"):
        async with open_connector(spec, mark=mark, handler=Recorder(), budgets=Budgets()):
            pytest.fail("it started")


async def test_no_descriptor_is_left_open(opened):
    async def once() -> None:
        async with opened() as connector:
            await connector.initialize()

    await once()
    before = descriptors()
    for _ in range(3):
        await once()
    assert descriptors() == before


async def test_cancelling_the_owner_ends_everything(opened, mark):
    with trio.CancelScope() as scope:
        async with opened("stubborn", step=0.2) as connector:
            await connector.initialize()
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert left(mark) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("(node:30288) [DEP0040] DeprecationWarning: punycode", "[DEP0040] DeprecationWarning: punycode"),
        ("thread 'main' (30288) panicked at src/main.rs:3:5:", "thread 'main' panicked at src/main.rs:3:5:"),
        ("the server with PID 30288 holds the lock", "the server with PID holds the lock"),
        ("rapid 12 (node: old) listens on port 30288", "rapid 12 (node: old) listens on port 30288"),
    ],
)
def test_the_tail_tells_no_pid(said, kept):
    tail = Tail()
    tail.feed(f"{said}\n".encode())
    assert tail.lines() == [kept]


def test_the_tail_is_bounded_and_plain():
    tail = Tail()
    for n in range(1000):
        tail.feed(f"line {n}\r\n".encode())
    tail.feed(b"\x1b[31m" + b"y" * 10_000_000)
    tail.feed(b"\xff\x00z")
    lines = tail.lines()
    assert len(lines) == STDERR_TAIL
    assert lines[-2] == "line 999"
    assert set(lines[-1]) == {"y"}
    assert len(lines[-1]) == STDERR_LINE
