"""What a server learns of processes from an agent's own files is for its decisions and leaves it nowhere."""

import json
import os
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from hybridmux.proc import table
from tests.e2e.conftest import SHORT
from tests.support import fake_claude
from tests.support.client import Unexpected, serving
from tests.support.fake_claude import foreign
from tests.support.leaks import processes
from tests.support.opened import opened_in
from tests.support.secrets import LOUD, Overheard, Said, Secrets, find, paths_of

FOLDER = "unmistakable-config"
WORDS = (
    fake_claude.SECRET, fake_claude.NAME, fake_claude.SOCKET, fake_claude.FEATURE, fake_claude.KEY_HASH,
    FOLDER, "messagingSocketPath",
)  # fmt: skip


@pytest.fixture
def claude(tmp_path):
    """A machine on which Claude Code and its connector are installed; its environment."""
    config = tmp_path / FOLDER
    (config / "sessions").mkdir(parents=True)
    return {"PATH": fake_claude.install(tmp_path), "CLAUDE_CONFIG_DIR": str(config)}


@asynccontextmanager
async def loud_server(folder: Path, env: dict[str, str]):
    """A server that logs all it can, and what it lets out."""
    async with serving(folder, config=SHORT, env=env, program=LOUD) as server:
        yield Overheard(server)


def stated(config: Path) -> str:
    """The conversation in the one record that is there."""
    (record,) = (config / "sessions").glob("*.json")
    agent_session: str = json.loads(record.read_text())["sessionId"]
    return agent_session


async def refused(heard: Overheard, sid: str, reason: str | None, status: int = 409, to: str = "acp") -> None:
    """A switch that is refused so, and what can be seen of it."""
    with pytest.raises(Unexpected) as caught:
        await heard.client.switch(sid, to)
    assert (caught.value.status, caught.value.reason) == (status, reason)
    await heard.look_around()


@pytest.mark.timeout(180)
async def test_nothing_of_a_registry_leaves_the_server(claude, tmp_path):
    config, work = Path(claude["CLAUDE_CONFIG_DIR"]), tmp_path / "work"
    work.mkdir()
    others, registered = set(), set()
    with opened_in(config / "sessions") as opened:
        async with loud_server(tmp_path, claude) as heard, heard.listening():
            client = heard.client
            sid = (await client.hybrid_session(["claude"], str(work)))["id"]
            async with client.terminal(sid) as term:
                await term.until_text("welcome")
                agent_session = stated(config)
                await term.submit("hello")
                await term.until_text("echo: hello")
                for state in ("busy", "waiting"):
                    await term.submit(state)
                    await term.until_text(f"> {state}")
                    await shows(heard, sid, state)
                    await term.send(b"\x1b")
                    await shows(heard, sid, "idle")

                # Refused because of somebody else, of its own files, of the connector.
                with foreign(config, agent_session) as pid:
                    others.add(pid)
                    heard.ticks.add(table.entry(pid).start_ticks)
                    await refused(heard, sid, "occupied_external")
                connector = tmp_path / "bin" / "claude-agent-acp"
                connector.rename(tmp_path / "kept")
                await refused(heard, sid, "connector_missing")
                (tmp_path / "kept").rename(connector)
                for method in ("initialize", "session/list"):
                    (config / "fails").write_text(method)
                    await refused(heard, sid, None, 502)
                (config / "fails").write_text("session/load")
                await refused(heard, sid, None, 502)
                (config / "fails").unlink()
            async with client.terminal(sid) as term:
                await term.until_text("echo: hello")
                await term.submit("torn")
                await term.until_text("torn now")
                registered |= {int(file.stem) for file in (config / "sessions").glob("*.json")}
                await heard.look_around()
                await term.submit("mended")
                await term.until_text("mended now")

            # There and back.
            await client.switch(sid, "acp")
            async with client.chat(sid) as chat:
                await client.prompt(sid, "and now?")
                await chat.until_turns_ended(1)
                assert ("agent", "echo: and now?") in chat.messages()
                registered |= {int(file.stem) for file in (config / "sessions").glob("*.json")}
                await heard.look_around()
                with foreign(config, agent_session) as pid:
                    others.add(pid)
                    await refused(heard, sid, "occupied_external", to="tui")
            await client.switch(sid, "tui")
            assert (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"] == agent_session

            with pytest.raises(Unexpected):
                await client.prompt(sid, "to the wrong side")

            # Killed, brought back, closed.
            async with client.terminal(sid) as term:
                await term.until_text("echo: and now")
                heard.note_processes()
                for one in processes(heard.server.data, sid):
                    one.kill()
                await term.until_closed()
            await heard.look_around()
            await client.resume(sid, {"side": "tui"})
            await heard.look_around()
            await client.delete(f"/api/sessions/{sid}")
            await heard.look_around()
        heard.read_files()
        names = opened.names()
    secrets = heard.secrets(*WORDS, *paths_of(config), *paths_of(config / "sessions"))
    secrets = Secrets(words=secrets.words, pids=secrets.pids | others | registered)
    assert heard.find(secrets) == []
    # The reader was at work: what was kept inside was there to be told.
    assert len(registered - others) == 2  # the terminal's and the connector's, of those that live
    assert heard.find(Secrets(words=frozenset({agent_session}))) != []
    assert {f"{pid}.json" for pid in registered} <= set(names)
    assert not [name for name in names if name.endswith(".key")]


async def shows(heard: Overheard, sid: str, turn: str) -> None:
    """Waits until the list tells the state that the registry tells."""
    wanted = {"idle": "idle", "busy": "running", "waiting": "waiting"}[turn]
    with trio.fail_after(10):
        while (await heard.client.get(f"/api/sessions/{sid}"))["status"] != wanted:  # noqa: ASYNC110 - asked for, not told
            await trio.sleep(0.05)
    await heard.look_around()


async def test_what_a_killed_server_left_is_ended_without_a_word_about_pids(claude, tmp_path):
    config = Path(claude["CLAUDE_CONFIG_DIR"])
    async with loud_server(tmp_path, claude) as heard:
        sid = (await heard.client.hybrid_session(["claude"], str(tmp_path)))["id"]
        async with heard.client.terminal(sid) as term:
            await term.until_text("welcome")
        heard.note_processes()
        server, keeper = heard.server.pid, heard.server.process.pid
        os.kill(keeper, signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
    async with loud_server(tmp_path, claude) as after:
        await after.look_around()
        after.pids |= heard.pids
        after.ticks |= heard.ticks
        assert after.find(after.secrets(*WORDS, str(config))) == []


# --- the search itself ---


@pytest.mark.parametrize(
    ("where", "data", "found"),
    [
        ("GET /x", {"a": [{"pid": 1}]}, ["pid"]),
        ("GET /x", {"properties": {"procStart": {}}}, ["procStart"]),
        ("GET /x", {"count": 4711}, ["count: 4711"]),
        ("GET /x", {"seq": 4711, "at": "2026-01-01T00:00:00.4711Z", "id": "a4711b", "of": 47110}, []),
        ("GET /x", {"text": "claude (4711) ended"}, ["pid 4711"]),
        ("GET /x", {"text": "at 127.0.0.1:4711"}, []),
        ("GET /x", {"sesame": 1}, ["sesame"]),
        ("GET /x", {"text": 'a "quoted" word'}, ['a "quoted"']),
        ("log", "ended 4711", ["pid 4711"]),
        ("log", "x: {'no': 1} \"pid\": 5", ["pid"]),
        ("file .x.4711", "", []),
        ("file x 4711", "", ["pid 4711"]),
        ("GET /assets/x.js", "4711 pid", []),
    ],
)
def test_what_is_found(where, data, found):
    text = data if isinstance(data, str) else json.dumps(data)
    secrets = Secrets(words=frozenset({"sesame", 'a "quoted"'}), pids=frozenset({4711}))
    assert list(find(Said(where, text.encode()), secrets)) == found
