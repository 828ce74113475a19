r"""Screen rules as data: what a terminal's report, title and text say of the agent in it.

A profile lists its rules in order of their worth; the first that matches decides. `foot` is the last lines
that are not empty. A conversation may quote all that an agent draws: so a rule about the screen says where
its words stand (`below` the composer, or last of all), or who else says so.

A look is synchronous, and any program may draw what it likes: so a pattern must cost no more than a few
passes over the text. What looks for the last of something starts once, at `\A`, and keeps what it has found:
`(?>…)`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from attrs import frozen

from hybridmux.agents.profile import Look, Source, TuiState, TurnState

Where = Literal["report", "title", "screen", "foot"]
FOOT = 8
"""Lines."""
TROUBLE_CHARS = 300
_SOURCES: dict[Where, Source] = {"report": "report", "title": "title", "screen": "screen", "foot": "screen"}


@frozen(kw_only=True)
class Rule:
    """What it means when `pattern` is found `where`, and `also` (if any) at the screen's foot."""

    name: str
    where: Where
    pattern: re.Pattern[str]
    also: re.Pattern[str] | None = None
    turn: TurnState = "unknown"
    ready: bool = True
    trouble: bool = False
    """The matched line says why the program cannot go on: while it opens a conversation, never later."""
    occupied: bool = False


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def rule(name: str, where: Where, pattern: str, turn: TurnState, *, also: str | None = None) -> Rule:
    """A rule about the turn; `^` and `$` stand for the ends of lines."""
    return Rule(
        name=name,
        where=where,
        pattern=_compiled(pattern),
        also=None if also is None else _compiled(also),
        turn=turn,
    )


def trouble(name: str, pattern: str, *, also: str, occupied: bool = False) -> Rule:
    """A line on the screen of a starting program after which there is nothing to wait for; `also`: what it
    offers then, at the foot."""
    return Rule(
        name=name,
        where="screen",
        pattern=_compiled(pattern),
        also=_compiled(also),
        ready=False,
        trouble=True,
        occupied=occupied,
    )


def below(edge: str, no_more: str) -> str:
    """The beginning of a pattern for what stands below a line that begins with `edge`, if that is the last of
    all that begin with `no_more` (as each edge does)."""
    return rf"\A(?>(?s:.*)^(?={no_more})){edge}.*\n(?s:.*?)"


REPORTS = (
    rule("report-blocked", "report", r"(?:^|:)state=blocked(?::|$)", "asking"),
    rule("report-working", "report", r"(?:^|:)state=working(?::|$)", "running"),
    rule("report-idle", "report", r"(?:^|:)state=(?:idle|done)(?::|$)", "idle"),
)
"""OSC 7501, for agents that send it. `clear` says that the program is leaving: nothing is known then."""


def foot(screen: str) -> str:
    """The last lines that are not empty."""
    return "\n".join([line for line in screen.split("\n") if line.strip()][-FOOT:])


def observing(rules: Sequence[Rule]) -> Callable[[Look], TuiState]:
    """A profile's `observe`."""

    def observe(look: Look) -> TuiState:
        places: dict[Where, str] = {
            "report": look.report or "",
            "title": look.title,
            "screen": look.screen.rstrip(),
            "foot": foot(look.screen),
        }
        for one in rules:
            if one.trouble and not look.starting:
                continue
            found = one.pattern.search(places[one.where])
            if found and (one.also is None or one.also.search(places["foot"])):
                return _state(one, found[0])
        return TuiState()

    return observe


def _state(one: Rule, text: str) -> TuiState:
    return TuiState(
        turn=one.turn,
        ready=one.ready,
        trouble=" ".join(text.split())[:TROUBLE_CHARS] if one.trouble else None,
        occupied=one.occupied,
        source=None if one.turn == "unknown" else _SOURCES[one.where],
        rule=one.name,
    )
