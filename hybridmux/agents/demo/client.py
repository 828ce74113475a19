"""An ACP client as a session's turns see it, and the sessions it has open."""

import asyncio

from hybridmux.agents.demo import messages
from hybridmux.agents.demo.history import Line
from hybridmux.agents.demo.rpc import RpcError, Wire
from hybridmux.agents.demo.session import Session
from hybridmux.agents.demo.turn import Ending, Turn


class Client:
    """A `Front` over the wire, for one session; `forms`: it can show them."""

    def __init__(self, wire: Wire, session: str, *, forms: bool) -> None:
        self._wire = wire
        self._session = session
        self._forms = forms

    async def show(self, line: Line) -> None:
        await self.send(*messages.updates(line))

    async def send(self, *updates: Line) -> None:
        """Sends `session/update`s; waits while too much is unwritten."""
        for update in updates:
            self._wire.send(method="session/update", params={"sessionId": self._session, "update": update})
        await self._wire.writer.room()

    async def permit(self, tool: Line) -> str:
        call = {k: v for k, v in tool.items() if k != "type"}
        params = {"sessionId": self._session, "toolCall": call, "options": messages.PERMISSION_OPTIONS}
        try:
            result = await self._wire.request("session/request_permission", params)
            return messages.CHOICES.get(result["outcome"].get("optionId"), "cancelled")
        except (RpcError, TypeError, KeyError, AttributeError):
            return "cancelled"  # an error, or an answer that is none

    async def fill(self, message: str, schema: Line) -> Line | None:
        if not self._forms:
            return None
        params = {"mode": "form", "sessionId": self._session, "message": message, "requestedSchema": schema}
        try:
            answer = await self._wire.request("elicitation/create", params)
        except RpcError:
            return None
        return answer if isinstance(answer, dict) else {"action": "cancel"}

    async def settle(self) -> None:
        await self._wire.writer.room(0)


class Open:
    """A session this process has open, with its running turn and the prompts that wait behind it."""

    def __init__(self, session: Session, client: Client) -> None:
        self.session = session
        self.client = client
        self.turn: Turn | None = None
        self.cancels = 0
        """How often `session/cancel` came: a prompt that waited across one is over."""
        self._turnstile = asyncio.Lock()
        self._titled = bool(session.title)

    async def prompt(self, blocks: list[Line], *, deaf: bool, cancels: int) -> Ending:
        """One turn, after those that came before it; `cancels` is the count when the prompt came in."""
        async with self._turnstile:
            if self.cancels != cancels:
                return Ending("cancelled")
            self.turn = Turn(self.session, self.client, deaf=deaf)
            try:
                ending = await self.turn.run(blocks)
            finally:
                self.turn = None
            if not self._titled:
                self._titled = True
                await self.client.show({"type": "title", "title": self.session.title})
            return ending

    def cancel(self) -> None:
        self.cancels += 1
        if self.turn:
            self.turn.interrupt()

    async def close(self) -> None:
        self.cancel()
        async with self._turnstile:
            self.session.close()
