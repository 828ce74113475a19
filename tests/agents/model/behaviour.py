"""What the fake model does with a prompt. Pure; the wire formats are beside it.

    anything else      "echo: <prompt>"
    slow N …           "tick 1 ", "tick 2 ", … one each half second for N seconds, then "done"
    think: TEXT        a thought, then the echo
    run: COMMAND       a call of the agent's shell tool, then "tool said: <result>"
    tool: NAME JSON    a call of that tool with these arguments, then as above
    fail: STATUS       an HTTP error of that status

A request that offers no tools (agents make titles so) is always answered with the echo.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from attrs import field, frozen

PAUSE = 0.5
"""Seconds between the ticks of `slow`."""
RESULT_CHARS = 300

SHELL_TOOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "bash": lambda command: {"command": command, "description": "run a command"},
}
"""Arguments of the agents' shell tools, by the tool's name."""


@frozen(kw_only=True)
class Prompt:
    """What a request asks: the newest user text, or the result of the tool that was called for it."""

    text: str
    tools: frozenset[str] = frozenset()
    result: str | None = None


@frozen
class Call:
    """A tool call."""

    name: str
    arguments: dict[str, Any]


@frozen(kw_only=True)
class Reply:
    """What to answer: a status other than 200; or a thought, pieces of text, a tool call, in that order."""

    pieces: tuple[str, ...] = ()
    pause: float = 0.0
    """Seconds after each piece."""
    thought: str = ""
    call: Call | None = None
    status: int = field(default=200)

    @property
    def text(self) -> str:
        """All pieces."""
        return "".join(self.pieces)


def reply_to(prompt: Prompt) -> Reply:
    """The same reply for the same prompt, always."""
    if prompt.result is not None:
        return Reply(pieces=("tool said: ", prompt.result.strip()[:RESULT_CHARS]))
    if prompt.tools:
        for pattern, behave in _BEHAVIOURS:
            if found := pattern.search(prompt.text):
                return behave(found, prompt)
    return _echo(prompt.text)


def _echo(text: str, thought: str = "") -> Reply:
    return Reply(pieces=("echo: ", text), thought=thought)


def _slow(found: re.Match[str], _: Prompt) -> Reply:
    ticks = [f"tick {number} " for number in range(1, round(int(found[1]) / PAUSE) + 1)]
    return Reply(pieces=(*ticks, "done"), pause=PAUSE)


def _tool(found: re.Match[str], prompt: Prompt) -> Reply:
    try:
        arguments = json.loads(found[2])
    except ValueError:
        return _echo(prompt.text)
    return Reply(call=Call(found[1], arguments))


def _run(found: re.Match[str], prompt: Prompt) -> Reply:
    for name, arguments in SHELL_TOOLS.items():
        if name in prompt.tools:
            call = Call(name, arguments(found[1].strip()))
            return Reply(pieces=("I will run a command. ",), call=call)
    return _echo(prompt.text)


_BEHAVIOURS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Prompt], Reply]], ...] = (
    (re.compile(r"fail: (\d{3})"), lambda found, _: Reply(status=int(found[1]))),
    (re.compile(r"slow (\d+)"), _slow),
    (re.compile(r"tool: (\w+) (\{.*\})", re.DOTALL), _tool),
    (re.compile(r"run: ([^\n]+)"), _run),
    (re.compile(r"think: ([^\n]+)"), lambda found, prompt: _echo(prompt.text, found[1].strip())),
)
