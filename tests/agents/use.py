"""What every test with a real agent does: start one, read its conversation, look for leftovers."""

import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.agents.table import AGENTS
from tests.support.client import ChatView, Client, marked, serving

AGENT = AGENTS[os.environ["HYBRIDMUX_SANDBOX"]]
PROJECT = str(Path.home() / "proj")
PATIENCE = 90.0
"""Seconds a real agent may take for one step; opencode keeps two cores busy while it starts."""
CONFIG = "[budgets]\nprecheck = 90.0\nstarting = 90.0\ninterrupting = 20.0\nstopping_step = 15.0\n"
"""Deadlines for a machine that does other work too; on a quiet one none comes near the defaults."""


class Clock:
    """Times of named steps."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    @contextmanager
    def step(self, name: str):
        """Takes the time of what is done in it."""
        started = time.monotonic()
        yield
        self.rows.append((name, time.monotonic() - started))

    def table(self) -> str:
        """A line for each step."""
        return "\n".join(f"  {name:<34}{seconds:7.2f} s" for name, seconds in self.rows)


def turns(view: ChatView) -> list[tuple[str, str]]:
    """The conversation: (role, text), without reasoning."""
    return [(role, text.strip()) for role, text in view.messages() if role != "thought"]


def said(*texts: str) -> list[tuple[str, str]]:
    """What the conversation is after these prompts."""
    return [each for text in texts for each in (("user", text), ("agent", f"echo: {text}"))]


def leftovers(data: Path) -> list[str]:
    """Processes with the server's mark and temp folders of ours: what a closed session must not leave."""
    return marked(data) + [str(path) for path in Path(tempfile.gettempdir()).glob("hybridmux-*")]


@asynccontextmanager
async def session_of(folder: Path) -> AsyncIterator[tuple[Client, str]]:
    """A server with one terminal session of the agent: (client, session id).

    The session is closed at the end, and then nothing of it may be left.
    """
    async with serving(folder, config=CONFIG, env=dict(os.environ)) as server:
        client = server.client
        body = {"name": AGENT.name, "cmd": AGENT.cmd, "cwd": PROJECT, "env": {}, "hybrid": True}
        config: dict[str, Any] = await client.post("/api/launch-configs", body)
        session = await client.post("/api/sessions", {"configId": config["id"]})
        yield client, session["id"]
        await client.delete(f"/api/sessions/{session['id']}")
        assert leftovers(server.data) == []
