"""Field reports, group H: what agents run on, what is sent to them, and what is left of them.

Each test is named after its row and tells the symptom in its docstring; all run over a real server.
"""

import shlex
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest
import trio

from tests.reports import deaf_agent
from tests.reports.agents import DEMO, Wiretap, say_in_chat, wiretap
from tests.reports.rows import unaccounted
from tests.support import fake_claude
from tests.support.client import Client, Unexpected, marked
from tests.support.leaks import processes

ROWS = ["H1", "H2", "H3", "H5", "H7", "H8", "H10"]
NOT_APPLICABLE = {
    "H1": "there are no attachments yet: a prompt is text, and its limit is in tests/e2e/test_doors.py",
    "H8": "there are no attachments yet; what waits when the server ends is in tests/e2e/test_kill_nine.py",
}
LARGE = "many words\n" * 5900
"""Nearly the longest prompt, and on the wire more than a pipe holds."""


def test_every_row_is_tested_or_has_its_reason():
    assert unaccounted(globals(), ROWS, NOT_APPLICABLE) == []


def prompts(tap: Wiretap) -> list[str]:
    """The texts of all prompts that connectors were given, oldest first."""
    calls = map(orjson.loads, tap.wire_log.read_bytes().splitlines())
    return [one["params"]["prompt"][0]["text"] for one in calls if one.get("method") == "session/prompt"]


@pytest.mark.parametrize("what", ["stay", "leave"])
async def test_h2_an_agent_that_lets_go_of_its_input_in_a_large_prompt(server, tmp_path, what):
    """The message was too large for something inside the agent: the turn span for ever."""
    program, deaf = tmp_path / "hybridmux-demo", tmp_path / "deaf"
    proxy = shlex.join([sys.executable, deaf_agent.__file__, str(deaf), str(DEMO)])
    program.write_text(f'#!/bin/sh\ncase $1 in acp) exec {proxy} "$@" ;; *) exec {DEMO} "$@" ;; esac\n')
    program.chmod(0o755)
    async with server() as running:
        client = running.client
        sid = (await client.hybrid_session([str(program), "tui"], str(tmp_path), startSide="acp"))["id"]
        await say_in_chat(client, sid, "hello")
        async with client.chat(sid) as chat:
            deaf.write_text(what)
            ended = len(chat.of("turn.end"))
            await client.prompt(sid, LARGE)
            end = await chat.until_turns_ended(ended + 1)
            assert (end["stopReason"], bool(end["error"])) == ("error", True)
            await client.prompt(sid, "still there?")
            assert (await chat.until_turns_ended(ended + 2))["stopReason"] == "end_turn"
            assert ("agent", "echo: still there?") in chat.messages()
        info = await client.get(f"/api/sessions/{sid}")
        assert (info["hybrid"]["state"], info["hybrid"]["side"]) == ("active", "acp")
        assert len([line for line in marked(running.data) if "deaf_agent" in line]) == 1


@pytest.mark.parametrize(
    ("text", "reason"), [("fail: 413", "error"), ("auth", "auth_required"), ("slow 60", "error")]
)
async def test_h3_a_prompt_that_failed_is_not_sent_again(server, tmp_path, text, reason):
    """A message that the provider refused stayed in the way: every later turn failed with it."""
    tap = wiretap(tmp_path / "bin")
    async with server() as running:
        client = running.client
        sid = (await client.hybrid_session([str(tap.program), "tui"], str(tmp_path), startSide="acp"))["id"]
        async with client.chat(sid) as chat:
            await client.prompt(sid, "first")
            await chat.until_turns_ended(1)
            await client.prompt(sid, text)
            if text == "slow 60":
                await chat.until(lambda v: "tick" in str(v.messages()[-1]))
                # The youngest first, so that it does not see the end of its input.
                for one in sorted(processes(running.data, sid), key=lambda one: one.pid, reverse=True):
                    one.kill()
            assert (await chat.until_turns_ended(2))["stopReason"] == reason
            await client.prompt(sid, "third")
            assert (await chat.until_turns_ended(3))["stopReason"] == "end_turn"
            assert chat.state["queue"]["items"] == []
        assert prompts(tap) == ["first", text, "third"]
        for side in ("tui", "acp"):
            await client.switch(sid, side)
        await client.delete(f"/api/sessions/{sid}")
        await client.resume(sid, {"side": "acp"})
        await say_in_chat(client, sid, "last")
        assert prompts(tap) == ["first", text, "third", "last"]


_BROKEN = """
import sys
from hybridmux.cli import main
from hybridmux.conversation.tui import Tui

glance = Tui.glance

def break_down(self):
    if "explode" in self.terminal.title:
        raise ZeroDivisionError("a mistake of ours")
    return glance(self)

Tui.glance = break_down
sys.exit(main())
"""


async def test_h5_a_mistake_in_a_session_s_task_leaves_none_of_its_processes(server):
    """Agents outlived the server, or what had been wrong in it.

    SIGKILL of the server and its keeper at any moment is in tests/e2e/test_kill_nine.py, of the server alone
    in tests/e2e/test_faults.py, its orderly stop within each phase of a switch in tests/faults.
    """
    async with server(program=(sys.executable, "-c", _BROKEN)) as running:
        client = running.client
        sid, other = [(await client.demo_session())["id"] for _ in range(2)]
        async with client.terminal(sid) as term, client.terminal(other) as second:
            await term.until_text("ready")
            await term.submit("run: sleep 1000 & sleep 1000")
            await term.until_text("Run this command")
            await term.send(b"\r")
            with trio.fail_after(10):
                while len(processes(running.data, sid)) < 3:  # noqa: ASYNC110 - nothing tells of it
                    await trio.sleep(0.05)
            await term.send(b"\x1b")
            await term.until_text("ready")
            await term.submit("title: explode")
            assert (await term.until_closed())[0] == 4410
            assert processes(running.data, sid) == []
            await second.until_text("ready")
            await second.submit("hello")
            await second.until_text("echo: hello")
        (record,) = [one for one in await client.get("/api/hybrid-sessions") if one["id"] == sid]
        assert record["state"] == "interrupted"
        assert "a mistake of ours" in running.log()


@asynccontextmanager
async def claude_session(server, folder: Path, **env: str):
    """Claude Code in its terminal, with one message said: (its server, session id)."""
    async with server(env={"PATH": fake_claude.install(folder)}) as running:
        client: Client = running.client
        config = {"name": "x", "cmd": ["claude"], "cwd": str(folder), "env": env, "hybrid": True}
        config_id = (await client.post("/api/launch-configs", config))["id"]
        sid = (await client.post("/api/sessions", {"configId": config_id}))["id"]
        async with client.terminal(sid) as term:
            await term.until_text("welcome")
            await term.submit("hello")
            await term.until_text("echo: hello")
        yield running, sid


async def refused_untouched(running, sid: str) -> str:
    """A switch to the chat that is refused with the terminal as it was: the reason."""
    client, before = running.client, marked(running.data)
    async with client.terminal(sid) as term:
        with pytest.raises(Unexpected) as caught:
            await client.switch(sid, "acp")
        assert caught.value.status == 502
        assert marked(running.data) == before
        await term.submit("still here")
        await term.until_text("echo: still here")
        assert term.closed is None
    info = await client.get(f"/api/sessions/{sid}")
    assert (info["hybrid"]["side"], info["hybrid"].get("phase")) == ("tui", None)
    return str(caught.value.body["error"])


SHIM = '@ECHO off\r\nGOTO start\r\n:start\r\n"%_prog%" "%dp0%\\cli.js" %*\r\n'


WRONG = {
    "directory": "is a folder, not a program",
    "broken link": "which does not exist",
    "nothing": "there is no file",
    "not executable": "is not an executable file",
    "shim": "is a script for Windows",
    "text": "without a first line",
}


def name_wrongly(named: Path, how: str) -> None:
    """Puts something in that place that is no program."""
    match how:
        case "directory":
            named.mkdir()
        case "broken link":
            named.symlink_to("/gone/claude")
        case "not executable":
            named.write_text("#!/bin/sh\n")
        case "shim" | "text":
            named.write_text("exec claude\n" if how == "text" else SHIM)
            named.chmod(0o755)


async def test_h7_a_wrong_path_to_the_agent_is_refused_before_anything_stops(server, tmp_path):
    """The bridge was told an npm shim as the agent's program: it failed after the terminal was gone."""
    named = tmp_path / "named"
    async with claude_session(server, tmp_path, CLAUDE_CODE_EXECUTABLE=str(named)) as (running, sid):
        for how, words in WRONG.items():
            name_wrongly(named, how)
            error = await refused_untouched(running, sid)
            assert "CLAUDE_CODE_EXECUTABLE names no program: " in error
            assert str(named) not in error
            assert words in error
            if named.is_dir():
                named.rmdir()
            named.unlink(missing_ok=True)
        named.symlink_to(tmp_path / "bin" / "claude")
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"


async def test_h7_a_script_without_a_mode_is_a_program(server, tmp_path):
    """The other half: what npm installs is a script, and connectors can start it."""
    named = tmp_path / "cli.js"
    named.write_text("process.exit(0)\n")
    async with claude_session(server, tmp_path, CLAUDE_CODE_EXECUTABLE=str(named)) as (running, sid):
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"


@pytest.mark.parametrize("side", ["claude", "claude-agent-acp"])
async def test_h7_a_shim_in_the_place_of_a_program(server, tmp_path, side):
    """The same for what is found on PATH: the connector, and the program that a chat goes back to."""
    async with claude_session(server, tmp_path) as (running, sid):
        program = tmp_path / "bin" / side
        if side == "claude":
            await running.client.switch(sid, "acp")
        program.rename(tmp_path / "kept")
        program.write_text(SHIM)
        program.chmod(0o755)
        if side == "claude":
            before = marked(running.data)
            with pytest.raises(Unexpected) as caught:
                await running.client.switch(sid, "tui")
            assert marked(running.data) == before
            error = caught.value.body["error"]
            await say_in_chat(running.client, sid, "still here")
        else:
            error = await refused_untouched(running, sid)
        assert f"{program} is a script for Windows, not a program" in error


async def test_h10_a_node_that_is_too_old_is_named_before_anything_stops(server, tmp_path):
    """The bridge needed a newer Node than the machine had: found out by its crash."""
    async with claude_session(server, tmp_path) as (running, sid):
        connector = tmp_path / "bin" / "claude-agent-acp"
        connector.write_text(connector.read_text().replace("#!/bin/sh", "#!/usr/bin/env node"))
        node = tmp_path / "bin" / "node"
        node.symlink_to("/gone/node")
        assert "claude-agent-acp needs Node.js" in await refused_untouched(running, sid)
        node.unlink()
        node.write_text("#!/bin/sh\necho no libc >&2; exit 127\n")
        node.chmod(0o755)
        error = await refused_untouched(running, sid)
        assert f"needs Node.js, but {node} --version ended with exit code 127: no libc" in error
        for version in ("18.20.4", "20.20.2", "22.11.0"):
            says = f'[ "$1" = --version ] && echo v{version} && exit'
            node.write_text(f'#!/bin/sh\n{says}\nexec /bin/sh "$@"\n')
            node.chmod(0o755)
            if version != "22.11.0":
                error = await refused_untouched(running, sid)
                assert f"needs Node.js 22 or newer, but {node} is {version}; install Node.js 22" in error
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"
