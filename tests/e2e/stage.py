"""Scenes for the table of refusals: what has to be the case before a request is refused.

A scene is an async context manager over a `Stage`; it yields the names that rows may use in paths and bodies.
"""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import trio
from attrs import define, field

from hybridmux.budgets import QUEUE_ITEMS, RECORDS
from hybridmux.store.records import Record
from hybridmux.wire.convert import write
from tests.support.client import Client, Server, marked, request_id

DEMO = Path(sys.executable).parent / "hybridmux-demo"
LAST_WORDS = "model provider: quota exceeded"
Names = dict[str, str]
Json = dict[str, Any]


@define
class Stage:
    """One server, and what a scene needs of it."""

    server: Server
    folder: Path
    fault: Path
    operations: dict[str, tuple[str, str, Json]] = field(factory=dict)
    """operationId → method, path, operation: from the server's own document."""
    earlier: tuple[int, Any] | None = None
    """The answer of the switch that a scene has started, once it is there."""
    answered: trio.Event = field(factory=trio.Event)

    @property
    def client(self) -> Client:
        """Requests."""
        return self.server.client

    async def read_contract(self) -> None:
        """What the server says of its routes."""
        document = await self.client.get("/api/openapi.json")
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                self.operations[operation["operationId"]] = (method.upper(), path, operation)

    async def ask(self, operation: str, at: tuple[str, ...], body: Json | None) -> tuple[int, Any]:
        """One request; a `clientRequestId` goes along where the route wants one."""
        method, path, described = self.operations[operation]
        for each in at:
            head, _, rest = path.partition("{")
            path = head + each + rest.partition("}")[2]
        kind = str(described.get("requestBody", ""))
        if any(
            word in kind
            for word in ("SwitchR", "ResumeR", "Prompt", "Command", "QueueE", "Answer", "Mode", "/ConfigB")
        ):
            body = {"clientRequestId": request_id(), **(body or {})}
        status, headers, data = await self.client.request(method, path, body)
        assert not data or headers["content-type"] == "application/json"
        return status, json.loads(data) if data else None

    async def config(self, *cmd: str, cwd: str = "") -> str:
        """A hybrid launch config's id."""
        body = {"name": Path(cmd[0]).name, "cmd": list(cmd), "hybrid": True, "cwd": cwd}
        return (await self.client.post("/api/launch-configs", body))["id"]

    async def talk(self, config: str | None = None, text: str = "hello") -> str:
        """A session in its terminal with a turn."""
        body = {"configId": config or await self.config(str(DEMO), "tui")}
        sid: str = (await self.client.post("/api/sessions", body))["id"]
        async with self.client.terminal(sid) as term:
            await term.until_text("ready")
            await term.type(text)
            await term.until_text("esc to interrupt" if text.startswith("hang") else f"echo: {text}")
        return sid

    async def chat(self, config: str | None = None) -> str:
        """A session on the chat side."""
        body = {"configId": config or await self.config(str(DEMO), "tui"), "startSide": "acp"}
        return (await self.client.post("/api/sessions", body))["id"]

    async def agent_session(self, sid: str) -> str:
        """The agent's id of a session on the chat side."""
        return (await self.client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"]

    async def closed(self, sid: str) -> str:
        """Closes a session; its id is the record's."""
        await self.client.delete(f"/api/sessions/{sid}")
        return sid

    async def until_over(self, sid: str) -> None:
        """Waits until a session's program has ended by itself."""
        async with self.client.socket("/ws/events") as ws:
            with trio.fail_after(10):
                while True:
                    frame = json.loads(await ws.get_message())
                    infos = [*frame.get("sessions", []), frame.get("session", {})]
                    if any(i.get("id") == sid and i["status"] == "exited" for i in infos):
                        return

    def program(self, name: str, script: str) -> str:
        """An executable of ours."""
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return str(file)


Scene = Callable[[Stage], AbstractAsyncContextManager[Names]]


@asynccontextmanager
async def resting(stage: Stage) -> AsyncIterator[Names]:
    """A terminal without a message, and a chat."""
    terminal = (await stage.client.demo_session())["id"]
    async with stage.client.terminal(terminal) as term:
        await term.until_text("ready")
    chat = await stage.chat()
    yield {"terminal": terminal, "chat": chat, "open": await stage.agent_session(chat)}


@asynccontextmanager
async def asking(stage: Stage, config: str | None = None) -> AsyncIterator[Names]:
    """A switch that waits for a choice: its turn takes no interrupt."""
    sid = await stage.talk(config, "hang")
    async with trio.open_nursery() as nursery:

        async def switch() -> None:
            stage.earlier = await stage.ask("sessions.switch", (sid,), {"to": "acp"})
            stage.answered.set()

        nursery.start_soon(switch)
        async with stage.client.chat(sid) as chat:
            await chat.until(lambda v: v.state.get("phase") == "awaiting_choice")
        yield {"moving": sid}
        if stage.earlier is None:
            await stage.client.command("POST", f"/api/sessions/{sid}/switch", {"choice": "cancel"})


@asynccontextmanager
async def stopping(stage: Stage) -> AsyncIterator[Names]:
    """The server is asked to stop while a switch runs, and waits for a program that heeds SIGKILL only."""
    stubborn = f'[ "$1" = acp ] && exec {DEMO} acp\ntrap "" HUP TERM\n{DEMO} "$@"\nsleep 60'
    config = await stage.config(stage.program("hybridmux-demo", stubborn), "tui")
    async with asking(stage, config) as names:
        stage.server.process.terminate()
        with trio.fail_after(10):
            await stage.answered.wait()
        yield names
        for line in marked(stage.server.data):  # enough: the server need not wait any longer
            os.kill(int(line.split()[0]), signal.SIGKILL)


@asynccontextmanager
async def ended(stage: Stage) -> AsyncIterator[Names]:
    """Sessions that are over, each with another thing that is gone."""
    gone = stage.folder / "gone"
    gone.mkdir()
    folderless = await stage.closed(await stage.talk(await stage.config(str(DEMO), "tui", cwd=str(gone))))
    gone.rmdir()
    config = await stage.config(str(DEMO), "tui")
    configless = await stage.closed(await stage.talk(config))
    await stage.client.delete(f"/api/launch-configs/{config}")
    forgotten = await stage.closed(await stage.talk())
    lost = (await stage.client.get(f"/api/hybrid-sessions/{forgotten}"))["agentSessionId"]
    (stage.server.home / "demo" / f"{lost}.jsonl").unlink()
    sound = await stage.closed(await stage.talk())
    open_one = await stage.agent_session(await stage.chat())
    left = await stage.talk()
    async with stage.client.terminal(left) as term:
        await term.send(b"\x04")
    await stage.until_over(left)
    yield {
        "folderless": folderless, "configless": configless, "forgotten": forgotten, "sound": sound,
        "open": open_one, "left": left,
    }  # fmt: skip


@asynccontextmanager
async def lonely(stage: Stage) -> AsyncIterator[Names]:
    """An agent without its connector."""
    program = stage.program("hybridmux-demo-lonely", f'exec {DEMO} "$@"')
    config = await stage.config(program, "tui")
    terminal, record = await stage.talk(config), await stage.closed(await stage.talk(config))
    yield {"config": config, "terminal": terminal, "record": record}


@asynccontextmanager
async def ambiguous(stage: Stage) -> AsyncIterator[Names]:
    """A terminal that does not say what it shows, and two conversations that could be it."""
    script = f"[ \"$1\" = acp ] && exec {DEMO} acp\nprintf 'ctrl+p commands'\nexec cat"
    config = await stage.config(stage.program("opencode", script))
    sid = (await stage.client.post("/api/sessions", {"configId": config}))["id"]
    async with stage.client.terminal(sid) as term:
        await term.until_text("commands")
        await term.type("hello")
        await term.until_text("hello")
    for _ in range(2):
        await stage.closed(await stage.talk())
    yield {"terminal": sid}


@asynccontextmanager
async def talking(stage: Stage) -> AsyncIterator[Names]:
    """A terminal, a chat and a record with a conversation; the connector complains before it ends with 71."""
    complain = f'{DEMO} acp; code=$?; [ $code = 71 ] && echo "{LAST_WORDS}" >&2; exit $code'
    config = await stage.config(
        stage.program("hybridmux-demo", f'[ "$1" = acp ] || exec {DEMO} "$@"\n{complain}'), "tui"
    )
    terminal, chat = await stage.talk(config), await stage.talk(config)
    record = await stage.closed(await stage.talk(config))
    await stage.client.switch(chat, "acp")
    yield {"config": config, "terminal": terminal, "chat": chat, "record": record}


@asynccontextmanager
async def full_queue(stage: Stage) -> AsyncIterator[Names]:
    """As many messages wait as may."""
    sid = await stage.chat()
    await stage.client.prompt(sid, "slow 60")
    for number in range(QUEUE_ITEMS):
        assert (await stage.client.prompt(sid, f"message {number}"))["queued"]
    yield {"chat": sid}


@asynccontextmanager
async def offered(stage: Stage) -> AsyncIterator[Names]:
    """A launch config to start from."""
    yield {"config": await stage.config(str(DEMO), "tui")}


@asynccontextmanager
async def nothing(stage: Stage) -> AsyncIterator[Names]:
    """The file of the launch configs cannot be read: there is nothing to start from."""
    yield {}


@asynccontextmanager
async def unwritable(stage: Stage) -> AsyncIterator[Names]:
    """Sessions, and from then on their records cannot be written."""
    config = await stage.config(str(DEMO), "tui")
    terminal, chat = await stage.talk(config), await stage.chat(config)
    record = await stage.closed(await stage.talk(config))
    file = stage.server.data / "hybrid-sessions.json"
    file.rename(file.with_suffix(".kept"))
    (file / "in the way").mkdir(parents=True)
    yield {"config": config, "terminal": terminal, "chat": chat, "record": record}


WHEN = "2026-01-01T00:00:00.000Z"


def record(name: str, agent: str, *cmd: str) -> Record:
    """A record that is closed."""
    return Record(
        id=name, name="old", config_id="c", agent=agent, cwd="/", cmd=list(cmd),
        side="tui", state="closed", created_at=WHEN, updated_at=WHEN,
    )  # fmt: skip


def file_of(made: list[Record], version: int = 1) -> bytes:
    """A file of records."""
    return json.dumps({"version": version, "records": [write(each) for each in made]}).encode()


def records(count: int, version: int = 1) -> bytes:
    """A file of so many records."""
    return file_of(
        [record(f"r{number}", "demo", "hybridmux-demo", "tui") for number in range(count)], version
    )


FULL = records(RECORDS)
STRANGE = file_of(
    [
        record("future", "future", "future-agent"),
        record("plain", "demo", "cat"),
        record("other", "future", "hybridmux-demo", "tui"),
    ]
)
"""Of an agent that came later, of a command that is no agent's any more, and of both at odds."""
