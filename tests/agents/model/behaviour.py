"""What a prompt makes the model do. Pure; knows no dialect."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve, field, frozen

TICK = 0.5
"""Seconds between the words of a slow answer."""

SHELL_TOOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "bash": lambda command: {"command": command, "description": "run a command"},  # opencode, omp
    "Bash": lambda command: {"command": command, "description": "run a command"},  # Claude Code
    "exec_command": lambda command: {  # codex
        "cmd": command,
        "sandbox_permissions": "require_escalated",
        "justification": "Run a command?",
    },
}
"""Name of an agent's shell tool → the arguments that run a command line, so that the agent asks first."""

_NOTE = re.compile(r"\s*(?:<[A-Za-z]|# AGENTS\.md)")
"""Agents add to what a person says: reminders and surroundings in tags, instructions of the folder."""


@frozen(kw_only=True)
class Turn:
    """What a request says: the last thing said, and what may be used to answer it."""

    role: str
    """`user` or `tool`."""
    text: str
    users: tuple[str, ...] = ()
    """Every user text, oldest first."""
    tools: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Plan:
    """An answer: reasoning, then words, then perhaps a tool call; or an error."""

    words: tuple[str, ...] = ()
    wait: float = 0.0
    """Seconds before anything is sent."""
    pause: float = 0.0
    """Seconds after each word."""
    thought: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(factory=dict)
    status: int = 200
    broken: str = ""
    """`nonsense` or `cut`."""

    @property
    def text(self) -> str:
        """All words."""
        return "".join(self.words)


def turn_of(said: Iterable[tuple[str, str]], tools: Iterable[str]) -> Turn:
    """The turn that a conversation of (role, text) ends with; only `user` and `tool` count."""
    spoken = [
        (role, text)
        for role, text in said
        if role == "tool" or (role == "user" and text.strip() and not _NOTE.match(text))
    ]
    role, text = spoken[-1] if spoken else ("user", "")
    users = tuple(text for role, text in spoken if role == "user")
    return Turn(role=role, text=text, users=users, tools=frozenset(tools))


def echo(text: str) -> Plan:
    """`echo: …` in a few words, so that there is something to stream."""
    return Plan(words=("echo: ", *re.findall(r"\S+\s*|\s+", text)))


def decide(turn: Turn) -> Plan:
    """The answer to a turn."""
    text = turn.text.strip()
    if turn.role == "tool":
        return Plan(words=("tool said: ", text[:300]))
    if turn.tools:
        for pattern, answer in _WORDS:
            if found := re.search(pattern, text):
                return answer(found, turn)
    return echo(text)


def _slow(found: re.Match[str], _: Turn) -> Plan:
    ticks = (f"tick {number + 1} " for number in range(round(int(found[1]) / TICK)))
    return Plan(words=(*ticks, "done"), pause=TICK)


def _run(found: re.Match[str], turn: Turn) -> Plan:
    for name, arguments in SHELL_TOOLS.items():
        if name in turn.tools:
            return Plan(words=("I run a command. ",), tool=name, arguments=arguments(found[1].strip()))
    return Plan(words=(f"no shell tool among {sorted(turn.tools)}",))


def _tool(found: re.Match[str], _: Turn) -> Plan:
    return Plan(tool=found[1], arguments=json.loads(found[2]))


_WORDS: tuple[tuple[str, Callable[[re.Match[str], Turn], Plan]], ...] = (
    (r"fail: (\d{3})", lambda found, _: Plan(status=int(found[1]))),
    (r"broken: (nonsense|cut)", lambda found, turn: evolve(echo(turn.text.strip()), broken=found[1])),
    (r"slow (\d+)", _slow),
    (r"wait (\d+)", lambda found, turn: evolve(echo(turn.text.strip()), wait=float(found[1]))),
    (r"tool: (\w+) (\{.*\})", _tool),
    (r"run: (.+)", _run),
    (r"think: (.+)", lambda found, turn: evolve(echo(turn.text.strip()), thought=found[1].strip())),
)
