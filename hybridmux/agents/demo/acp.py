"""`hybridmux-demo acp`: the Agent Client Protocol v1 over stdio."""

import asyncio
import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from hybridmux.agents.demo import limits, messages, params
from hybridmux.agents.demo.acp_faults import Breaker, in_use
from hybridmux.agents.demo.client import Client, Open
from hybridmux.agents.demo.rpc import RpcError, Wire
from hybridmux.agents.demo.session import Session
from hybridmux.agents.demo.store import InUse, NoSuchSession, Store
from hybridmux.agents.demo.turn import Ending

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hybridmux.agents.demo.faults import Faults
    from hybridmux.agents.demo.history import Line


class Agent:
    """All sessions of one `hybridmux-demo acp`."""

    def __init__(self, wire: Wire, store: Store, breaker: Breaker) -> None:
        self._wire = wire
        self._store = store
        self._breaker = breaker
        self._open: dict[str, Open] = {}
        self._forms = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._methods: dict[str, tuple[str, Callable[[Line], Awaitable[Line]]]] = {
            "initialize": ("initialize", self._initialize),
            "session/new": ("new", self._new),
            "session/list": ("list", self._list),
            "session/load": ("load", self._load),
            "session/resume": ("load", self._resume),
            "session/prompt": ("", self._prompt),
            "session/cancel": ("", self._cancel),
            "session/close": ("", self._close),
            "session/set_config_option": ("", self._configure),
            "_session/steering": ("", self._steer),
        }

    async def serve(self) -> None:
        """Answers until stdin ends; a hung agent does not notice that."""
        async for message in self._wire.messages():
            task = asyncio.ensure_future(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0)  # each is begun before the next is looked at, the end of stdin included
        await self._breaker.at_quit()
        if self._breaker.hung or any(o.turn and o.turn.hung for o in self._open.values()):
            await asyncio.Event().wait()

    async def stop(self) -> None:
        """Ends every turn as cancelled and gives the sessions free."""
        self._wire.writer.hurry()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=limits.QUIT_WAIT)
        for opened in self._open.values():
            opened.session.close()
        await self._wire.writer.flushed(limits.FLUSH_WAIT)

    async def _answer(self, message: "Line") -> None:
        """One request or notification; `_after` of a result are updates that follow it."""
        if self._breaker.hung:
            return
        number, given = message.get("id"), message.get("params")
        after: list[Line] = []
        try:
            result = await self._call(message["method"], number, given if isinstance(given, dict) else {})
            after = result.pop("_after", [])
            answer: Line = {"result": result}
        except RpcError as error:
            answer = {"error": error.error}
        except Exception as problem:  # a bug of ours must not leave the client waiting
            traceback.print_exc()
            answer = {"error": {"code": -32603, "message": f"Internal error: {problem!r}"}}
        if number is not None:
            self._wire.send(id=number, **answer)
        for update in after:
            self._wire.send(method="session/update", params=update)

    async def _call(self, method: str, number: Any, given: "Line") -> "Line":
        if method not in self._methods:
            raise RpcError(-32601, f"Method not found: {method}")
        moment, call = self._methods[method]
        if moment:
            await self._breaker.at(moment, number)
        return await call(given | {"_id": number})

    async def _initialize(self, given: "Line") -> "Line":
        capabilities = given.get("clientCapabilities") or {}
        self._forms = (capabilities.get("elicitation") or {}).get("form") is not None
        return dict(messages.INITIALIZE)

    async def _new(self, given: "Line") -> "Line":
        session = Session.new(self._store, params.cwd(given))
        session.store()
        return {"sessionId": session.id, **self._opened(session)}

    def _opened(self, session: Session) -> "Line":
        self._open[session.id] = Open(session, Client(self._wire, session.id, forms=self._forms))
        after: list[Line] = [messages.COMMANDS]
        if session.title:
            after.append({"sessionUpdate": "session_info_update", "title": session.title})
        trailing = [{"sessionId": session.id, "update": update} for update in after]
        return {"configOptions": messages.config_options(session), "_after": trailing}

    async def _list(self, given: "Line") -> "Line":
        found = self._store.summaries(params.folder(given))
        if given.get("cursor") is not None:
            end = params.position(given["cursor"])
            found = [s for s in found if (s.stamp, s.id) < end]
        page = found[: limits.LIST_PAGE]
        more = {"nextCursor": f"{page[-1].stamp}|{page[-1].id}"} if len(found) > len(page) else {}
        return {"sessions": [messages.listed(s) for s in page], **more}

    async def _load(self, given: "Line") -> "Line":
        opened, result = self._reopen(given)
        done = 0
        for item in self._breaker.lagging(self._store, opened.session.id).items:
            for update in messages.updates(item, replay=True):
                await self._breaker.die_at(done)
                await opened.client.send(update)
                done += 1
        await self._breaker.die_at(done)
        return result

    async def _resume(self, given: "Line") -> "Line":
        return self._reopen(given)[1]

    def _reopen(self, given: "Line") -> tuple[Open, "Line"]:
        name = params.text(given, "sessionId")
        known = self._open.get(name)
        if known and known.turn:
            raise RpcError(-32600, f"Session {name} is in a turn", {"reason": "busy", "sessionId": name})
        try:
            session = known.session if known else Session.reopen(self._store, name)
        except NoSuchSession:
            raise params.unknown(name) from None
        except InUse:
            raise in_use(name) from None
        result = self._opened(session)
        return self._open[name], result

    async def _prompt(self, given: "Line") -> "Line":
        opened, blocks = self._session(given), params.blocks(given)
        cancels = opened.cancels
        await self._breaker.at("prompt", given["_id"])
        before = opened.session.characters
        ending = await opened.prompt(blocks, deaf=self._breaker.ignores_cancel, cancels=cancels)
        return _outcome(ending, opened.session.characters - before)

    async def _cancel(self, given: "Line") -> "Line":
        await self._breaker.waited("interrupt")
        self._session(given).cancel()
        return {}

    async def _close(self, given: "Line") -> "Line":
        opened = self._session(given)
        await opened.close()
        self._open.pop(opened.session.id, None)
        return {}

    async def _configure(self, given: "Line") -> "Line":
        session = self._session(given).session
        try:
            session.configure(params.text(given, "configId"), given.get("value", ""))
        except ValueError as problem:
            raise params.invalid(str(problem)) from None
        options = messages.config_options(session)
        update = {"sessionUpdate": "config_option_update", "configOptions": options}
        return {"configOptions": options, "_after": [{"sessionId": session.id, "update": update}]}

    async def _steer(self, given: "Line") -> "Line":
        opened = self._session(given)
        if opened.turn and opened.turn.inject(params.blocks(given)):
            return {"outcome": "injected"}
        return {"outcome": "promptRequired", "reason": "noRunningTurn"}

    def _session(self, given: "Line") -> Open:
        name = params.text(given, "sessionId")
        if name not in self._open:
            raise params.unknown(name)
        return self._open[name]


def _outcome(ending: Ending, characters: int) -> "Line":
    if ending.reason == "auth_required":
        raise RpcError(-32000, "Authentication required")
    if ending.reason == "error":
        raise RpcError(-32603, f"Internal error: {ending.error}")
    return messages.prompt_result(ending.reason, characters)


async def _run(store: Store, faults: "Faults") -> int:
    wire = Wire()
    breaker = Breaker(faults, wire)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(status: int) -> None:
        if not ended.done():
            ended.set_result(status)

    async def work() -> None:
        await breaker.at_start()
        await agent.serve()
        end(0)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, end, 128 + number)
    agent = Agent(wire, store, breaker)
    working = asyncio.ensure_future(work())
    status = await ended
    working.cancel()
    await agent.stop()
    return status


def main(store: Store, faults: "Faults") -> NoReturn:
    """Never returns: leaves without the interpreter's own tidying, which costs a client 20 ms."""
    status = asyncio.run(_run(store, faults))
    sys.stderr.flush()
    os._exit(status)
