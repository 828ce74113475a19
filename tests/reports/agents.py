"""Demo agents in scripts of their own: what they are told is written down, and they end as a test wants."""

import shlex
import sys
from pathlib import Path
from typing import Any

import orjson
import trio
from attrs import frozen

from tests.support.client import Client

DEMO = Path(sys.executable).parent / "hybridmux-demo"
READY = "ready"


@frozen
class Wiretap:
    """A `hybridmux-demo` that keeps its command lines and what its ACP side reads."""

    program: Path
    argv_log: Path
    wire_log: Path

    def argvs(self) -> list[str]:
        """The arguments of each start, oldest first."""
        return self.argv_log.read_text().splitlines()

    def methods(self) -> list[str]:
        """The methods that were called over ACP, of all connectors, oldest first."""
        lines = self.wire_log.read_bytes().splitlines()
        return [one["method"] for one in map(orjson.loads, lines) if "method" in one]


def wiretap(folder: Path, *, tui_exit: str = "$?") -> Wiretap:
    """Makes one; its TUI ends with the exit code `tui_exit`."""
    folder.mkdir(exist_ok=True)
    tap = Wiretap(folder / "hybridmux-demo", folder / "argv", folder / "wire")
    demo, argv, wire = (shlex.quote(str(one)) for one in (DEMO, tap.argv_log, tap.wire_log))
    tap.program.write_text(
        f'#!/bin/sh\necho "$*" >>{argv}\n'
        f'case $1 in\nacp) tee -a {wire} | {demo} "$@" ;;\n*) {demo} "$@"; exit {tui_exit} ;;\nesac\n'
    )
    tap.program.chmod(0o755)
    return tap


async def say_in_terminal(client: Client, sid: str, text: str, shows: str | None = None) -> None:
    """Types a message and waits for what it shows."""
    async with client.terminal(sid) as term:
        await term.until_text(READY)
        await term.submit(text)
        await term.until_text(shows or f"echo: {text}")


async def say_in_chat(client: Client, sid: str, text: str) -> None:
    """One turn by a prompt."""
    async with client.chat(sid) as chat:
        before = len(chat.of("turn.end"))
        await client.prompt(sid, text)
        await chat.until_turns_ended(before + 1)


async def spoken(client: Client, cmd: list[str], cwd: str, text: str = "hello one") -> str:
    """A session of that command in its terminal, with one turn, whose agent session is known."""
    sid: str = (await client.hybrid_session(cmd, cwd))["id"]
    await say_in_terminal(client, sid, text)
    await agent_session(client, sid)
    return sid


async def agent_session(client: Client, sid: str) -> str:
    """The agent's id, once the terminal has stated it."""

    def known(frame: Any) -> str | None:
        for info in [*frame.get("sessions", []), frame.get("session", {})]:
            if info.get("id") == sid and info["hybrid"]["agentSessionId"]:
                return str(info["hybrid"]["agentSessionId"])
        return None

    async with client.socket("/ws/events") as ws:
        with trio.fail_after(10):
            while not (found := known(orjson.loads(await ws.get_message()))):
                pass
    return found
