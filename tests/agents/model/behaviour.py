"""What a prompt makes the model do. Pure; knows no dialect."""

import re
from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

TICK = 0.5
"""Seconds between the words of a slow answer."""

SHELL_TOOLS = {
    "bash": lambda command: {"command": command, "description": "run a command"},  # opencode, omp
}
"""Name of an agent's shell tool → the arguments that run a command line."""


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
    pause: float = 0.0
    """Seconds after each word."""
    thought: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(factory=dict)
    status: int = 200


def echo(text: str) -> Plan:
    """`echo: …` in a few words, so that there is something to stream."""
    return Plan(words=("echo: ", *re.findall(r"\S+\s*|\s+", text)))


def decide(turn: Turn) -> Plan:
    """The answer to a turn."""
    text = turn.text.strip()
    if turn.role == "tool":
        return Plan(words=("tool said: ", text[:300]))
    if not turn.tools:
        return echo(text)
    if found := re.search(r"fail: (\d{3})", text):
        return Plan(status=int(found[1]))
    if found := re.search(r"slow (\d+)", text):
        return Plan(words=(*_ticks(int(found[1])), "done"), pause=TICK)
    if found := re.search(r"run: (.+)", text):
        return _run(found[1].strip(), turn.tools)
    if found := re.search(r"think: (.+)", text):
        return Plan(words=echo(text).words, thought=found[1].strip())
    return echo(text)


def _ticks(seconds: int) -> Iterable[str]:
    return (f"tick {number + 1} " for number in range(round(seconds / TICK)))


def _run(command: str, tools: frozenset[str]) -> Plan:
    for name, arguments in SHELL_TOOLS.items():
        if name in tools:
            return Plan(words=("I run a command. ",), tool=name, arguments=arguments(command))
    return Plan(words=(f"no shell tool among {sorted(tools)}",))
