"""How a switch is brought into a phase and held there, until its stage says how to go on (`break_with`)."""

from collections.abc import Callable
from typing import NamedTuple

from tests.faults.stage import Stage


class Hold(NamedTuple):
    """What makes a switch stop in a phase."""

    start: str = ""
    """The fault of the program that the session starts with."""
    fault: str = ""
    """The fault of the programs that the switch starts; `{}` is the moment that is held."""
    moment: str = ""
    """That moment, unless the test wants another."""
    starts: str = ""
    """What the phase starts and waits for: `tui` or `acp`."""
    turn: bool = False
    """A turn runs when the switch begins."""


HOLDS = {
    ("to_chat", "precheck"): Hold(fault="acp.{}:wait", moment="list", starts="acp"),
    ("to_chat", "interrupting"): Hold(start="tui.interrupt:wait", fault="tui.interrupt:wait", turn=True),
    ("to_chat", "awaiting_choice"): Hold(start="tui.interrupt:wait", fault="tui.interrupt:wait", turn=True),
    ("to_chat", "stopping"): Hold(start="tui.quit:wait", fault="tui.quit:wait"),
    ("to_chat", "loading"): Hold(fault="acp.{}:wait", moment="load"),
    ("to_chat", "rolling_back"): Hold(fault="acp.load:error,tui.{}:wait", moment="load", starts="tui"),
    ("to_terminal", "cancelling"): Hold(start="acp.interrupt:wait", fault="acp.interrupt:wait", turn=True),
    ("to_terminal", "stopping"): Hold(start="acp.quit:wait", fault="acp.quit:wait"),
    ("to_terminal", "starting"): Hold(fault="tui.{}:wait", moment="load", starts="tui"),
    ("to_terminal", "rolling_back"): Hold(fault="tui.load:error,acp.{}:wait", moment="load", starts="acp"),
}
"""Not here, because nothing can hold them: starting a chat (the precheck's connector is there already) and
loading a terminal (it has painted already)."""


async def begin_turn(stage: Stage) -> None:
    """A turn that ends when it is interrupted."""
    if stage.term is not None:
        await stage.term.type("slow 30")
        await stage.term.until_text("esc to interrupt")
    else:
        await stage.client.prompt(stage.sid, "slow 30")
        await stage.chat.until(lambda v: v.of("turn.start")[1:])


async def hold(stage: Stage, phase: str, moment: str = "", before: Callable[[], None] = lambda: None) -> None:
    """Returns when the switch is in the phase and its viewers see it; `before` it is asked for."""
    recipe = HOLDS[stage.direction, phase]
    stage.break_with(recipe.fault.format(moment or recipe.moment))
    if recipe.turn:
        await begin_turn(stage)
    before()
    stage.begin()
    await stage.until_phase(phase)
    if recipe.starts:
        await stage.until_started(recipe.starts)
