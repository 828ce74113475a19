"""The faults of the ACP side."""

import asyncio
import sys
from typing import Any

from hybridmux.agents.demo import breakage, limits
from hybridmux.agents.demo.faults import Fault, Faults
from hybridmux.agents.demo.history import Conversation, dump
from hybridmux.agents.demo.rpc import RpcError, Wire
from hybridmux.agents.demo.store import Store

_state = {"hung": False}


def hung() -> bool:
    """True once a fault made the process deaf: nothing is answered any more and the end of stdin goes unnoticed."""
    return _state["hung"]


async def at(moment: str, faults: Faults, wire: Wire, number: Any) -> None:
    """Breaks as told when a request with id `number` comes in; returns if the proper answer should follow."""
    for fault in faults.at(moment):
        await _break(fault, wire, number)


async def at_start(faults: Faults, wire: Wire) -> None:
    for fault in faults.at("start"):
        if fault.name == "error":
            print("demo fault: start", file=sys.stderr)
            breakage.leave(1)
        await _break(fault, wire, None)


async def at_quit(faults: Faults) -> None:
    for fault in faults.at("quit"):
        match fault.name:
            case "exit" | "halfline":
                breakage.leave()
            case "error":
                breakage.leave(1)
            case "hang":
                await hang(fault)
            case "slow":
                await asyncio.sleep(fault.number(limits.SLOW_FAULT))
            case "fork":
                breakage.fork_survivor()


async def hang(fault: Fault) -> None:
    _state["hung"] = True
    if fault.hard:
        breakage.ignore_sigterm()
    await asyncio.Event().wait()


async def _break(fault: Fault, wire: Wire, number: Any) -> None:
    match fault.name:
        case "exit":
            await wire.writer.room(0)
            breakage.leave()
        case "hang":
            await hang(fault)
        case "halfline":
            wire.writer.write(dump({"jsonrpc": "2.0", "id": number, "result": {}})[:-4])
            await wire.writer.room(0)
            breakage.leave()
        case "slow":
            await asyncio.sleep(fault.number(limits.SLOW_FAULT))
        case "closed":
            await wire.writer.room(0)
            breakage.close_stdout()
            await hang(fault)
        case "fork":
            breakage.fork_survivor()
        case "stderr":
            await asyncio.to_thread(breakage.flood_stderr)
        case _:
            _say_wrong(fault, wire)


def _say_wrong(fault: Fault, wire: Wire) -> None:
    match fault.name:
        case "garbage":
            wire.writer.write(breakage.NOISE)
        case "unknownid":
            wire.send(id=987_654_321, result={})
        case "bigline":
            size = int(fault.number(limits.BIG_LINE_MIB) * 1024 * 1024)
            wire.writer.write(dump({"jsonrpc": "2.0", "method": "_demo/big", "params": {"x": "x" * size}}))
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


def lagging(faults: Faults, store: Store, session: str) -> Conversation:
    """The conversation to replay, without its last turn while the `lag` fault lasts."""
    talk = store.read(session)
    fault = faults.find("load", "lag")
    if fault and breakage.Lag(store.home, session).due(talk.turns, int(fault.number(1))):
        return talk.without_last_turn()
    return talk


def die_at(done: int, faults: Faults, wire: Wire) -> None:
    """Exits in the middle of a replay, `done` updates into it."""
    fault = faults.find("load", "die")
    if fault and done == int(fault.number(1)):
        while wire.writer.unwritten:
            pass
        breakage.leave()
