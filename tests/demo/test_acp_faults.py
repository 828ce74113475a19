"""`HYBRIDMUX_DEMO_FAULT` on the ACP side: how each fault looks from outside."""

import os
import signal
import time

import pytest

from tests.demo.acp_client import Answered, exits, wait_for
from tests.demo.watching import ignores, started_with

METHODS = {
    "initialize": lambda client: ("initialize", {"protocolVersion": 1}),
    "new": lambda client: ("session/new", {"cwd": client.cwd}),
    "list": lambda client: ("session/list", {}),
    "load": lambda client: ("session/load", {"sessionId": client.session, "cwd": client.cwd}),
    "prompt": lambda client: (
        "session/prompt",
        {"sessionId": client.session, "prompt": [{"type": "text", "text": "hi"}]},
    ),
}


@pytest.fixture
def at(acp, talk):
    """`at("load", "exit")` starts an agent with that fault and triggers it; answers client and request id."""

    def start(moment, fault):
        session = talk("before")
        client = acp(f"acp.{moment}:{fault}", initialize=moment != "initialize")
        client.session = session
        if moment == "prompt":
            client.load(session)
        method, params = METHODS[moment](client)
        return client, client.send(method, **params)

    return start


@pytest.mark.parametrize("moment", ["initialize", "load", "prompt"])
def test_exit(at, moment):
    client, _ = at(moment, "exit")
    assert exits(client) == 71


@pytest.mark.parametrize("moment", ["initialize", "load", "prompt"])
def test_halfline(at, moment):
    client, _ = at(moment, "halfline")
    assert exits(client) == 71
    client.drain()
    assert client.noise[-1].startswith(b'{"jsonrpc"')
    assert not client.noise[-1].endswith(b"\n")


@pytest.mark.parametrize("moment", list(METHODS))
def test_error(at, moment):
    client, number = at(moment, "error")
    with pytest.raises(Answered) as caught:
        client.answer(number)
    assert caught.value.code == -32603


@pytest.mark.parametrize("moment", ["list", "prompt"])
def test_garbage_then_the_proper_answer(at, moment):
    client, number = at(moment, "garbage")
    assert client.answer(number)
    assert len(client.noise) >= 4


@pytest.mark.parametrize("moment", ["list", "prompt"])
def test_slow(at, moment):
    client, number = at(moment, "slow=0.3")
    started = time.monotonic()
    assert client.answer(number)
    assert time.monotonic() - started > 0.2


def test_hang_is_deaf_to_everything_but_sigterm(at):
    client, number = at("load", "hang")
    other = client.send("session/list")
    client.process.stdin.close()
    assert exits(client, 0.4) is None
    assert not client.answered(number)
    assert not client.answered(other)
    client.process.terminate()
    assert exits(client) == 143


def test_hang_hard(at):
    client, _ = at("list", "hang=hard")
    client.process.stdin.close()
    wait_for(lambda: ignores(client.process.pid))
    client.process.terminate()
    assert exits(client, 0.4) is None


def test_closed_stdout_of_a_live_process(at):
    client, number = at("load", "closed")
    client.drain()
    assert not client.answered(number)
    assert exits(client, 0.2) is None


def test_stderr_flood(at):
    client, number = at("list", "stderr")
    assert client.answer(number)["sessions"]
    assert len(client.stderr) == 65536  # what the client keeps of it


def test_unknown_id_and_a_long_line(at):
    client, number = at("list", "unknownid")
    assert client.answer(number)["sessions"]
    assert client.answered(987_654_321)
    client, number = at("list", "bigline=1")
    assert client.answer(number)["sessions"]
    assert len(client.request("_demo/big")["params"]["x"]) == 1024 * 1024


@pytest.mark.parametrize(
    ("fault", "code"), [("active_writer", -32600), ("missing", -32002), ("auth", -32000)]
)
def test_errors_of_load(at, fault, code):
    client, number = at("load", fault)
    with pytest.raises(Answered) as caught:
        client.answer(number)
    assert caught.value.code == code


@pytest.mark.parametrize(("after", "seen"), [(0, []), (1, ["before"])])
def test_dying_inside_a_replay(at, after, seen):
    client, _ = at("load", f"die={after}")
    assert exits(client) == 71
    client.drain()
    assert client.texts("user") == seen
    assert client.texts("agent") == []


def test_lag(acp, talk):
    session, seen = talk("one", "two"), []
    for _ in range(3):
        client = acp("acp.load:lag=2")
        client.load(session)
        seen.append(client.texts("user"))
        client.close()
    assert seen == [["one"], ["one"], ["one", "two"]]


def test_ignored_cancel(acp):
    client = acp("acp.interrupt:hang")
    session = client.new()
    number = client.start_prompt(session, "slow 0.5")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.notify("session/cancel", sessionId=session)
    assert client.answer(number)["stopReason"] == "end_turn"


@pytest.mark.parametrize(("fault", "status"), [("exit", 71), ("error", 1), ("slow=0.1", 0), ("stderr", 0)])
def test_at_the_end(acp, fault, status):
    client = acp(f"quit:{fault}")
    client.process.stdin.close()
    assert exits(client) == status


def test_hang_at_the_end(acp):
    client = acp("quit:hang=hard")
    client.process.stdin.close()
    assert exits(client, 0.3) is None


def test_fork_at_the_end_leaves_a_process_behind(acp):
    client = acp("quit:fork")
    pid = client.process.pid
    assert client.close() == 0
    survivors = started_with(client.home)
    assert len(survivors) == 1
    assert os.getsid(survivors[0]) not in (pid, os.getsid(0))
    os.kill(survivors[0], signal.SIGKILL)


@pytest.mark.parametrize(("fault", "status"), [("exit", 71), ("error", 1), ("halfline", 71)])
def test_at_the_start(acp, fault, status):
    client = acp(f"start:{fault}", initialize=False)
    assert exits(client) == status


def test_slow_start(acp):
    assert acp("start:slow=0.2").initialized["protocolVersion"] == 1


def test_the_other_sides_faults_do_nothing(acp):
    assert acp("tui.start:exit,tui.load:exit").initialized


def test_a_bad_fault_is_said(acp):
    client = acp("start:explode", initialize=False)
    assert exits(client) == 1
    client.drain()
    for thread in client._threads:
        thread.join()
    assert b"HYBRIDMUX_DEMO_FAULT" in client.stderr


def test_wait_holds_one_answer_until_the_file_says_something_else(acp, tmp_path):
    file, other = tmp_path / "fault", tmp_path / "other"
    file.write_text("acp.list:wait")
    other.write_text("acp.list:error")
    client = acp(f"@{file}")
    held = client.send("session/list")
    assert client.call("session/new", cwd=client.cwd)["sessionId"]
    other.replace(file)
    with pytest.raises(Answered) as caught:
        client.answer(held)
    assert caught.value.code == -32603
    other.write_text("")
    other.replace(file)
    with pytest.raises(Answered):
        client.call("session/list")  # only what waits looks into the file again


def test_wait_holds_a_cancel(acp, talk, tmp_path):
    file, other = tmp_path / "fault", tmp_path / "other"
    file.write_text("acp.interrupt:wait")
    other.write_text("")
    client = acp(f"@{file}")
    session = talk("before")
    client.load(session)
    turn = client.send("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "slow 30"}])
    client.notify("session/cancel", sessionId=session)
    assert client.call("session/list")["sessions"]  # the cancel has come before this
    client.call("session/list")
    assert not client.answered(turn)
    other.replace(file)
    assert client.answer(turn)["stopReason"] == "cancelled"
