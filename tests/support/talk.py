"""Turns with the demo agent on either side, and what its own store has of them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio

from tests.support.api import Client

DEMO = Path(sys.executable).parent / "hybridmux-demo"


def stored_texts(home: Path, agent_session: str) -> list[str]:
    """The user texts in the agent's own store."""
    env = {**os.environ, "HYBRIDMUX_DEMO_HOME": str(home / "demo")}
    out = subprocess.run([DEMO, "show", agent_session, "--json"], env=env, check=True, capture_output=True)
    return [item["text"] for item in json.loads(out.stdout)["messages"] if item["role"] == "user"]


async def say_in_terminal(client: Client, sid: str, text: str) -> None:
    """One turn by keys."""
    async with client.terminal(sid) as term:
        await term.until_text("ready")
        await term.type(text)
        await term.until_text(f"echo: {re.escape(text)}")


async def say_in_chat(client: Client, sid: str, text: str) -> str:
    """One turn by a prompt; its stop reason."""
    async with client.chat(sid) as chat:
        before = len(chat.of("turn.end"))
        await client.prompt(sid, text)
        stop: str = (await chat.until_turns_ended(before + 1))["stopReason"]
        return stop


async def until_info(
    client: Client, sid: str, want: Callable[[dict[str, Any]], Any], seconds: float = 10
) -> Any:
    """Waits until `want(info)` of a session in the live list is true and returns that."""
    async with client.socket("/ws/events") as ws:
        with trio.move_on_after(seconds):
            while True:
                frame = json.loads(await ws.get_message())
                for info in [*frame.get("sessions", []), frame.get("session", {})]:
                    if info.get("id") == sid and (found := want(info)):
                        return found
    info = await client.get(f"/api/sessions/{sid}")
    raise AssertionError(f"not within {seconds} s: {info}")


async def known_agent_session(client: Client, sid: str) -> str:
    """The agent's id of a session, once the terminal has stated it."""
    found: str = await until_info(client, sid, lambda info: info["hybrid"]["agentSessionId"])
    return found
