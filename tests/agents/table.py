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
    unknown: str
    """What is said about it."""
    store: tuple[str, ...]
    """Patterns below HOME of all that its conversations are kept in."""
    begin_anew: tuple[str, ...] = ("/new",)
    """What is typed for a new conversation."""
    begun_anew: tuple[tuple[str, str], ...] = ()
    """What such a conversation has from the start: (role, text)."""
    pick_older: bytes | None = None
    """What chooses, before Enter, the conversation before this one out of what `/resume` shows."""
    side_chat: str | None = None
    """What is typed to begin a conversation beside the one that is open, before its first words."""
    keeps_words: bool = True
    """Whether an interrupted answer is replayed."""
    replays_refused: bool = True
    """Whether a command that was refused is replayed."""
    interrupted: tuple[tuple[str, str], ...] = ()
    """What else stands in the conversation after an interrupted answer: (role, text)."""


_NO_UUID = "00000000-0000-7000-8000-000000000000"

AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            name="opencode",
            cmd=["opencode"],
            ready=r"ctrl\+p commands",
            asking="Permission required",
            unknown_id="ses_00000000000000000000000000",
            unknown="Session not found",
            store=(".local/share/opencode/opencode.db*",),
        ),
        Agent(
            name="codex",
            cmd=["codex"],
            ready=r"(?m)^\s*\u203a ",
            asking="Press enter to confirm or esc to cancel",
            unknown_id=_NO_UUID,
            unknown="No saved session found",
            store=(".codex/sessions", ".codex/*.sqlite*", ".codex/*/*.sqlite*"),
            keeps_words=False,
            replays_refused=False,
            pick_older=b"\x1b[B",
            side_chat="/side",
        ),
        Agent(
            name="claudecode",
            cmd=["claude"],
            ready=r"(?m)^\s*❯",
            asking=r"Esc to cancel",
            unknown_id=_NO_UUID,
            unknown="No conversation found",
            store=(".claude/projects",),
            begin_anew=("/new", "/clear"),
            pick_older=b"",
            begun_anew=(("user", "/clear"),),
            interrupted=(("user", "[Request interrupted by user]"),),
        ),
        Agent(
            name="omp",
            cmd=["omp"],
            ready=r"▶─+[\d.]+%",  # painted before; an Enter is lost until the status line has its numbers
            asking=r"enter select  esc cancel",
            unknown_id=_NO_UUID,
            unknown="not found",
            store=(".omp/agent/sessions",),
            pick_older=b"\x1b[B",
            keeps_words=False,
        ),
    )
}
