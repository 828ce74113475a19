"""How the ACP process ends, or does not."""

import signal
import time

import pytest

from tests.demo.acp_client import Answered, exits


def test_crash(acp, demo):
    client = acp()
    session = client.new()
    client.start_prompt(session, "crash")
    assert client.process.wait(5) == 70
    client.drain()
    assert client.texts("agent") == ["going down "]
    assert demo("show", session)["messages"][-1]["text"] == "going down "
    acp().load(session)


def hanging(client, word):
    session = client.new()
    client.start_prompt(session, word)
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.notify("session/cancel", sessionId=session)
    assert client.call("session/list")["sessions"]  # the process itself is alive
    client.process.stdin.close()


def test_hang_ends_by_sigterm_only(acp):
    client = acp()
    hanging(client, "hang")
    assert exits(client, 0.3) is None
    client.process.terminate()
    assert client.process.wait(5) == 143


def test_hang_hard_ends_by_sigkill_only(acp):
    client = acp()
    hanging(client, "hang hard")
    client.process.terminate()
    assert exits(client, 0.3) is None
    client.process.kill()
    assert client.process.wait(5) == -signal.SIGKILL


def test_closing_ends_the_turn(acp):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "slow 30")
    client.call("session/close", sessionId=session)
    assert client.answer(number)["stopReason"] == "cancelled"
    with pytest.raises(Answered, match="No such session"):
        client.prompt(session, "gone")


def test_end_of_stdin_ends_the_process_at_once_even_in_a_turn(acp, demo):
    client = acp()
    session = client.new()
    client.start_prompt(session, "slow 30")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    started = time.monotonic()
    assert client.close() == 0
    assert time.monotonic() - started < 1.0  # about 0.02 s; the machine may be busy
    assert demo("show", session)["ends"] == ["cancelled"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals(acp, demo, number):
    client = acp()
    session = client.new()
    client.start_prompt(session, "slow 30")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.process.send_signal(number)
    assert client.process.wait(5) == 128 + number
    assert demo("show", session)["ends"] == ["cancelled"]


def test_a_client_that_stops_reading_does_not_hold_up_the_end(environ, place, acp):
    client = acp()
    session = client.new()
    client.start_prompt(session, "big 8192")
    client.start_prompt(session, "flood 1000000")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    assert client.close(2.0) == 0
