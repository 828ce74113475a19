"""Many round trips in one run: no message lost or doubled, nothing leaked."""

import os
import random

import pytest

from tests.support.client import Client, marked, serving
from tests.support.leaks import gauges, settled, temp_folders
from tests.support.talk import say_in_chat, say_in_terminal, stored_texts

TRIPS = int(os.environ.get("HYBRIDMUX_TRIPS", "40"))


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
        assert {name: now for name, now in after.items() if now > before[name]} == {}
        assert (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"] == agent_id
        assert len(marked(server.data)) == 1
        await client.delete(f"/api/sessions/{sid}")
        assert marked(server.data) == []
        assert stored_texts(server.home, agent_id) == said
        assert temp_folders() <= temp_before  # a server that ends meanwhile takes its own with it
