"""The main job with a real agent: its conversation moves to the chat and back, and keeps its id."""

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.table import AGENTS
from tests.support.client import ChatView, Client, marked, serving

AGENT = AGENTS[os.environ["HYBRIDMUX_SANDBOX"]]
PROJECT = str(Path.home() / "proj")
START = 60.0


class Clock:
    """Times of named steps, printed at the end."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float]] = []

    @contextmanager
    def step(self, name: str):
        started = time.monotonic()
        yield
        self.rows.append((name, time.monotonic() - started))

    def table(self) -> str:
        return "\n".join(f"  {name:<34}{seconds:7.2f} s" for name, seconds in self.rows)


@pytest.fixture
def clock(capsys):
    clock = Clock()
    yield clock
    with capsys.disabled():
        print(f"\n{AGENT.name}\n{clock.table()}")


async def start(client: Client) -> dict:
    body = {"name": AGENT.name, "cmd": AGENT.cmd, "cwd": PROJECT, "env": {}, "hybrid": True}
    config = await client.post("/api/launch-configs", body)
    return await client.post("/api/sessions", {"configId": config["id"]})


def turns(view: ChatView) -> list[tuple[str, str]]:
    """The conversation: (role, text), without reasoning."""
    return [(role, text.strip()) for role, text in view.messages() if role != "thought"]


def said(*texts: str) -> list[tuple[str, str]]:
    """What the conversation is after these prompts."""
    return [each for text in texts for each in (("user", text), ("agent", f"echo: {text}"))]


async def test_the_conversation_moves_to_the_chat_and_back(tmp_path, clock):
    async with serving(tmp_path, env=dict(os.environ)) as server:
        client = server.client
        session = await start(client)
        sid = session["id"]

        async def hybrid():
            return (await client.get(f"/api/sessions/{sid}"))["hybrid"]

        async with client.terminal(sid) as term:
            with clock.step("terminal ready"):
                await term.until_text(AGENT.ready, START)
            with clock.step("terminal turn"):
                await term.type("first words")
                await term.until_text("echo: first words")
            with clock.step("switch to chat"):
                assert (await client.switch(sid, "acp"))["side"] == "acp"
            assert (await term.until_closed())[0] == 4409
        agent_id = (await hybrid())["agentSessionId"]
        assert agent_id
        async with client.chat(sid) as chat:
            assert turns(chat) == said("first words")
            with clock.step("chat turn"):
                assert await client.prompt(sid, "second words") == {"queued": False}
                assert (await chat.until_turns_ended(1))["stopReason"] == "end_turn"
            assert turns(chat) == said("first words", "second words")
        with clock.step("switch to the terminal"):
            assert (await client.switch(sid, "tui"))["side"] == "tui"
        async with client.terminal(sid) as term:
            await term.until_text("echo: second words")
            assert "echo: first words" in term.text()
            with clock.step("terminal turn, again"):
                await term.type("third words")
                await term.until_text("echo: third words")
            with clock.step("switch to chat, again"):
                assert (await client.switch(sid, "acp"))["side"] == "acp"
        async with client.chat(sid) as chat:
            assert turns(chat) == said("first words", "second words", "third words")
        with clock.step("switch to the terminal, again"):
            assert (await client.switch(sid, "tui"))["side"] == "tui"
        assert (await hybrid())["agentSessionId"] == agent_id
        with clock.step("close"):
            await client.delete(f"/api/sessions/{sid}")
        assert marked(server.data) == []
        assert list(Path(tempfile.gettempdir()).glob("hybridmux-*")) == []
