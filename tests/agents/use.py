"""What every test with a real agent does: start one, read its conversation, look for leftovers."""

import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import trio

from hybridmux.proc import table
from tests.agents.table import AGENTS
from tests.support.client import ChatView, Client, Server, TerminalView, marked, serving
from tests.support.leaks import processes

AGENT = AGENTS[os.environ["HYBRIDMUX_SANDBOX"]]
PROJECT = str(Path.home() / "proj")
PATIENCE = 90.0
"""Seconds a real agent may take for one step; opencode keeps two cores busy while it starts."""
CONFIG = "[budgets]\nprecheck = 90.0\nstarting = 90.0\ninterrupting = 20.0\nstopping_step = 15.0\n"
"""Deadlines for a machine that does other work too; on a quiet one none comes near the defaults."""

LONG = "HYBRIDMUX_LONG" in os.environ


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
async def server_of(folder: Path) -> AsyncIterator[Server]:
    """A server that gives agents the time they need here; at its end nothing of its sessions may be left.

    Sessions that are still there are closed first, unless the test has failed. After a server that
    the test killed nothing is looked for: the next one has to clean up.
    """
    async with serving(folder, config=CONFIG, env=dict(os.environ)) as server:
        yield server
        if server.process.poll() is not None:
            return
        for session in await server.client.get("/api/sessions"):
            await server.client.delete(f"/api/sessions/{session['id']}")
        left = leftovers(server.data)
        assert left == [], left


async def start(client: Client, **extra: Any) -> str:
    """A new session of the agent; its id."""
    session: dict[str, Any] = await client.hybrid_session(AGENT.cmd, PROJECT, **extra)
    sid: str = session["id"]
    return sid


@asynccontextmanager
async def session_of(folder: Path, **extra: Any) -> AsyncIterator[tuple[Client, str]]:
    """A server with one session of the agent: (client, session id). It ends as `server_of` does."""
    async with server_of(folder) as server:
        yield server.client, await start(server.client, **extra)


async def hybrid(client: Client, sid: str) -> dict[str, Any]:
    """The session's `hybrid` part: where it is, which conversation it has."""
    info: dict[str, Any] = (await client.get(f"/api/sessions/{sid}"))["hybrid"]
    return info


async def record_of(client: Client, sid: str) -> dict[str, Any]:
    """The session's record."""
    record: dict[str, Any] = await client.get(f"/api/hybrid-sessions/{sid}")
    return record


async def submit(term: TerminalView, text: str) -> None:
    """Types a line, and Enter when all of it has been drawn: sooner it may count as part of a paste."""
    await term.send(text.encode())
    await term.until_text(re.escape(text[:24]), PATIENCE)
    await term.until_quiet(0.2, PATIENCE)
    await term.send(b"\r")


async def ask_in_terminal(term: TerminalView, text: str) -> None:
    """One turn by keys in a terminal that takes input or will soon."""
    await term.until_text(AGENT.ready, PATIENCE)
    await submit(term, text)
    await term.until_text(f"echo: {re.escape(text)}", PATIENCE)


async def say_in_terminal(client: Client, sid: str, text: str) -> None:
    """One turn by keys."""
    async with client.terminal(sid) as term:
        await ask_in_terminal(term, text)


async def say_in_chat(client: Client, sid: str, text: str) -> None:
    """One turn by a prompt."""
    async with client.chat(sid) as chat:
        before = len(chat.of("turn.end"))
        await client.prompt(sid, text)
        assert (await chat.until_turns_ended(before + 1, PATIENCE))["stopReason"] == "end_turn"


async def heard(client: Client, sid: str) -> list[tuple[str, str]]:
    """The conversation as the chat shows it."""
    async with client.chat(sid) as chat:
        return turns(chat)


async def until_processes(want: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Waits until what is asked of the process table holds."""
    with trio.fail_after(seconds):
        while not want():  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(0.05)


def runs(word: str) -> bool:
    """Whether some process has that word in its arguments."""
    return any(word in table.command_line(pid) for pid in table.entries())


async def kill_side(server: Server, sid: str) -> None:
    """SIGKILL to the program of the session's side, not to what it started; waits until all of it is gone."""
    roots = [one for one in processes(server.data, sid) if _parent(one.pid) == server.pid]
    assert roots
    for one in roots:
        one.kill()
    await until_processes(lambda: not processes(server.data, sid))


def _parent(pid: int) -> int:
    entry = table.entry(pid)
    return entry.ppid if entry else 0
