"""A switch whose target fails: the answer, the session afterwards, and nothing left over."""

import os
import signal
from pathlib import Path

import pytest
import trio

from tests.support.client import Client, Unexpected, marked
from tests.support.talk import known_agent_session, say_in_terminal


async def spoken_session(client: Client, text: str = "hello one") -> str:
    """A demo session in its terminal with one turn."""
    session = await client.demo_session()
    await say_in_terminal(client, session["id"], text)
    return session["id"]


async def assert_alive_in_terminal(client: Client, sid: str, agent_id: str) -> None:
    """The terminal shows the same conversation and takes input."""
    info = await client.get(f"/api/sessions/{sid}")
    assert info["hybrid"]["side"] == "tui"
    assert info["hybrid"]["agentSessionId"] == agent_id
    async with client.terminal(sid) as term:
        await term.until_text("echo: hello one")
        await term.type("still here")
        await term.until_text("echo: still here")


def programs(data: Path) -> list[str]:
    """Our processes without the terminal's."""
    return [line for line in marked(data) if r"\x00acp" in line]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("acp.load:exit", "71"),
        ("acp.load:hang", "while loading"),
        ("acp.load:error", "loading"),
        ("acp.load:die=2", "loading"),
        ("acp.load:halfline", "loading"),
        ("acp.load:closed", "loading"),
    ],
)
async def test_a_load_that_fails_rolls_back(server, fault, spec, words):
    async with server() as running:
        client = running.client
        sid = await spoken_session(client)
        agent_id = await known_agent_session(client, sid)
        fault.write_text(spec)
        with pytest.raises(Unexpected) as caught:
            await client.switch(sid, "acp")
        assert caught.value.status == 502
        assert words in caught.value.body["error"]
        fault.write_text("")
        await assert_alive_in_terminal(client, sid, agent_id)
        assert programs(running.data) == []
        assert (await client.switch(sid, "acp"))["side"] == "acp"
        async with client.chat(sid) as chat:
            users = [text for role, text in chat.messages() if role == "user"]
            assert users == ["hello one", "still here"]


@pytest.mark.parametrize(
    "spec",
    ["acp.start:exit", "acp.initialize:hang", "acp.initialize:error", "acp.list:exit", "acp.list:hang"],
)
async def test_a_connector_that_fails_before_the_terminal_is_touched(server, fault, spec):
    async with server() as running:
        client = running.client
        sid = await spoken_session(client)
        fault.write_text(spec)
        with pytest.raises(Unexpected) as caught:
            await client.switch(sid, "acp")
        assert caught.value.status == 502
        fault.write_text("")
        async with client.terminal(sid) as term:
            await term.until_text("echo: hello one")
        assert programs(running.data) == []


@pytest.mark.parametrize(
    "spec", ["acp.load:garbage", "acp.load:stderr", "acp.load:slow=0.5", "acp.list:garbage"]
)
async def test_noise_is_no_failure(server, fault, spec):
    async with server() as running:
        sid = await spoken_session(running.client)
        fault.write_text(spec)
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"
        async with running.client.chat(sid) as chat:
            assert chat.messages() == [("user", "hello one"), ("agent", "echo: hello one")]


async def test_an_active_writer_is_occupied_external(server, fault):
    async with server() as running:
        sid = await spoken_session(running.client)
        agent_id = await known_agent_session(running.client, sid)
        fault.write_text("acp.load:active_writer")
        with pytest.raises(Unexpected) as caught:
            await running.client.switch(sid, "acp")
        assert (caught.value.status, caught.value.body["reason"]) == (409, "occupied_external")
        fault.write_text("")
        await assert_alive_in_terminal(running.client, sid, agent_id)


async def test_a_missing_connector(server, tmp_path):
    lonely = tmp_path / "hybridmux-demo-lonely"
    demo = Path(os.sys.executable).parent / "hybridmux-demo"
    lonely.write_text(f'#!/bin/sh\nexec {demo} "$@"\n')
    lonely.chmod(0o755)
    async with server() as running:
        client = running.client
        body = {"name": "lonely", "cmd": [str(lonely), "tui"], "hybrid": True}
        config = await client.post("/api/launch-configs", body)
        assert config["hybridSupport"]["connector"]["executable"] == "hybridmux-demo-lonely-acp"
        with pytest.raises(Unexpected) as caught:
            await client.post("/api/sessions", {"configId": config["id"], "startSide": "acp"})
        assert (caught.value.status, caught.value.body["reason"]) == (409, "connector_missing")
        assert await client.get("/api/sessions") == []
        session = await client.post("/api/sessions", {"configId": config["id"]})
        async with client.terminal(session["id"]) as term:
            await term.until_text("ready")
            await term.type("hello one")
            await term.until_text("echo: hello one")
            with pytest.raises(Unexpected) as caught:
                await client.switch(session["id"], "acp")
            assert (caught.value.status, caught.value.body["reason"]) == (409, "connector_missing")
            assert "npm install" in caught.value.body["connector"]["installCommand"]
            await term.type("still here")
            await term.until_text("echo: still here")


@pytest.mark.parametrize("spec", ["tui.start:exit", "tui.load:error", "tui.start:hang", "tui.load:other"])
async def test_a_terminal_that_fails_rolls_back_to_the_chat(server, fault, spec):
    async with server() as running:
        client = running.client
        sid = await spoken_session(client)
        await client.switch(sid, "acp")
        fault.write_text(spec)
        with pytest.raises(Unexpected) as caught:
            await client.switch(sid, "tui")
        assert caught.value.status == 502
        fault.write_text("")
        async with client.chat(sid) as chat:
            assert chat.state["side"] == "acp"
            await client.prompt(sid, "still here")
            await chat.until_turns_ended(1)
            assert ("agent", "echo: still here") in chat.messages()
        assert not [line for line in marked(running.data) if "tui" in line]


async def test_an_interrupt_that_is_ignored_is_asked_about(server):
    async with server() as running:
        client = running.client
        session = await client.demo_session()
        sid = session["id"]
        async with client.terminal(sid) as term:
            await term.until_text("ready")
            await term.type("first")
            await term.until_text("echo: first")
            await term.type("hang")
            await term.until_text("esc to interrupt")
        async with trio.open_nursery() as nursery:
            answers = []

            async def switching() -> None:
                answers.append(await client.switch(sid, "acp"))

            nursery.start_soon(switching)
            async with client.chat(sid) as chat:
                await chat.until(lambda v: v.state.get("phase") == "awaiting_choice")
                path = f"/api/sessions/{sid}/switch"
                await client.command("POST", path, {"choice": "force"}, status=204)
        assert answers[0]["side"] == "acp"
        async with client.chat(sid) as chat:
            assert ("user", "first") in chat.messages()


async def test_the_server_stops_with_everything_running_and_the_session_comes_back(server, tmp_path):
    async with server() as running:
        client = running.client
        one = await spoken_session(client)
        two = await spoken_session(client)
        await known_agent_session(client, one)
        await client.switch(two, "acp")
        await client.prompt(two, "slow 60")
        assert await running.stop() == 0
        assert marked(running.data) == []
    async with server() as running:
        client = running.client
        records = {r["id"]: r for r in await client.get("/api/hybrid-sessions?state=recoverable")}
        assert records[one]["state"] == records[two]["state"] == "interrupted"
        assert records[one]["activity"] == "idle"
        assert records[two]["activity"] == "turn"
        for sid in (one, two):
            info = await client.command("POST", f"/api/sessions/{sid}/resume")
            assert info["hybrid"]["state"] == "active"
        await assert_alive_in_terminal(client, one, records[one]["agentSessionId"])
        async with client.chat(two) as chat:
            assert chat.messages()[:2] == [("user", "hello one"), ("agent", "echo: hello one")]


def only_child(pid: int) -> int:
    """The server below its keeper."""
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


async def test_the_server_is_killed_and_leaves_nothing(server):
    async with server() as running:
        client = running.client
        sid = await spoken_session(client)
        await client.switch(sid, "acp")
        os.kill(only_child(running.process.pid), signal.SIGKILL)
        await trio.to_thread.run_sync(running.process.wait)
        assert marked(running.data) == []
