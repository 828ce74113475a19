"""Faults of the agent's programs: what is broken at which moment, and how the switch ends then."""

from typing import NamedTuple

from tests.faults import outcomes
from tests.faults.holds import hold
from tests.faults.stage import Stage


class Break(NamedTuple):
    """One fault of the demo agent (`docs/demo-agent.md`)."""

    fault: str
    fatal: bool = True
    moment: str = ""
    """When, unless it is the phase's own moment."""
    words: str = "demo fault"
    """What the answer says where it strikes: a regular expression."""
    status: int = 502
    """Of the answer."""


LONG_LINE = "the agent sent a line longer than"

BREAKS = {
    "exits-at-once": Break("exit", moment="start", words="71"),
    "exits-later": Break("exit", words="71"),
    "hangs-initialize": Break("hang", moment="initialize", words="time"),
    "hangs-list": Break("hang", words="time"),
    "hangs-load": Break("hang", words="sent nothing for|no end within"),
    "garbage": Break("garbage", fatal=False),
    "half-line": Break("halfline", words="71"),
    "big-line": Break("bigline=65", words=LONG_LINE),
    "unknown-id": Break("unknownid", fatal=False),
    "error": Break("error"),
    "auth-required": Break("auth", words="uthentication"),
    "active-writer": Break("active_writer", words="is open in another program", status=409),
    "closed-stdout": Break("closed", words="closed its output|no end within"),
    "stderr-flood": Break("stderr", fatal=False),
    "dies-mid-load": Break("die=2", words="71"),
}
"""By the matrix's row."""

POINTS = {
    ("to_chat", "precheck"): ("acp", "list"),
    ("to_chat", "loading"): ("acp", "load"),
    ("to_chat", "rolling_back"): ("tui", "load"),
    ("to_terminal", "starting"): ("tui", "load"),
    ("to_terminal", "rolling_back"): ("acp", "load"),
}
"""Which program starts or answers in a phase, and its moment."""


async def broken(stage: Stage, fault: str, phase: str) -> None:
    """The program that takes part in the phase breaks there."""
    break_ = BREAKS[fault]
    side, moment = POINTS[stage.direction, phase]
    moment = break_.moment or moment
    await hold(stage, phase, moment)
    stage.break_with(f"{side}.{moment}:{break_.fault}")
    status = break_.status
    if not break_.fatal:
        await unharmed(stage, phase)
    elif phase == "precheck":
        await outcomes.untouched(stage, status, break_.words)
    elif phase == "rolling_back":
        await outcomes.lost(stage, "demo fault")
    else:
        await outcomes.rolled_back(stage, status, break_.words)


async def unharmed(stage: Stage, phase: str) -> None:
    """What a switch that was held in a phase comes to when it goes on."""
    if phase == "rolling_back":
        await outcomes.rolled_back(stage, 502, "demo fault")
    else:
        await outcomes.committed(stage)
