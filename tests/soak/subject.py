"""One session under test: where it is, what was said in it, how it comes back, and what must hold of it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import trio
from attrs import define

from tests.soak import contract, faults
from tests.soak.contract import Breach, must
from tests.soak.figures import Figures
from tests.soak.ledger import Ledger
from tests.support.client import ChatView, Client, Server, request_id
from tests.support.leaks import Marked, processes
from tests.support.talk import known_agent_session, say_in_terminal, stored_texts, until_info

LONGEST = 60.0
"""Seconds: longer than all deadlines of `run.CONFIG` together."""
SOON = 10.0
"""Seconds for what follows from an event by itself."""


@define(eq=False)
class Subject:
    """A session, its fault file and its ledger. `tainted`: one of its processes may break a turn."""

    server: Server
    figures: Figures
    rng: Random
    with_faults: bool
    ledger: Ledger
    fault_file: Path
    cwd: Path
    sid: str = ""
    agent: str = ""
    side: str = "tui"
    tainted: bool = False
    perhaps_waiting: int = 0
    """Messages whose turn was under way when it ended, and that may not have gone to the agent yet."""
    bereft: bool = False
    """Its connector was killed, and nothing was said in the chat since."""
    restless: bool = False
    """A turn runs in the terminal that may never end."""

    @property
    def client(self) -> Client:
        """Requests."""
        return self.server.client

    def chat(self) -> Any:
        """A viewer of its chat."""
        return self.client.chat(self.sid)

    # --- requests ---

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """A command below this session: status and JSON; a `Breach` if no answer comes."""
        whole = {"clientRequestId": request_id(), **(body or {})}
        with trio.move_on_after(LONGEST):
            return await self.client.ask(method, f"/api/sessions/{self.sid}{path}", whole)
        raise Breach(f"no answer within {LONGEST:g} s: {method} {path} {body}")

    async def do(self, method: str, path: str, body: dict[str, Any] | None = None) -> None:
        """A command that must be answered 204."""
        status, answer = await self.ask(method, path, body)
        must(status == 204, f"{method} {path}: {status} {answer}")

    def tell(self, what: str) -> None:
        """A line of the trace."""
        self.figures.trace.append(f"{trio.current_time() % 10000:8.2f} {self.ledger.name} {what}")

    # --- faults and processes ---

    def roll(self, side: str, chance: float) -> str:
        """Perhaps puts a fault for a start of `side` into the file; which one."""
        if not self.with_faults or self.rng.random() >= chance:
            return ""
        fault = faults.roll(self.rng, side)
        self.figures.faults[fault] += 1
        self.fault_file.write_text(fault)
        return fault

    def no_fault(self) -> None:
        """Later starts are sound."""
        self.fault_file.write_text("")

    def processes(self, side: str | None = None) -> list[Marked]:
        """Its processes, all or those of one side."""
        return [one for one in processes(self.server.data, self.sid) if side in (None, one.side)]

    # --- life ---

    async def begin(self, config: dict[str, Any]) -> None:
        """A new session with one turn."""
        body = {"name": self.ledger.name, "cmd": ["hybridmux-demo", "tui"], "cwd": str(self.cwd), **config}
        config_id = (await self.client.post("/api/launch-configs", body))["id"]
        self.sid = (await self.client.post("/api/sessions", {"configId": config_id}))["id"]
        text = self.ledger.fresh()
        self.ledger.sent(text)
        await say_in_terminal(self.client, self.sid, text)
        self.ledger.kept(text)
        self.agent = await known_agent_session(self.client, self.sid)

    async def settle(self, *, killed: bool = False) -> bool:
        """After an operation: it is on a side, or has ended and comes back; what was said is there.

        True if it had ended.
        """
        info = await self._info(killed=killed)
        ended = info is None or info["hybrid"]["state"] != "active"
        if ended:
            await self.come_back()
            info = await self._info(killed=False)
        must(info is not None and info["hybrid"]["state"] == "active", f"it is gone: {info}")
        self.side = info["hybrid"]["side"]
        must(contract.is_side(self.side) and "phase" not in info["hybrid"], f"not at rest: {info['hybrid']}")
        must(info["hybrid"]["agentSessionId"] == self.agent, f"not {self.agent}: {info['hybrid']}")
        if self.side == "acp":
            await self.verify_chat()
        return ended

    async def _info(self, *, killed: bool) -> dict[str, Any] | None:
        status, info = await self.client.ask("GET", f"/api/sessions/{self.sid}")
        if status == 404:
            return None
        must(status == 200, f"{status} {info}")
        # A terminal that was killed, or broke, ends its session a moment later.
        alive = info["hybrid"]["side"] == "tui" and info["hybrid"]["state"] == "active"
        if (killed or self.tainted) and alive and not self.processes("tui"):
            info = await until_info(self.client, self.sid, ended_info, SOON)
        return dict(info)

    async def come_back(self) -> None:
        """Resumes it, perhaps first with a fault; without one it must work."""
        record = await self.client.get(f"/api/hybrid-sessions/{self.sid}")
        must(record["state"] in ("closed", "interrupted"), f"ended, but: {record}")
        lost = self._queue_at_end(record)
        side = self.rng.choice(contract.PLACES)
        fault = self.roll(side, 0.25)
        outcome = await self._resume(side) if fault else "not tried"
        self.no_fault()
        self.tell(f"resume to {side} [{fault}]: {outcome}")
        self.tainted = outcome == "resumed" and faults.lasting(fault)
        if outcome != "resumed":
            again = await self.client.get(f"/api/hybrid-sessions/{self.sid}")
            must(again["state"] == record["state"], f"a failed resume left {again}, it was {record}")
            outcome = await self._resume(side)
            must(outcome == "resumed", f"resume to {side} without a fault: {outcome}")
        self.restless = False
        async with self.chat() as chat:
            must(chat.state["queueLost"] == lost, f"queueLost {chat.state['queueLost']}, not {lost}")

    def _queue_at_end(self, record: dict[str, Any]) -> int:
        """What waited when it ended is counted (interrupted) or was given up (closed)."""
        told = record.get("lostQueued", 0)
        if record["state"] == "interrupted":
            waiting = len(self.ledger.waiting)
            fits = waiting <= told <= waiting + self.perhaps_waiting
            must(fits, f"lostQueued {told}, waiting {self.ledger.waiting}")
        self.perhaps_waiting = 0
        self.ledger.came_back()
        return int(told)

    async def _resume(self, side: str) -> str:
        self.figures.operations["resume"] += 1
        return contract.resumed(*await self.ask("POST", "/resume", {"side": side}), side)

    async def waiting(self) -> list[str]:
        """The queue; nothing if it has ended."""
        status, info = await self.client.ask("GET", f"/api/sessions/{self.sid}")
        if status == 404 or info["hybrid"]["state"] != "active" or info["hybrid"]["side"] != "acp":
            return []
        async with self.chat() as chat:
            return [item["text"] for item in chat.state["queue"]["items"]]

    # --- what must hold ---

    def compare(self, where: str, texts: Iterable[str]) -> None:
        """Raises unless a conversation has what was said, once."""
        difference = self.ledger.compare(texts)
        if difference:
            self.figures.lost += difference.lost
            self.figures.doubled += difference.doubled
            raise Breach(f"{self.ledger.name}, {where}: {difference}")

    async def verify_chat(self) -> None:
        """The timeline and the queue, at rest on the chat side."""
        async with self.chat() as chat:
            self.compare("chat", [text for role, text in chat.messages() if role == "user"])
            self.verify_queue(chat)

    def verify_queue(self, chat: ChatView) -> None:
        """What waits is what was queued and not handed back, in order."""
        items = [item["text"] for item in chat.state["queue"]["items"]]
        must(items == self.ledger.waiting, f"the queue has {items}, waiting were {self.ledger.waiting}")

    async def verify_store(self) -> None:
        """The agent's own store."""
        home = self.server.home
        self.compare("store", await trio.to_thread.run_sync(stored_texts, home, self.agent))


def ended_info(info: dict[str, Any]) -> dict[str, Any] | None:
    """A session's info once it is not active any more."""
    return info if info["hybrid"]["state"] != "active" else None


@asynccontextmanager
async def meanwhile(task: Any, *args: Any) -> AsyncIterator[None]:
    """Runs a task next to the body; cancelled at its end. What either raises leaves as itself."""
    failure: list[Exception] = []

    async def guarded(scope: trio.CancelScope) -> None:
        try:
            await task(*args)
        except Exception as exc:
            failure.append(exc)
            scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(guarded, nursery.cancel_scope)
        try:
            yield
        except Exception as exc:
            failure.append(exc)
        nursery.cancel_scope.cancel()
    if failure:
        raise failure[0]
