"""What the tests must know of each agent to use it as a person does."""

from attrs import frozen


@frozen(kw_only=True)
class Agent:
    """One agent under test."""

    name: str
    cmd: list[str]
    ready: str
    """Pattern on the screen of a terminal that takes input."""
    asking: str
    """Pattern on the screen while an approval is open."""
    unknown_id: str
    """An agent session id that looks right and names nothing."""


AGENTS = {
    "opencode": Agent(
        name="opencode",
        cmd=["opencode"],
        ready=r"ctrl\+p commands",
        asking="Permission required",
        unknown_id="ses_00000000000000000000000000",
    ),
}
