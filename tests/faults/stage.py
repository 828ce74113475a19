"""A session on its way to the other side, and everything that looks at it."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import h11
import trio
from attrs import define, field

from tests.faults.house import House, living
from tests.support.client import ChatView, Client, TerminalView, request_id
from tests.support.views import View

SAID = [("user", "hello one"), ("agent", "echo: hello one")]
"""The finished turn that every conversation begins with."""
ORIGIN = {"to_chat": "tui", "to_terminal": "acp"}
TARGET = {"to_chat": "acp", "to_terminal": "tui"}
OUTCOME = 25.0
"""Seconds within which every switch has ended, one way or the other."""


class ListView(View):
    """`/ws/events`: every state of the sessions in the list."""

    def __init__(self, ws: Any) -> None:
        super().__init__(ws)
        self.seen: list[dict[str, Any]] = []

    def _take(self, frame: dict[str, Any]) -> None:
        self.seen += [*frame.get("sessions", []), *([frame["session"]] if "session" in frame else [])]

    def hybrid(self, sid: str) -> list[dict[str, Any]]:
        """What was told of one session, oldest first."""
        return [info["hybrid"] for info in self.seen if info["id"] == sid]


@define
class Stage:
    """One session, the switch that was asked for, and its viewers."""

    house: House
    client: Client
    sid: str
    direction: str
    agent_id: str
    """The conversation's."""
    fault: Path
    program: Path
    chat: ChatView
    sessions: ListView
    term: TerminalView | None
    """The viewer that was there when the switch began (to the chat only)."""
    before: dict[int, str]
    """The processes at that time."""
    nursery: trio.Nursery
    request: str = field(factory=request_id)
    answers: list[tuple[int, Any] | None] = field(factory=list)
    """The switch's answer when it has come; None: the connection broke."""
    answered: trio.Event = field(factory=trio.Event)
    size: tuple[int, int] = (91, 33)
    """Columns and rows that a new terminal should have."""
    turn_just_ended: bool = False
    """Its end is on its way to the record; otherwise that is up to date at the answer of a switch."""
    asking: trio.CancelScope = field(factory=trio.CancelScope)

    @property
    def path(self) -> str:
        """Of the session."""
        return f"/api/sessions/{self.sid}"

    def break_with(self, spec: str) -> None:
        """What the programs find from now on where they wait or start; "" lets them go on unharmed."""
        replace(self.fault, spec)

    async def ask(self) -> tuple[int, Any] | None:
        """Asks for the switch, or again for its answer; None: the connection broke."""
        body = {"clientRequestId": self.request, "to": TARGET[self.direction]}
        try:
            status, _, data = await self.client.request("POST", f"{self.path}/switch", body)
        except (OSError, trio.BrokenResourceError, h11.RemoteProtocolError):
            return None
        return status, json.loads(data) if data else None

    async def _asking(self) -> None:
        with self.asking:
            self.answers.append(await self.ask())
        self.answered.set()

    def begin(self) -> None:
        """Asks for the switch in the background."""
        self.nursery.start_soon(self._asking)

    async def answer(self) -> tuple[int, Any] | None:
        """Waits for the switch's answer."""
        with trio.fail_after(OUTCOME):
            await self.answered.wait()
        return self.answers[0]

    async def until_phase(self, phase: str) -> None:
        """Waits until viewers of the chat see the phase; the precheck has only its eligibility."""
        if phase == "precheck":
            await self.chat.until(lambda v: v.state["eligibility"].get("reason") == "checking")
        else:
            await self.chat.until(lambda v: v.state.get("phase") == phase)

    async def until_started(self, kind: str) -> None:
        """Waits until a new process of that kind runs the agent's own program."""
        with trio.fail_after(5):
            while kind not in [k for pid, k in self.living().items() if pid not in self.before]:  # noqa: ASYNC110
                await trio.sleep(0.01)  # a process that execs sets no event

    async def until_activity(self, activity: str) -> None:
        """Waits until the record on disk says so."""
        with trio.fail_after(5):
            while self.record()["activity"] != activity:  # noqa: ASYNC110 - a file sets no event
                await trio.sleep(0.01)

    def living(self) -> dict[int, str]:
        """The session's processes now."""
        return living(self.house.data, self.sid)

    def record(self) -> dict[str, Any]:
        """The session's record on disk."""
        value = json.loads((self.house.data / "hybrid-sessions.json").read_text())
        (record,) = [each for each in value["records"] if each["id"] == self.sid]
        return record


def replace(file: Path, text: str) -> None:
    """A whole new content at once."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(text)
    new.chmod(file.stat().st_mode & 0o777 if file.exists() else 0o644)
    new.replace(file)


def write_program(file: Path, interpreter: str = "/bin/sh") -> None:
    """A start file for the demo agent; with an interpreter that cannot be run it cannot either."""
    from tests.support.server import PROGRAM

    replace(file, f'#!{interpreter}\nexec {PROGRAM.parent / "hybridmux-demo"} "$@"\n')
    file.chmod(0o755)


async def new_session(house: House, folder: Path, direction: str) -> str:
    """A session in `folder`, with an agent store and a fault file of its own."""
    (folder / "project").mkdir()
    write_program(folder / "hybridmux-demo")
    config = {
        "name": "demo",
        "cmd": [str(folder / "hybridmux-demo"), "tui"],
        "cwd": str(folder / "project"),
        "env": {"HYBRIDMUX_DEMO_FAULT": f"@{folder / 'fault'}", "HYBRIDMUX_DEMO_HOME": str(folder / "store")},
        "hybrid": True,
    }
    config_id = (await house.client.post("/api/launch-configs", config))["id"]
    wanted = {"configId": config_id, "startSide": ORIGIN[direction], "cols": 91, "rows": 33}
    sid: str = (await house.client.post("/api/sessions", wanted))["id"]
    return sid


@asynccontextmanager
async def staged(house: House, folder: Path, direction: str, start_fault: str) -> AsyncIterator[Stage]:
    """A session that rests on its origin with one finished turn; its first program has `start_fault`."""
    replace(folder / "fault", start_fault)
    client = house.client
    sid = await new_session(house, folder, direction)
    async with AsyncExitStack() as stack:
        chat = await stack.enter_async_context(client.chat(sid))
        events = await stack.enter_async_context(client.socket("/ws/events"))
        sessions = await stack.enter_async_context(ListView(events).reading())
        term = None
        if direction == "to_chat":
            term = await stack.enter_async_context(client.terminal(sid, cols=91, rows=33))
            await term.until_text("ready")
            await term.type(SAID[0][1])
            await term.until_text(SAID[1][1])
            await term.until_text("ready")
        else:
            await client.prompt(sid, SAID[0][1])
            await chat.until_turns_ended(1)
        replace(folder / "fault", "")
        (conversation,) = (folder / "store").glob("*.jsonl")
        stage = Stage(
            house=house,
            client=client,
            sid=sid,
            direction=direction,
            agent_id=conversation.stem,
            fault=folder / "fault",
            program=folder / "hybridmux-demo",
            chat=chat,
            sessions=sessions,
            term=term,
            before=living(house.data, sid),
            nursery=await stack.enter_async_context(helpers()),
        )
        await stage.until_activity("idle")
        yield stage


@asynccontextmanager
async def helpers() -> AsyncIterator[trio.Nursery]:
    """A nursery that ends with its body; what that raises leaves as itself, not in a group."""
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            yield nursery
        except Exception as exc:
            failure = exc
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
