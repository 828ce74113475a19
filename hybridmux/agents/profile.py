"""What we know of one agent: one interface, filled by one module per agent.

The evidence order is a rule: a fact the agent states (a report, a lock, a registry) beats a screen rule, a
screen rule beats process identity, and nothing is guessed: what is not known is `unknown` or None.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

from attrs import field, frozen

from hybridmux.agents.launch import Launch
from hybridmux.agents.options import ArgRules
from hybridmux.agents.shared_server import SharedServer
from hybridmux.agents.versions import Engine, Verified
from hybridmux.wire.types import ConnectorInfo

TurnState = Literal["idle", "running", "asking", "unknown"]
Source = Literal["report", "registry", "title", "screen"]


@frozen(kw_only=True)
class Look:
    """What a profile may look at in a running TUI."""

    screen: str
    """The text of the screen, lines joined by newlines without trailing blanks."""
    title: str
    """The window title (OSC 0/2)."""
    report: str | None
    """Payload of the newest OSC 7501 report, if the agent sends any."""
    starting: bool = False
    """It is opening a conversation, and nothing says yet that it has it."""


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
    not_root: bool = False
    """Which of several programs of the agent is the terminal's own cannot be told."""
    occupied: bool = False
    """The trouble is that another program holds the conversation. Nothing may be typed into it."""
    source: Source | None = None
    """What `turn` was read from."""
    rule: str | None = None
    """The name of the rule that decided it."""


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
    unless_idle: bool = False
    """For a running turn only: left out, and their wait is over, once it has ended."""


@frozen(kw_only=True)
class FormPermission:
    """A permission request in the clothes of a form: what is asked, and the values that allow and deny it."""

    title: str
    key: str
    """The form's one field."""
    allow: str
    deny: str


@frozen(kw_only=True)
class Profile:
    """One agent. Functions are pure: they get what they may look at and answer at once."""

    name: str
    """The word on the wire: `opencode`, `demo`."""
    title: str
    """The name a person reads."""

    # --- its command lines ---
    args: ArgRules
    """How its command line reads, and what a resume or a chat can keep of it."""
    acp_argv: Callable[[Launch], tuple[str, ...]]
    resume_args: Callable[[str], tuple[str, ...]]
    """The arguments that make the TUI open an agent session."""
    connector: ConnectorInfo | None = None
    """The third-party program that the chat side needs, if any."""
    environment: Callable[[Mapping[str, str]], dict[str, str]] = field(default=dict)
    """The child's environment, made from the one it would get."""
    program_variable: str | None = None
    """Tells the connector which program is the agent's own (see `executable.chat_environment`)."""
    own_temp: bool = False
    """Gets a temp folder of its own for each start, which we delete: the agent leaves files behind."""
    shared_server: SharedServer | None = None
    """A background server that would keep the conversation open after the TUI has ended."""
    verified: tuple[Verified, ...] = ()
    """Versions this profile was tried with; older ones are named as outdated."""
    engines: tuple[Engine, ...] = ()
    """What its program and its connector run on, where they are scripts."""

    # --- its terminal ---
    observe: Callable[[Look], TuiState]
    answer_osc7501: bool = False
    """It reports its state only to a terminal that says that somebody listens."""
    reports: bool = False
    """It reports its state unasked, for the first time when it has started; older versions may not."""
    interrupt: tuple[Press, ...]
    """Ends a running turn; pressed once and never repeated by itself."""
    dismiss: tuple[Press, ...]
    """Ends an open approval, before anything else is pressed."""
    quit: tuple[Press, ...]
    """Ends an idle TUI cleanly."""
    suspends: bool = False
    """Ctrl-Z makes it leave the terminal, for a while at least, to a shell, of which there is none here: the
    key is kept from it."""
    quit_command: tuple[Press, ...] = ()
    """Typed when the keys did not help; two writes, or it is taken for a paste."""
    farewell: Callable[[str], str | None]
    """The agent session id that a TUI's last words name (`farewell.last_words`)."""
    identity: Literal["report", "list"]
    """`report`: the TUI states its session id. `list`: it is found among the sessions its list names."""
    evidence: Literal["registry", "locks", "breadcrumb"] | None = None
    """Files that name the TUI's session (`claude_registry`, `codex_locks`, `omp_breadcrumb`); `identity` is
    what is left where they cannot be read."""
    occupied: re.Pattern[str] | None = None
    """What it says, as it ends at once, when another program has the conversation open."""
    quiet: float = 0.0
    """Seconds without output before the screen counts as at rest (0 where the agent states its state)."""
    force_note: str | None = None
    """What a forced switch may lose."""
    reopens_unprompted: bool = True
    """Whether a conversation without any prompt can be opened again."""
    stores_first_turn: Literal["running", "ended"] = "running"
    """When a new conversation is stored: while its first turn runs, or once that has ended or was stopped."""

    # --- its chat ---
    reapply: tuple[str, ...] = ()
    """Config options that a load or resume loses: they are set again from the record, in this order."""
    hidden_commands: frozenset[str] = frozenset()
    """Slash commands that make no sense in a chat."""
    leaving_commands: frozenset[str] = frozenset()
    """Slash commands with which it goes on in another conversation, under the old id for its client: a chat
    does not send them."""
    steering: bool = False
    """Text can go into a running turn, if the agent's `initialize` says so too."""
    steering_idle: str | None = None
    """`_meta.steering.idleBehavior` of a steering call."""
    binary_blobs: bool = True
    """Whether a binary file may be embedded; otherwise it goes as a path."""
    form_permission: Callable[[str, Mapping[str, object]], FormPermission | None] = field(
        default=lambda _message, _schema: None
    )
    """Reads a form (its message and schema) that is a permission request in fact."""
    failed_answer: re.Pattern[str] | None = None
    """A turn whose only text matches and that used no tokens has failed, though the agent says that it ended
    well."""

    @property
    def unoffered_commands(self) -> frozenset[str]:
        """Slash commands that a chat does not offer."""
        return self.hidden_commands | self.leaving_commands

    @property
    def names_openers(self) -> bool:
        """Its evidence tells of every program that has a conversation open, of those of others too."""
        return self.evidence in ("registry", "locks")
