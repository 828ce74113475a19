"""An ACP agent in memory, for tests of anything above the wire, on the mock clock.

    agent = FakeAgent()
    async with agent.connect(handler, budgets) as connector:
        await connector.initialize()

Two styles go together. *Handlers*: `agent.handlers[method]` is an async function `(agent, params)` that
returns the result or raises `Fail`; those below play a well-behaved agent with sessions, and a prompt that
echoes. *Playbook*: a method without a handler waits for the test to take it, step by step:

    del agent.handlers["session/prompt"]
    prompt = await agent.expect("session/prompt")
    agent.update({"sessionUpdate": ...})
    prompt.reply({"stopReason": "end_turn"})

`agent.heard` is everything the client sent. `crash`, `hang_up`, `deaf` and `say_raw` misbehave.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import orjson
import trio

from hybridmux.acp.background import background
from hybridmux.acp.connector import Connector, Handler, connect
from hybridmux.acp.program import Tail
from hybridmux.budgets import Budgets
from hybridmux.proc.family import EndReport
from tests.acp.streams import stream_pair

CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
}


class Fail(Exception):
    """A handler's error answer."""

    def __init__(self, code: int, message: str, data=None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data is not None else {})}


class Incoming:
    """A request that the test answers."""

    def __init__(self, agent: "FakeAgent", message: dict) -> None:
        self.agent, self.id = agent, message.get("id")
        self.method, self.params = message["method"], message.get("params")

    def reply(self, result) -> None:
        self.agent.say(id=self.id, result=result)

    def fail(self, code: int, message: str, data=None) -> None:
        self.agent.say(id=self.id, error=Fail(code, message, data).error)


class FakeProgram:
    """What a connector needs of a process, without one."""

    def __init__(self, stream) -> None:
        self.name = "fake-agent"
        self.stream = stream
        self.stderr = Tail()
        self.exit_code: int | None = None
        self.ended_by: list[str] = []
        self._exited = trio.Event()

    def exit(self, code: int) -> None:
        if self.exit_code is None:
            self.exit_code = code
            self.stream.end()
            self.stream.peer.end()
            self._exited.set()

    async def wait(self) -> int:
        await self._exited.wait()
        return self.exit_code

    def look(self) -> None:
        pass

    async def end(self) -> EndReport:
        return await self._end("SIGTERM", -15)

    def pids(self) -> frozenset[int]:
        """It has none."""
        return frozenset()

    def strike(self) -> None:
        """Nothing to signal."""

    async def kill(self) -> EndReport:
        return await self._end("SIGKILL", -9)

    async def _end(self, how: str, code: int) -> EndReport:
        await trio.lowlevel.checkpoint()
        how = "exited" if self.exit_code is not None else how
        self.ended_by.append(how)
        self.exit(code)
        return EndReport(how, [])


class FakeAgent:
    """The agent's end; see above."""

    def __init__(self, *, steering: bool = False, leaves_at_eof: bool = True) -> None:
        client_end, self.stream = stream_pair()
        self.program = FakeProgram(client_end)
        self.heard: list[dict] = []
        self.sessions: dict[str, list[dict]] = {"s-1": []}
        """The updates that `session/load` replays, by session."""
        self.session = "s-1"
        self.deaf = False
        """True: reads nothing more."""
        self.handlers = dict(HANDLERS)
        self.meta = {"_meta": {"steering": {"supported": True}}} if steering else {}
        self.cancelled = trio.Event()
        self._leaves = leaves_at_eof
        self._asked: dict[int, SimpleNamespace] = {}
        self._waiting: list[Incoming] = []
        self._changed = trio.lowlevel.ParkingLot()

    @asynccontextmanager
    async def connect(self, handler: Handler, budgets: Budgets | None = None) -> AsyncIterator[Connector]:
        """A connector that talks to this agent."""
        async with background() as nursery:
            nursery.start_soon(self.run)
            async with connect(
                self.program, cwd="/", handler=handler, budgets=budgets or Budgets()
            ) as connector:
                yield connector

    async def run(self) -> None:
        """Reads and answers until the end of the input."""
        tail = b""
        async with trio.open_nursery() as nursery:
            while not self.deaf and (data := await self.stream.receive_some()):
                *lines, tail = (tail + data).split(b"\n")
                for one in lines:
                    self._take(orjson.loads(one), nursery)
            if self.deaf:
                await trio.sleep_forever()
            if self._leaves:
                self.program.exit(0)
            nursery.cancel_scope.cancel()

    # --- what the agent says ---

    def say(self, **message) -> None:
        self.say_raw(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")

    def say_raw(self, data: bytes) -> None:
        self.stream.peer.feed(data)

    def update(self, update: dict, session: str | None = None) -> None:
        """A `session/update`."""
        self.say(method="session/update", params={"sessionId": session or self.session, "update": update})

    def says(self, words: str, message_id: str = "a-1", role: str = "agent_message") -> None:
        """A chunk of text."""
        content = {"type": "text", "text": words}
        self.update({"sessionUpdate": f"{role}_chunk", "messageId": message_id, "content": content})

    async def ask(self, method: str, params: dict):
        """Asks the client; its result. Raises `Fail`."""
        asked = SimpleNamespace(done=trio.Event(), answer={})
        self._asked[len(self._asked)] = asked
        self.say(id=len(self._asked) - 1, method=method, params={"sessionId": self.session, **params})
        await asked.done.wait()
        if "error" in asked.answer:
            error = asked.answer["error"]
            raise Fail(error["code"], error["message"])
        return asked.answer["result"]

    def crash(self, code: int = 1, words: str = "") -> None:
        """Dies."""
        self.program.stderr.feed(words.encode())
        self.program.exit(code)

    def hang_up(self) -> None:
        """Closes its output and lives on."""
        self.stream.peer.end()

    # --- what it hears ---

    async def expect(self, method: str) -> Incoming:
        """The next message without a handler; it must be of this method."""
        while not self._waiting:
            await self._changed.park()
        incoming = self._waiting.pop(0)
        assert incoming.method == method, f"expected {method}, got {incoming.method}"
        return incoming

    def methods(self) -> list[str]:
        """What was called, in order."""
        return [one["method"] for one in self.heard if "method" in one]

    def params(self, method: str) -> list:
        """The params of each call of this method."""
        return [one.get("params") for one in self.heard if one.get("method") == method]

    def _take(self, message: dict, nursery: trio.Nursery) -> None:
        self.heard.append(message)
        method = message.get("method")
        if method is None:
            if asked := self._asked.get(message["id"]):
                asked.answer = message
                asked.done.set()
        elif method in self.handlers:
            nursery.start_soon(self._handle, message)
        else:
            self._waiting.append(Incoming(self, message))
            self._changed.unpark_all()

    async def _handle(self, message: dict) -> None:
        try:
            answer = {"result": await self.handlers[message["method"]](self, message.get("params") or {})}
        except Fail as error:
            answer = {"error": error.error}
        if "id" in message:
            self.say(id=message["id"], **answer)


# --- a well-behaved agent ---


async def _initialize(agent, params):
    info = {"name": "fake-agent", "title": "Fake Agent", "version": "1.0"}
    return {
        "protocolVersion": 1,
        "agentInfo": info,
        "agentCapabilities": CAPABILITIES,
        "authMethods": [],
        **agent.meta,
    }


async def _new(agent, params):
    agent.session = f"s-{len(agent.sessions) + 1}"
    agent.sessions[agent.session] = []
    return {"sessionId": agent.session}


async def _load(agent, params):
    history = agent.sessions.get(params["sessionId"])
    if history is None:
        raise Fail(-32002, "Resource not found")
    agent.session = params["sessionId"]
    for update in history:
        agent.update(update)
    return {}


async def _resume(agent, params):
    agent.session = params["sessionId"]
    return {}


async def _list(agent, params):
    return {"sessions": [{"sessionId": one, "cwd": params["cwd"], "title": one} for one in agent.sessions]}


async def _prompt(agent, params):
    agent.cancelled = trio.Event()
    words = "".join(one.get("text", "") for one in params["prompt"])
    agent.says(f"echo: {words}", f"a-{len(agent.heard)}")
    return {"stopReason": "end_turn", "usage": {"totalTokens": 7}}


async def _cancel(agent, params):
    agent.cancelled.set()


async def _nothing(agent, params):
    return {}


async def _steer(agent, params):
    return {"outcome": "injected"}


HANDLERS = {
    "initialize": _initialize,
    "session/new": _new,
    "session/load": _load,
    "session/resume": _resume,
    "session/list": _list,
    "session/prompt": _prompt,
    "session/cancel": _cancel,
    "session/close": _nothing,
    "session/set_config_option": _nothing,
    "session/set_mode": _nothing,
    "session/set_model": _nothing,
    "_session/steering": _steer,
}


def until_cancelled(stop_reason: str = "cancelled"):
    """A prompt handler that runs until `session/cancel`."""

    async def prompt(agent, params):
        agent.cancelled = trio.Event()
        await agent.cancelled.wait()
        return {"stopReason": stop_reason}

    return prompt


class Recorder:
    """A handler that writes down what it gets and answers as it is told."""

    def __init__(self, permission=None, form=None) -> None:
        self.updates: list[dict] = []
        self.asked: list[dict] = []
        self._permission = permission or {"outcome": "cancelled"}
        self._form = form or {"action": "cancel"}

    def on_update(self, params) -> None:
        self.updates.append(params["update"])

    async def on_permission(self, params):
        self.asked.append(params)
        await trio.lowlevel.checkpoint()
        return self._permission

    async def on_elicitation(self, params):
        self.asked.append(params)
        await trio.lowlevel.checkpoint()
        return self._form
