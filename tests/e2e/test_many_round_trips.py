"""Many round trips in one run: no message lost or doubled, nothing leaked."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import trio

from tests.support.client import Client, marked, serving

TRIPS = int(os.environ.get("HYBRIDMUX_TRIPS", "40"))
GAUGES = ("hybridmux_sessions", "hybridmux_tasks", "hybridmux_fds", "hybridmux_children", "hybridmux_viewers")


def stored_texts(home: Path, agent_session: str) -> list[str]:
    """The user texts in the agent's own store."""
    demo = Path(sys.executable).parent / "hybridmux-demo"
    env = {**os.environ, "HYBRIDMUX_DEMO_HOME": str(home / "demo")}
    out = subprocess.run([demo, "show", agent_session, "--json"], env=env, check=True, capture_output=True)
    return [item["text"] for item in json.loads(out.stdout)["messages"] if item["role"] == "user"]


def temp_folders() -> set[str]:
    """Temp folders that servers made."""
    return {p.name for p in Path(tempfile.gettempdir()).glob("hybridmux-*")}


async def gauges(client: Client) -> dict[str, int]:
    """What a leak would make grow."""
    found = await client.metrics()
    return {name: found[name] for name in GAUGES}


async def say_in_terminal(client: Client, sid: str, text: str) -> None:
    """One turn by keys."""
    async with client.terminal(sid) as term:
        await term.until_text("ready")
        await term.type(text)
        await term.until_text(f"echo: {text}")


async def say_in_chat(client: Client, sid: str, text: str) -> None:
    """One turn by a prompt."""
    async with client.chat(sid) as chat:
        before = len(chat.of("turn.end"))
        await client.prompt(sid, text)
        await chat.until_turns_ended(before + 1)


async def one_trip(client: Client, sid: str, rng: random.Random, said: list[str]) -> None:
    """There and back, with turns, none, or one that runs when the switch comes."""
    for side, say in (("acp", say_in_chat), ("tui", say_in_terminal)):
        await client.switch(sid, side)
        if rng.random() < 0.5:
            text = f"message {len(said)}"
            await say(client, sid, text)
            said.append(text)
        if side == "acp" and rng.random() < 0.2:
            said.append("slow 30")
            await client.prompt(sid, "slow 30")


async def settled(client: Client, want: dict[str, int]) -> dict[str, int]:
    """The gauges, once closed connections have gone."""
    now = await gauges(client)
    for _ in range(50):
        if all(now[name] <= want[name] for name in GAUGES):
            break
        await trio.sleep(0.1)
        now = await gauges(client)
    return now


@pytest.mark.timeout(1200)
async def test_random_round_trips_lose_and_leak_nothing(tmp_path):
    rng = random.Random(TRIPS)
    temp_before = temp_folders()
    async with serving(tmp_path) as server:
        client = server.client
        sid = (await client.demo_session())["id"]
        said = ["message 0"]
        await say_in_terminal(client, sid, said[0])
        await one_trip(client, sid, rng, said)
        before = await gauges(client)
        agent_id = (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"]
        for _ in range(TRIPS - 1):
            await one_trip(client, sid, rng, said)
        after = await settled(client, before)
        assert {name: after[name] for name in GAUGES if after[name] > before[name]} == {}
        assert (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"] == agent_id
        assert len(marked(server.data)) == 1
        await client.delete(f"/api/sessions/{sid}")
        assert marked(server.data) == []
        assert stored_texts(server.home, agent_id) == said
        assert temp_folders() == temp_before
