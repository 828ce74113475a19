"""The faults of the TUI side."""

import os
import signal
import sys
import time
from typing import NoReturn

from hybridmux.agents.demo import breakage, limits, script
from hybridmux.agents.demo.faults import Fault, Faults
from hybridmux.agents.demo.history import Conversation
from hybridmux.agents.demo.store import InUse, NoSuchSession, Store
from hybridmux.agents.demo.turn import Turn


def before_paint(moment: str, faults: Faults, session: str = "") -> None:
    """Breaks at `start` or `load`, when the terminal is still as we found it.

    Raises `InUse` or `NoSuchSession` for the faults that pretend them.
    """
    faults.wait(moment)
    for fault in faults.at(moment):
        _break(fault)
        if fault.name == "active_writer":
            raise InUse(session)
        if fault.name == "missing":
            raise NoSuchSession(session)


def at_prompt(faults: Faults, text: str) -> tuple[script.Step, ...] | None:
    """Breaks when a prompt was sent; answers the steps of a turn that goes wrong, or None."""
    for fault in faults.at("prompt"):
        if fault.name == "hang":
            return (script.Say("hanging "), script.Hang(hard=fault.hard))
        if fault.name in ("error", "auth"):
            return (script.Auth() if fault.name == "auth" else script.Fail("demo fault"),)
        if fault.name == "slow":
            return (script.Slow(fault.number(limits.SLOW_FAULT)), *script.steps(text))
        _break(fault)
    return None


async def interrupt(faults: Faults, turn: Turn) -> None:
    """Interrupts a turn, as soon as the faults let it be."""
    await faults.waited("interrupt")
    turn.interrupt()


def at_quit(faults: Faults) -> None:
    """Breaks when the terminal is restored and the program is about to end."""
    faults.wait("quit")
    for fault in faults.at("quit"):
        if fault.name != "hang":
            _break(fault)


def lags(faults: Faults, store: Store, talk: Conversation) -> bool:
    """True while the `lag` fault leaves the last turn of this conversation out."""
    fault = faults.find("load", "lag")
    return fault is not None and breakage.Lag(store.home, talk.id).due(talk.turns, int(fault.number(1)))


def harden(faults: Faults) -> None:
    """`quit:hang=hard`: from now on only SIGKILL ends the program."""
    fault = faults.find("quit", "hang")
    if fault and fault.hard:
        breakage.ignore_sigterm()


def _break(fault: Fault) -> None:
    match fault.name:
        case "exit":
            breakage.leave()
        case "hang":
            _hang(fault)
        case "halfline":
            os.write(1, b"\x1b]0;Demo")
            breakage.leave()
        case "error":
            sys.stdout.write(f"Error: demo fault at {fault.moment}\n")
            sys.stdout.flush()
            breakage.leave(1)
        case "slow":
            time.sleep(fault.number(limits.SLOW_FAULT))
        case "garbage":
            os.write(1, breakage.NOISE)
        case "stderr":
            breakage.flood_stderr()
        case "fork":
            breakage.fork_survivor()
        case "closed":
            breakage.close_stdout()
            _hang(fault)


def _hang(fault: Fault) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN if fault.hard else signal.SIG_DFL)
    while True:
        signal.pause()
