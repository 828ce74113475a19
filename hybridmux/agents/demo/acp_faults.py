"""The faults of the ACP side."""

import asyncio
import sys
from typing import Any

from hybridmux.agents.demo import breakage, limits
from hybridmux.agents.demo.faults import Fault, Faults
from hybridmux.agents.demo.history import Conversation, dump
from hybridmux.agents.demo.rpc import RpcError, Wire
from hybridmux.agents.demo.store import Store


class Breaker:
    """Breaks one ACP process as its faults say.

    `hung` is true once it is deaf: nothing is answered any more and the end of stdin goes unnoticed.
    """

    def __init__(self, faults: Faults, wire: Wire) -> None:
        self.hung = False
        self.ignores_cancel = faults.find("interrupt", "hang") is not None
        self._faults = faults
        self._wire = wire

    async def waited(self, moment: str) -> None:
        """Waits as long as the faults say so; those of the file count from then on."""
        await self._faults.waited(moment)

    async def at(self, moment: str, number: Any = None) -> None:
        """When a request with id `number` came in; returns if the proper answer should follow."""
        await self.waited(moment)
        for fault in self._faults.at(moment):
            await self._break(fault, number)

    async def at_start(self) -> None:
        await self.waited("start")
        if self._faults.find("start", "error"):
            sys.stderr.write("demo fault: start\n")
            breakage.leave(1)
        await self.at("start")

    async def at_quit(self) -> None:
        await self.waited("quit")
        if self._faults.find("quit", "error"):
            breakage.leave(1)
        await self.at("quit")

    def lagging(self, store: Store, session: str) -> Conversation:
        """The conversation to replay, without its last turn while the `lag` fault lasts."""
        talk = store.read(session)
        fault = self._faults.find("load", "lag")
        if fault and breakage.Lag(store.home, session).due(talk.turns, int(fault.number(1))):
            return talk.without_last_turn()
        return talk

    async def die_at(self, done: int) -> None:
        """Exits in the middle of a replay, once `done` updates are out."""
        fault = self._faults.find("load", "die")
        if fault and done >= fault.number(1):
            await self._wire.writer.room(0)
            breakage.leave()

    async def _break(self, fault: Fault, number: Any) -> None:
        match fault.name:
            case "hang":
                await self._hang(fault)
            case "slow":
                await asyncio.sleep(fault.number(limits.SLOW_FAULT))
            case "fork":
                breakage.fork_survivor()
            case "stderr":
                await asyncio.to_thread(breakage.flood_stderr)
            case "exit" | "halfline" | "closed":
                await self._cut_off(fault, number)
            case _:
                _say_wrong(fault, self._wire)

    async def _cut_off(self, fault: Fault, number: Any) -> None:
        if fault.name == "halfline":
            self._wire.writer.write(dump({"jsonrpc": "2.0", "id": number, "result": {}})[:-4])
        await self._wire.writer.room(0)
        if fault.name == "closed":
            breakage.close_stdout()
            await self._hang(fault)
        breakage.leave()

    async def _hang(self, fault: Fault) -> None:
        self.hung = True
        if fault.hard:
            breakage.ignore_sigterm()
        await asyncio.Event().wait()


def _say_wrong(fault: Fault, wire: Wire) -> None:
    match fault.name:
        case "garbage":
            wire.writer.write(breakage.NOISE)
        case "unknownid":
            wire.send(id=987_654_321, result={})
        case "bigline":
            size = int(fault.number(limits.BIG_LINE_MIB) * 1024 * 1024)
            wire.send(method="_demo/big", params={"x": "x" * size})
        case "error":
            raise RpcError(-32603, f"Internal error: demo fault at {fault.moment}")
        case "auth":
            raise RpcError(-32000, "Authentication required")
        case "active_writer":
            raise in_use("the session")
        case "missing":
            raise RpcError(-32002, "No such session: demo fault")


def in_use(name: str) -> RpcError:
    data = {"reason": "active_writer", "sessionId": name}
    return RpcError(-32600, f"Session {name} is open in another program", data)
