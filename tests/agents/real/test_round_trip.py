"""The main job with real agents, by HTTP and WebSocket over the real server: TUI → chat → TUI, twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agents.real.moves import Moves
from tests.support.client import ChatView, Client, Server, TerminalView, marked, serving

PROJECT = Path.home() / "proj"
START, SWITCH, TURN = 60.0, 90.0, 40.0
"""Seconds that a start, a switch and a turn may take on a busy machine."""
READY = {"opencode": r"ctrl\+p commands"}
"""What the screen shows when the TUI takes input."""


@pytest.fixture
def moves(agent: str) -> Any:
    """The timings, printed at the end whatever happens."""
    moves = Moves(agent)
    yield moves
    print(f"\n{moves.table()}")


@asynccontextmanager
async def box_server(tmp_path: Path) -> AsyncIterator[Server]:
    """The server as a person starts it in the sandbox, with a temp folder that is ours to look into."""
    import os

    temp = tmp_path / "temp"
    temp.mkdir()
    env = {**os.environ, "TMPDIR": str(temp)}
    async with serving(tmp_path, env=env) as server:
        yield server


class Conversation:
    """One hybrid session, and what must have been said in it so far."""

    def __init__(self, client: Client, agent: str, info: dict[str, Any], moves: Moves) -> None:
        self.client, self.agent, self.moves = client, agent, moves
        self.id: str = info["id"]
        self.agent_session_id: str | None = None
        self.turns: list[tuple[str, str]] = []

    def said(self, text: str) -> None:
        """A turn: the user's text, and the fake model's echo."""
        self.turns += [("user", text), ("agent", f"echo: {text}")]

    async def check(self, side: str) -> None:
        """It is on that side, and both ids are what they were."""
        info = await self.client.get(f"/api/sessions/{self.id}")
        assert (info["id"], info["hybrid"]["side"]) == (self.id, side)
        found = info["hybrid"]["agentSessionId"]
        self.agent_session_id = self.agent_session_id or found
        assert found == self.agent_session_id

    async def ask_in_terminal(self, term: TerminalView, text: str) -> None:
        """Types a prompt and waits for its answer on the screen."""
        with self.moves.move("a turn in the terminal"):
            await term.submit(text)
            await term.until_text(f"echo: {text}", TURN)
        self.said(text)

    async def ask_in_chat(self, chat: ChatView, text: str) -> None:
        """Sends a prompt and waits for the turn's end; the answer came in pieces."""
        before = len(chat.of("turn.end"))
        with self.moves.move("a turn in the chat"):
            assert await self.client.prompt(self.id, text) == {"queued": False}
            end = await chat.until_turns_ended(before + 1, TURN)
        assert end["stopReason"] == "end_turn"
        self.said(text)
        assert spoken(chat) == self.turns

    async def switch(self, to: str) -> None:
        """Moves it and checks the answer."""
        with self.moves.move(f"switch to {to}"):
            answer = await self.client.switch(self.id, to)
        assert answer == {"side": to, "dropped": [], "unsupported": []}
        await self.check(to)


def spoken(chat: ChatView) -> list[tuple[str, str]]:
    """What the user and the agent said, thoughts left out, each text without blanks around it."""
    return [(role, text.strip()) for role, text in chat.messages() if role != "thought"]


async def in_chat(talk: Conversation, text: str) -> None:
    """The chat's part of a round: all turns are there, exactly once; one more is made."""
    async with talk.client.chat(talk.id) as chat:
        assert spoken(chat) == talk.turns
        await talk.ask_in_chat(chat, text)


async def in_terminal(talk: Conversation, text: str) -> None:
    """The terminal's part of a round: the screen shows the last turn of each side; one more is made."""
    async with talk.client.terminal(talk.id) as term:
        await term.until_text(READY[talk.agent], START)
        for _, said in talk.turns[-4:]:
            await term.until_text(said)
        await term.until_quiet()
        await talk.ask_in_terminal(term, text)


async def test_round_trip(agent: str, moves: Moves, tmp_path: Path) -> None:
    async with box_server(tmp_path) as server:
        client = server.client
        with moves.move("start to ready"):
            info = await client.hybrid_session([agent], str(PROJECT), cols=100, rows=40)
            assert info["hybrid"]["side"] == "tui"
            talk = Conversation(client, agent, info, moves)
            async with client.terminal(talk.id, cols=100, rows=40) as term:
                await term.until_text(READY[agent], START)
                await term.until_quiet()
        async with client.terminal(talk.id, cols=100, rows=40) as term:
            await talk.ask_in_terminal(term, "first words")
            await talk.switch("acp")
            code, reason = await term.until_closed()
            assert (code, reason.partition(":")[0]) == (4409, "session moved")
        assert talk.agent_session_id
        await in_chat(talk, "second words")
        await talk.switch("tui")
        await in_terminal(talk, "third words")
        await talk.switch("acp")
        await in_chat(talk, "fourth words")
        await talk.switch("tui")
        await in_terminal(talk, "fifth words")
        with moves.move("close"):
            await client.delete(f"/api/sessions/{talk.id}")
        assert await client.get("/api/sessions") == []
        assert (await client.get(f"/api/hybrid-sessions/{talk.id}"))["state"] == "closed"
        assert marked(server.data) == []
        assert list((tmp_path / "temp").iterdir()) == []
