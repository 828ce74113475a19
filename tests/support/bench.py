"""`scripts/bench switch`: what moving a session costs, and whether anything gets lost, with the demo agent.

A round trip is one message in the terminal, the switch to the chat, one message there, and the switch back.
Times are those of the whole request, as a client sees them. A message is lost if the chat's timeline does not
show it once, in its place, after the next switch to it.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

import trio
from attrs import define, field

from tests.support.client import Client, serving
from tests.support.talk import say_in_chat, say_in_terminal

WAYS = {"acp": "terminal → chat", "tui": "chat → terminal"}


def percentile(values: list[float], share: float) -> float:
    """The smallest value that so large a share of them do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


@define
class Result:
    """Seconds of each switch by the side it went to; messages sent and lost."""

    seconds: dict[str, list[float]] = field(factory=lambda: {side: [] for side in WAYS})
    sent: int = 0
    lost: int = 0

    def report(self) -> str:
        """A line for each direction, and one for the messages."""
        lines = [_line(words, self.seconds[side]) for side, words in WAYS.items()]
        return "\n".join([*lines, f"lost messages    {self.lost} of {self.sent}"])


def _line(words: str, seconds: list[float]) -> str:
    half, most = (f"{1000 * percentile(seconds, share):5.0f} ms" for share in (0.5, 0.95))
    return f"{words:<16} p50 {half}   p95 {most}   ({len(seconds)} switches)"


async def switch_times(folder: Path, trips: int) -> Result:
    """Measures so many round trips over a real server with its files in `folder`."""
    result, said = Result(), list[str]()
    async with serving(folder) as server:
        client = server.client
        sid = (await client.demo_session())["id"]
        for trip in range(trips):
            said.append(f"terminal {trip}")
            await say_in_terminal(client, sid, said[-1])
            await _timed(client, sid, "acp", result)
            said.append(f"chat {trip}")
            await say_in_chat(client, sid, said[-1])
            await _timed(client, sid, "tui", result)
        said.append("the end")
        await say_in_terminal(client, sid, said[-1])
        await client.switch(sid, "acp")
        async with client.chat(sid) as chat:
            shown = [text for role, text in chat.messages() if role == "user"]
    result.sent = len(said)
    result.lost = missing(said, shown)
    return result


def missing(said: list[str], shown: list[str]) -> int:
    """How many of the messages are not shown once and in order."""
    rest = iter(shown)
    return sum(1 for text in said if shown.count(text) != 1 or text not in rest)


async def _timed(client: Client, sid: str, to: str, result: Result) -> None:
    began = trio.current_time()
    await client.switch(sid, to)
    result.seconds[to].append(trio.current_time() - began)


def main() -> int:
    """The command line; status 1 if a message was lost."""
    parser = argparse.ArgumentParser(prog="scripts/bench switch", description="What a switch costs.")
    parser.add_argument("trips", nargs="?", type=int, default=50, help="round trips (default: 50)")
    trips = parser.parse_args().trips
    with tempfile.TemporaryDirectory(prefix="hybridmux-bench-") as folder:
        result = trio.run(switch_times, Path(folder), trips)
    print(result.report())
    return 1 if result.lost else 0


if __name__ == "__main__":
    sys.exit(main())
