"""The chat side as it is on the wire: the real connector code over an agent in memory, on the mock clock.

Terminals stay scripted. `Strict` is an agent that is as touchy as all real ones together: it notes a second
prompt beside an open one (omp then drops the first), a cancel without a prompt (two make Claude Code fail),
and a line that is no message (omp ends).
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import orjson
import trio

from hybridmux.budgets import Budgets
from hybridmux.conversation.acp_side import AcpSide
from tests.acp.fake_agent import FakeAgent

from .scripted import ScriptedSides
from .world import World


class Strict:
    """What the agents of one play were sent, and what of it they would not forgive."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.prompts: list[str] = []
        self.cancels = 0
        self.finish = trio.Event()
        """Set: the open prompt is answered."""
        self._open = False
        self._stop_reason = "end_turn"

    def teach(self, agent: FakeAgent) -> None:
        """Makes an agent of it; an earlier one has ended."""
        self._open = False
        agent.handlers |= {"session/prompt": self._prompt, "session/cancel": _heard}
        take = agent.stream.receive_some
        rest = bytearray()

        async def receive_some() -> bytes:
            data = await take()
            rest.extend(data)
            *lines, tail = bytes(rest).split(b"\n")
            rest[:] = tail
            for line in lines:
                self._check(line)
            if not data and rest:
                self.wrong.append(f"half a line: {bytes(rest)!r}")
            return data

        agent.stream.receive_some = receive_some

    def _check(self, line: bytes) -> None:
        """In the order of the lines: the handlers below are tasks, which begin in any order."""
        try:
            message = orjson.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.wrong.append(f"no message: {line!r}")
        elif message.get("method") == "session/prompt":
            self._begin(message["params"]["prompt"][0]["text"])
        elif message.get("method") == "session/cancel":
            self.cancels += 1
            if not self._open:
                self.wrong.append("a cancel without a prompt")
            self._stop_reason = "cancelled"
            self.finish.set()

    def _begin(self, text: str) -> None:
        if self._open:
            self.wrong.append("two prompts at once")
        self.prompts.append(text)
        self._open, self._stop_reason, self.finish = True, "end_turn", trio.Event()

    async def _prompt(self, agent: FakeAgent, params: dict) -> dict:
        number, block = len(self.prompts), params["prompt"][0]
        said = {"sessionUpdate": "user_message_chunk", "messageId": f"u-{number}", "content": block}
        agent.sessions[params["sessionId"]].append(said)
        agent.says(f"echo: {block['text']}", f"a-{number}")
        await self.finish.wait()
        self._open = False
        return {"stopReason": self._stop_reason}


async def _heard(agent: FakeAgent, params: dict) -> None:
    """Dealt with when the line came."""


class WiredSides(ScriptedSides):
    """Scripted terminals, and connectors over agents that `teach` has made what they are."""

    def __init__(self, world: World, teach: Callable[[FakeAgent], None]) -> None:
        super().__init__(world)
        self.agent: FakeAgent | None = None
        self._teach = teach
        self._sessions: dict[str, list[dict]] = {world.id: []}

    @asynccontextmanager
    async def open_chat(self, plan) -> AsyncIterator[AcpSide]:
        budgets = Budgets()
        self.agent = agent = FakeAgent()
        agent.sessions = self._sessions
        self._teach(agent)
        side = AcpSide(budgets)
        async with agent.connect(side, budgets) as connector:
            await side.begin(connector)
            yield side
