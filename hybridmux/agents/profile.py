"""What we know of one agent: one interface, filled by one module per agent.

The evidence order is a rule: a fact the agent states (a report, a lock, a registry) beats a screen rule, a
screen rule beats process identity, and nothing is guessed: what is not known is `unknown` or None.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

from attrs import field, frozen

from hybridmux.agents.launch import ArgRules, Launch
from hybridmux.wire.types import ConnectorInfo

TurnState = Literal["idle", "running", "asking", "unknown"]


@frozen(kw_only=True)
class Look:
    """What a profile may look at in a running TUI."""

    screen: str
    """The text of the screen, lines joined by newlines without trailing blanks."""
    title: str
    """The window title (OSC 0/2)."""
    report: str | None
    """Payload of the newest OSC 7501 report, if the agent sends any."""


@frozen(kw_only=True)
class TuiState:
    """What is known of a TUI from one look."""

    turn: TurnState = "unknown"
    ready: bool = False
    """It has painted and takes input."""
    session_id: str | None = None
    """The agent session it says it has open: a fact, not a guess."""
    stored: bool | None = None
    """Whether that session can be opened by another program already."""
    draft: bool | None = None
    """Whether the composer holds unsent text."""
    trouble: str | None = None
    """A line that says why it cannot go on."""


@frozen
class Press:
    """Keys to send, and the wait before the next ones."""

    keys: bytes
    pause: float = 0.0
    """The longest wait, in seconds."""
    until: re.Pattern[str] | None = None
    """What the screen shows when the program has taken the keys: it ends the wait."""
    only_if: re.Pattern[str] | None = None
    """The keys are pressed only if the screen shows this."""


@frozen(kw_only=True)
class Profile:
    """One agent. Functions are pure: they get what they may look at and answer at once."""

    name: str
    """The word on the wire: `opencode`, `demo`."""
    title: str
    """The name a person reads."""
    args: ArgRules
    """How its command line reads, and what a resume or a chat can keep of it."""
    acp_argv: Callable[[Launch], tuple[str, ...]]
    resume_args: Callable[[str], tuple[str, ...]]
    """The arguments that make the TUI open an agent session."""
    observe: Callable[[Look], TuiState]
    interrupt: tuple[Press, ...]
    """Ends a running turn; pressed once and never repeated by itself."""
    dismiss: tuple[Press, ...]
    """Ends an open approval, before anything else is pressed."""
    quit: tuple[Press, ...]
    """Ends an idle TUI cleanly."""
    farewell: Callable[[str], str | None]
    """The agent session id that the TUI's last lines name."""
    identity: Literal["report", "list"]
    """`report`: the TUI states its session id. `list`: it is found among the sessions its list names."""
    quiet: float = 0.0
    """Seconds without output before the screen counts as at rest (0 where the agent states its state)."""
    connector: ConnectorInfo | None = None
    """The third-party program that the chat side needs, if any."""
    environment: Callable[[Mapping[str, str]], dict[str, str]] = field(default=dict)
    """The child's environment, made from the one it would get."""
    own_temp: bool = False
    """Gets a temp folder of its own for each start, which we delete: the agent leaves files behind."""
    force_note: str | None = None
    """What a forced switch may lose."""
    reopens_unprompted: bool = True
    """Whether a conversation without any prompt can be opened again."""
