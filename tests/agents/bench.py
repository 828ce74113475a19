"""`scripts/bench switch --agent NAME`: what a switch of a real agent costs, and whose time it is.

Each trip is a prompt on the side, then the switch. Its time is split by the phases that `/ws/events` shows:

    check    until the first phase: the connector is started and asked what it has (to the chat only)
    stop     `interrupting`, `cancelling` and `stopping`: the old side's program ends
    start    `starting`: the new side's program, until it takes input
    load     `loading`: its history, until the commit
    ours     all that is in no phase, from the request to its answer
    cpu      CPU time of the server in the whole switch: the most that can be ours of the phases
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

import trio
from attrs import define, field

from tests.agents.use import AGENT, say_in_chat, say_in_terminal, server_of, start
from tests.support.client import Client, Server

WAYS = {"acp": "terminal → chat", "tui": "chat → terminal"}
PARTS = {
    "interrupting": "stop",
    "cancelling": "stop",
    "stopping": "stop",
    "starting": "start",
    "loading": "load",
}
COLUMNS = ("check", "stop", "start", "load", "ours", "whole", "cpu")


@define
class Phases:
    """The phases of one session as they come and go: (seconds, phase or None), on Trio's clock."""

    sid: str
    seen: list[tuple[float, str | None]] = field(factory=list)

    async def follow(self, client: Client, *, task_status: trio.TaskStatus[None]) -> None:
        """Reads `/ws/events` for ever."""
        async with client.socket("/ws/events") as ws:
            while True:
                frame = json.loads(await ws.get_message())
                for info in [*frame.get("sessions", []), frame.get("session") or {}]:
                    if info.get("id") == self.sid:
                        self.seen.append((trio.current_time(), info["hybrid"].get("phase")))
                if frame["type"] == "snapshot":
                    task_status.started()

    def split(self, began: float, ended: float) -> dict[str, float]:
        """Seconds of each part between these two."""
        inside = [(at, phase) for at, phase in self.seen if began <= at < ended]
        first = next((at for at, phase in inside if phase), ended)
        parts = {"check": first - began} | dict.fromkeys(PARTS.values(), 0.0)
        for (at, phase), (until, _) in zip(inside, [*inside[1:], (ended, None)], strict=True):
            if phase in PARTS:
                parts[PARTS[phase]] += until - at
        whole = ended - began
        return {**parts, "ours": whole - sum(parts.values()), "whole": whole}


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def switch(server: Server, phases: Phases, to: str) -> dict[str, float]:
    """One switch; its parts."""
    began, used = trio.current_time(), cpu_seconds(server.pid)
    await server.client.switch(phases.sid, to)
    parts = phases.split(began, trio.current_time())
    return {**parts, "cpu": cpu_seconds(server.pid) - used}


async def measure(folder: Path, trips: int) -> dict[str, list[dict[str, float]]]:
    """The switches of so many round trips by where they went."""
    found: dict[str, list[dict[str, float]]] = {"acp": [], "tui": []}
    async with server_of(folder) as server, trio.open_nursery() as nursery:
        client = server.client
        phases = Phases(await start(client))
        await nursery.start(phases.follow, client)
        for trip in range(trips):
            await say_in_terminal(client, phases.sid, f"terminal {trip}")
            found["acp"].append(await switch(server, phases, "acp"))
            await say_in_chat(client, phases.sid, f"chat {trip}")
            found["tui"].append(await switch(server, phases, "tui"))
        nursery.cancel_scope.cancel()
    return found


def table(found: dict[str, list[dict[str, float]]]) -> str:
    """Medians in seconds, a line for each direction."""
    lines = [f"{AGENT.name:<18}" + "".join(f"{name:>8}" for name in COLUMNS)]
    for way, switches in found.items():
        medians = (median(each[name] for each in switches) for name in COLUMNS)
        lines.append(f"{WAYS[way]:<18}" + "".join(f"{seconds:8.2f}" for seconds in medians))
    return "\n".join(lines)


def main(trips: int) -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        print(table(trio.run(measure, Path(folder), trips)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
