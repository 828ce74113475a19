"""What the demo agent may do wrong in a soak; pure. `docs/demo-agent.md` explains the words."""

from random import Random

TERMINAL = "exit hang error slow=0.4 garbage halfline closed fork"
PROCESS = f"{TERMINAL} stderr"
WIRE = f"{PROCESS} unknownid bigline=2"
MENU = {
    "acp.start": PROCESS,
    "acp.initialize": WIRE,
    "acp.list": WIRE,
    "acp.load": f"{WIRE} die=1 die=4 active_writer missing lag=1",
    "acp.prompt": f"{WIRE} auth",
    "acp.interrupt": "hang",
    "acp.quit": "exit hang hang=hard slow=0.4 fork",
    # No `stderr`: a terminal shows it, and the screen of our client would be busy with 5 MB for seconds.
    "tui.start": f"{TERMINAL} hang=hard",
    "tui.load": f"{TERMINAL} other active_writer missing",
    "tui.prompt": "exit hang error slow=0.4 fork auth",
    "tui.interrupt": "hang",
    "tui.quit": "exit hang hang=hard fork slow=0.4",
}
BOTH = 0.2
"""How often the side that a switch comes from breaks too, so that a roll-back fails."""


def menu(side: str) -> list[str]:
    """Every fault of one side."""
    return [
        f"{place}:{name}"
        for place, names in MENU.items()
        if place.startswith(f"{side}.")
        for name in names.split()
    ]


def lasting(fault: str) -> bool:
    """Whether a process that has started all the same will break a turn later on."""
    return "prompt:" in fault


def roll(rng: Random, side: str) -> str:
    """The content of the fault file for a start of `side`."""
    places = [place for place in MENU if place.startswith(f"{side}.")]
    place = rng.choice(places)  # by moment first: `load` has more words than `quit`
    found = [rng.choice([one for one in menu(side) if one.startswith(f"{place}:")])]
    if rng.random() < BOTH:
        found.append(rng.choice(menu("tui" if side == "acp" else "acp")))
    return ",".join(found)
