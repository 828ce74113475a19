"""`hybridmux-demo acp`: the Agent Client Protocol v1 over stdio."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from hybridmux.agents.demo import acp_faults, limits, messages
from hybridmux.agents.demo.faults import Faults
from hybridmux.agents.demo.history import Line, labels_of, text_of
from hybridmux.agents.demo.rpc import RpcError, Wire
from hybridmux.agents.demo.session import Session
from hybridmux.agents.demo.store import InUse, NoSuchSession, Store
from hybridmux.agents.demo.turn import Ending, Turn

INVALID_PARAMS, UNKNOWN_METHOD, INTERNAL, NOT_FOUND, AUTH, REFUSED = (
    -32602,
    -32601,
    -32603,
    -32002,
    -32000,
    -32600,
)


class Client:
    """The client as one session's turns see it: a `Front` over the wire."""

    def __init__(self, wire: Wire, session: Session, *, forms: bool) -> None:
        self._wire = wire
        self._session = session
        self._forms = forms

    async def show(self, line: Line) -> None:
        await self.send(*messages.updates(line))

    async def send(self, *updates: Line) -> None:
        for update in updates:
            self._wire.send(method="session/update", params={"sessionId": self._session.id, "update": update})
        await self._wire.writer.room()

    async def permit(self, tool: Line) -> str:
        call = {k: v for k, v in tool.items() if k != "type"}
        params = {"sessionId": self._session.id, "toolCall": call, "options": messages.PERMISSION_OPTIONS}
        try:
            result = await self._wire.request("session/request_permission", params)
        except RpcError:
            return "reject"
        outcome = (result or {}).get("outcome") or {}
        return messages.CHOICES.get(outcome.get("optionId"), "cancelled")

    async def fill(self, message: str, schema: Line) -> Line | None:
        if not self._forms:
            return None
        params = {
            "mode": "form",
            "sessionId": self._session.id,
            "message": message,
            "requestedSchema": schema,
        }
        try:
            answer = await self._wire.request("elicitation/create", params)
        except RpcError:
            return None
        return answer if isinstance(answer, dict) else {"action": "cancel"}

    async def settle(self) -> None:
        await self._wire.writer.room(0)


class Open:
    """A session this process has open, with its turn and those that wait for it."""

    def __init__(self, session: Session, client: Client) -> None:
        self.session = session
        self.client = client
        self.turn: Turn | None = None
        self.turnstile = asyncio.Lock()
        self.cancels = 0
        self.titled = False

    async def cancel(self) -> None:
        self.cancels += 1
        if self.turn:
            self.turn.interrupt()


class Agent:
    """All sessions of one `hybridmux-demo acp`."""

    def __init__(self, wire: Wire, store: Store, faults: Faults) -> None:
        self._wire = wire
        self._store = store
        self._faults = faults
        self._open: dict[str, Open] = {}
        self._forms = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._methods: dict[str, tuple[str | None, Callable[[Line], Awaitable[Any]]]] = {
            "initialize": ("initialize", self._initialize),
            "session/new": ("new", self._new),
            "session/list": ("list", self._list),
            "session/load": ("load", self._load),
            "session/resume": ("load", self._resume),
            "session/prompt": ("prompt", self._prompt),
            "session/cancel": (None, self._cancel),
            "session/close": (None, self._close),
            "session/set_config_option": (None, self._configure),
            "_session/steering": (None, self._steer),
        }
        self._after: list[Callable[[], Awaitable[None]]] = []

    @property
    def hung(self) -> bool:
        return acp_faults.hung() or any(o.turn is not None and o.turn.hung for o in self._open.values())

    async def serve(self) -> None:
        """Answers until stdin ends; a hung agent does not notice that."""
        async for message in self._wire.messages():
            if not acp_faults.hung():
                task = asyncio.ensure_future(self._answer(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        await acp_faults.at_quit(self._faults)
        if self.hung:
            await asyncio.Event().wait()

    async def stop(self) -> None:
        """Ends every turn as cancelled and gives the sessions free."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=limits.QUIT_WAIT)
        for opened in self._open.values():
            opened.session.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wire.writer.room(0), limits.FLUSH_WAIT)

    async def _answer(self, message: Line) -> None:
        number = message.get("id")
        params = message.get("params")
        after: list[Line] = []
        try:
            moment, method = self._methods[message["method"]]
            if moment:
                await acp_faults.at(moment, self._faults, self._wire, number)
            result = await method(params if isinstance(params, dict) else {})
            after = result.pop("_after", [])
        except KeyError:
            answer: Line = {
                "error": {"code": UNKNOWN_METHOD, "message": f"Method not found: {message['method']}"}
            }
        except RpcError as error:
            answer = {"error": error.error}
        else:
            answer = {"result": result}
        if number is not None:
            self._wire.send(id=number, **answer)
        for call in after:
            self._wire.send(method="session/update", params=call)

    async def _initialize(self, params: Line) -> Line:
        capabilities = params.get("clientCapabilities") or {}
        self._forms = (capabilities.get("elicitation") or {}).get("form") is not None
        return dict(messages.INITIALIZE)

    async def _new(self, params: Line) -> Line:
        session = Session.new(self._store, _cwd(params))
        session.store()
        return {"sessionId": session.id, **self._opened(session)}

    def _opened(self, session: Session) -> Line:
        client = Client(self._wire, session, forms=self._forms)
        self._open[session.id] = Open(session, client)
        self._open[session.id].titled = bool(session.title)
        after: list[Line] = [messages.COMMANDS]
        if session.title:
            after.append({"sessionUpdate": "session_info_update", "title": session.title})
        trailing = [{"sessionId": session.id, "update": update} for update in after]
        return {"configOptions": messages.config_options(session), "_after": trailing}

    async def _list(self, params: Line) -> Line:
        cwd = params.get("cwd")
        found = self._store.summaries(os.path.realpath(cwd) if cwd else None)
        if cursor := params.get("cursor"):
            found = [s for s in found if (s.stamp, s.id) < _position(cursor)]
        page = found[: limits.LIST_PAGE]
        more = {"nextCursor": f"{page[-1].stamp}|{page[-1].id}"} if len(found) > len(page) else {}
        return {"sessions": [messages.listed(s) for s in page], **more}

    async def _load(self, params: Line) -> Line:
        opened, result = self._reopen(params)
        talk = acp_faults.lagging(self._faults, self._store, opened.session.id)
        done = 0
        for item in talk.items:
            for update in messages.updates(item, replay=True):
                acp_faults.die_at(done, self._faults, self._wire)
                await opened.client.send(update)
                done += 1
        acp_faults.die_at(done, self._faults, self._wire)
        return result

    async def _resume(self, params: Line) -> Line:
        return self._reopen(params)[1]

    def _reopen(self, params: Line) -> tuple[Open, Line]:
        name = _text(params, "sessionId")
        known = self._open.get(name)
        if known and known.turn:
            raise RpcError(REFUSED, f"Session {name} is in a turn", {"reason": "busy", "sessionId": name})
        try:
            session = known.session if known else Session.reopen(self._store, name)
        except NoSuchSession:
            raise _unknown(name) from None
        except InUse:
            raise acp_faults.in_use(name) from None
        result = self._opened(session)
        return self._open[name], result

    async def _prompt(self, params: Line) -> Line:
        opened = self._session(params)
        blocks = _blocks(params)
        cancels = opened.cancels
        async with opened.turnstile:
            if opened.cancels != cancels:
                return messages.prompt_result("cancelled", 0)
            before = opened.session.characters
            ending = await self._play(opened, blocks)
            return _outcome(ending, opened.session.characters - before)

    async def _play(self, opened: Open, blocks: list[Line]) -> Ending:
        deaf = self._faults.find("interrupt", "hang") is not None
        opened.turn = Turn(opened.session, opened.client, deaf=deaf)
        try:
            ending = await opened.turn.run(blocks)
        finally:
            opened.turn = None
        if not opened.titled:
            opened.titled = True
            await opened.client.show({"type": "title", "title": opened.session.title})
        return ending

    async def _cancel(self, params: Line) -> Line:
        await self._session(params).cancel()
        return {}

    async def _close(self, params: Line) -> Line:
        opened = self._session(params)
        await opened.cancel()
        async with opened.turnstile:
            opened.session.close()
            self._open.pop(opened.session.id, None)
        return {}

    async def _configure(self, params: Line) -> Line:
        opened = self._session(params)
        try:
            opened.session.configure(_text(params, "configId"), params.get("value", ""))
        except ValueError as problem:
            raise RpcError(INVALID_PARAMS, str(problem)) from None
        options = messages.config_options(opened.session)
        update = {"sessionUpdate": "config_option_update", "configOptions": options}
        return {"configOptions": options, "_after": [{"sessionId": opened.session.id, "update": update}]}

    async def _steer(self, params: Line) -> Line:
        opened = self._session(params)
        if opened.turn and opened.turn.inject(_blocks(params)):
            return {"outcome": "injected"}
        return {"outcome": "promptRequired", "reason": "noRunningTurn"}

    def _session(self, params: Line) -> Open:
        name = _text(params, "sessionId")
        if name not in self._open:
            raise _unknown(name)
        return self._open[name]


def _outcome(ending: Ending, characters: int) -> Line:
    if ending.reason == "auth_required":
        raise RpcError(AUTH, "Authentication required")
    if ending.reason == "error":
        raise RpcError(INTERNAL, f"Internal error: {ending.error}")
    return messages.prompt_result(ending.reason, characters)


def _unknown(name: str) -> RpcError:
    return RpcError(NOT_FOUND, f"No such session: {name}", {"sessionId": name})


def _text(params: Line, name: str) -> str:
    if not isinstance(params.get(name), str):
        raise RpcError(INVALID_PARAMS, f"Invalid params: {name} must be a string")
    return str(params[name])


def _cwd(params: Line) -> str:
    cwd = _text(params, "cwd")
    if not os.path.isabs(cwd) or not os.path.isdir(cwd):
        raise RpcError(INVALID_PARAMS, f"Invalid params: cwd must be an absolute path of a folder: {cwd}")
    return cwd


def _blocks(params: Line) -> list[Line]:
    blocks = params.get("prompt")
    if not isinstance(blocks, list) or not all(isinstance(b, dict) for b in blocks):
        raise RpcError(INVALID_PARAMS, "Invalid params: prompt must be a list of content blocks")
    if not text_of(blocks).strip() and not labels_of(blocks):
        raise RpcError(INVALID_PARAMS, "Invalid params: prompt is empty")
    return blocks


def _position(cursor: Any) -> tuple[int, str]:
    stamp, _, name = str(cursor).partition("|")
    if not stamp.isdigit():
        raise RpcError(INVALID_PARAMS, "Invalid params: cursor is not one of ours")
    return int(stamp), name


async def _run(store: Store, faults: Faults) -> int:
    wire = Wire()
    agent = Agent(wire, store, faults)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(status: int) -> None:
        if not ended.done():
            ended.set_result(status)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, end, 128 + number)
    await acp_faults.at_start(faults, wire)
    serving = asyncio.ensure_future(agent.serve())
    serving.add_done_callback(lambda _: end(0))
    status = await ended
    serving.cancel()
    await agent.stop()
    return status


def main(store: Store, faults: Faults) -> NoReturn:
    """Never returns: leaves without the interpreter's own tidying, which costs a client 20 ms."""
    status = asyncio.run(_run(store, faults))
    sys.stderr.flush()
    os._exit(status)
