"""Scenes with a stand-in for Claude Code, and with programs that are none of the server's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests.e2e.stage import DEMO, Names, Stage
from tests.support.fake_claude import foreign, install
from tests.support.leaks import processes


async def claude(stage: Stage, *cmd: str) -> str:
    """A launch config of the stand-in (or of what starts it); its connector is on the PATH."""
    body = {
        "name": "claude", "cmd": list(cmd) or ["claude"], "hybrid": True, "cwd": "",
        "env": {"PATH": install(stage.folder)},
    }  # fmt: skip
    return (await stage.client.post("/api/launch-configs", body))["id"]


async def in_terminal(stage: Stage, config: str) -> str:
    """A session of that config in its terminal."""
    sid: str = (await stage.client.post("/api/sessions", {"configId": config}))["id"]
    async with stage.client.terminal(sid) as term:
        await term.until_text("welcome")
    return sid


async def in_chat(stage: Stage, config: str) -> str:
    """A session of that config in the chat, with a turn."""
    sid = await stage.chat(config)
    async with stage.client.chat(sid) as chat:
        await stage.client.prompt(sid, "hello")
        await chat.until_turns_ended(1)
    return sid


def claude_home(stage: Stage) -> Path:
    """Where the stand-in keeps its files."""
    return stage.server.home / ".claude"


@asynccontextmanager
async def visited(stage: Stage) -> AsyncIterator[Names]:
    """Chats and a record whose conversations another program has open. One chat has lost its connector, in
    the other a message waits in a paused queue."""
    config = await claude(stage)
    chat, bereft = await in_chat(stage, config), await in_chat(stage, config)
    record = await stage.closed(await in_chat(stage, config))
    async with stage.client.chat(chat) as view:
        await stage.client.prompt(chat, "hang")
        item = (await stage.client.prompt(chat, "and this"))["itemId"]
        await stage.client.cancel(chat)
        await view.until(lambda v: v.state["queue"]["paused"])
    async with stage.client.chat(bereft) as view:
        for one in processes(stage.server.data, bereft):
            one.kill()
        await view.until(lambda v: any(each["code"] == "agent_gone" for each in v.of("notice")))
    kept = (await stage.client.get(f"/api/hybrid-sessions/{record}"))["agentSessionId"]
    open_ = [await stage.agent_session(sid) for sid in (chat, bereft)]
    home = claude_home(stage)
    with foreign(home, open_[0]), foreign(home, open_[1]), foreign(home, kept):
        yield {"chat": chat, "bereft": bereft, "record": record, "item": item}


@asynccontextmanager
async def several(stage: Stage) -> AsyncIterator[Names]:
    """A launcher with two agents below it: either could be the terminal's."""
    child = stage.program("claude", "read -r _ || sleep 600")
    node = stage.program("node", '"$1" <&0 & "$1" <&0 & echo welcome; wait')
    yield {"terminal": await in_terminal(stage, await claude(stage, node, child))}


@asynccontextmanager
async def checked(stage: Stage) -> AsyncIterator[Names]:
    """A switch whose check takes its time: the connector says nothing."""
    sid = await stage.talk(await stage.config(str(DEMO), "tui"))
    stage.fault.write_text("acp.initialize:hang")
    async with trio.open_nursery() as nursery, stage.client.chat(sid) as chat:
        nursery.start_soon(stage.ask, "sessions.switch", (sid,), {"to": "acp"})
        await chat.until(lambda v: v.state["eligibility"].get("reason") == "checking")
        with trio.fail_after(20):  # no frame tells of it
            while not any(one.side == "acp" for one in processes(stage.server.data, sid)):  # noqa: ASYNC110
                await trio.sleep(0.05)
        yield {"moving": sid}
        for one in processes(stage.server.data, sid):
            if one.side == "acp":  # enough: the check need not wait any longer
                one.kill()
