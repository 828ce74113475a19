"""The two small interfaces that processes sit behind, so that a switch runs over real ones and over scripts.

A side is opened by `Sides` as a context manager; while it is open its process may live. `stop()` ends it in
order; leaving the context manager ends whatever is left. Every failure of the agent is a `SideFailed`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Protocol

from attrs import field, frozen

from hybridmux.agents.installed import Obstacle
from hybridmux.agents.launch import Launch, base
from hybridmux.agents.profile import Press, Profile, TuiState
from hybridmux.agents.testimony import Openers
from hybridmux.conversation.surroundings import Surroundings
from hybridmux.errors import AgentFailed
from hybridmux.proc.family import EndReport
from hybridmux.terminal.terminal import Terminal
from hybridmux.wire.chat import PromptCapabilities
from hybridmux.wire.convert import Json
from hybridmux.wire.types import Outdated, Place


class SideFailed(AgentFailed):
    """The agent's program or a call to it failed; the message carries the cause."""


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """What the machine refuses (it has no descriptors, no space, a folder's mount is dead) is a failure of
    this one thing, never of the session: `OSError` as `SideFailed`."""
    try:
        yield
    except OSError as exc:
        raise SideFailed(f"{what}: {exc.strerror or exc}") from exc


class AuthRequired(SideFailed):
    """The agent wants its user to log in first; the message is what it said and where that is done."""

    def __init__(self, said: str) -> None:
        super().__init__(f"{said.rstrip('. ')}: log in to the agent in a terminal, then try again")


class OccupiedElsewhere(SideFailed):
    """Another program has the agent session open."""


class SessionUnknown(SideFailed):
    """The agent does not know the session (any more)."""


@frozen(kw_only=True)
class Plan:
    """What a side needs to start."""

    profile: Profile
    launch: Launch
    session: str
    """Our session's id: it goes into the process mark."""
    cwd: str
    env: dict[str, str] = field(repr=False)
    seen: Surroundings = field(init=False, eq=False, repr=False)
    """`env` as the program sees it."""

    @seen.default
    def _surroundings(self) -> Surroundings:
        return Surroundings(self.launch, self.env, self.cwd)

    @property
    def connector_name(self) -> str:
        """What the chat's program is called: neither the shell nor the engine that runs it."""
        connector = self.profile.connector
        return connector.executable if connector else base(self.launch.command[-1])


@frozen(kw_only=True)
class Summary:
    """One agent session of `session/list`."""

    session_id: str
    title: str
    updated_at: str | None


@frozen(kw_only=True)
class Abilities:
    """What the connected agent said it can do."""

    load: bool = False
    resume: bool = False
    close: bool = False
    steering: bool = False
    prompt: PromptCapabilities = field(factory=PromptCapabilities)


@frozen(kw_only=True)
class PromptOutcome:
    """How a turn ended."""

    stop_reason: str
    usage: Json | None = None


class TuiSide(Protocol):
    """The agent's own terminal UI."""

    @property
    def terminal(self) -> Terminal:
        """The program on its PTY, for viewers."""

    @property
    def started_at(self) -> float:
        """Wall-clock seconds of the start."""

    @property
    def entered(self) -> bool:
        """Whether anything was entered since the start, or may have been with the command."""

    @property
    def unsent(self) -> bool:
        """Whether text was typed and, as far as the keys tell, neither sent nor cleared."""

    enter_at: float
    """When Enter was last pressed, on Trio's clock."""
    stop_key_at: float
    """When a key that ends turns in most agents was last pressed, on Trio's clock."""
    report: EndReport | None
    """How its processes ended, after `stop()`."""

    def state(self) -> TuiState:
        """What is known right now."""

    def glance(self) -> TuiState:
        """The same without the screen, and a little behind: cheap enough for a look at every change."""

    def pids(self) -> frozenset[int]:
        """The program and everything it started."""

    @property
    def exit_code(self) -> int | None:
        """How the program ended; None while it lives."""

    async def write(self, data: bytes) -> None:
        """Input of a viewer, or of ours."""

    async def watch(self, want: Callable[[TuiState], bool]) -> TuiState:
        """Waits for a state that is wanted; raises `SideFailed` when the program ends first."""

    async def ready(self) -> TuiState:
        """Waits until it takes input; raises `SideFailed`."""

    async def settled(self) -> TuiState:
        """The state after the screen has come to rest from recent input and output."""

    async def press(self, keys: Sequence[Press]) -> None:
        """Sends keys with their pauses."""

    async def stop(self, *, clean: bool) -> str:
        """Ends the program (quit keys first if `clean`) and all its descendants; returns its last words."""

    def strike(self) -> None:
        """SIGKILL to all its processes, at once; whoever waits for their end sees it."""

    def last_words(self) -> str:
        """What it said after it had given the terminal back, as plain text."""

    async def ended(self) -> int:
        """Waits for the program's end by itself or by us."""


class ChatSide(Protocol):
    """The connector of the chat view."""

    abilities: Abilities
    version: str
    """What it says of its own version; empty if nothing."""
    sink: Callable[[Json], None]
    """Gets the params of every `session/update`, in order."""
    asker: "Asker | None"
    """Answers the agent's requests. Without one they wait for it if a conversation is open, and are answered
    `cancelled` if none is."""
    report: EndReport | None
    """How its processes ended, after `stop()`."""

    def pids(self) -> frozenset[int]:
        """The connector and everything it started."""

    async def sessions(self, until: str | None = None) -> list[Summary]:
        """Every agent session of the folder, newest first; no more than are needed to find `until`."""

    async def new(self, opened: Callable[[Json], None]) -> str:
        """Starts an agent session; its id.

        Here and below `opened` gets the agent's answer, before the sink gets what was sent after it.
        """

    async def load(self, session_id: str, opened: Callable[[Json], None]) -> None:
        """Opens an agent session with its history, which the sink gets before `opened` is called."""

    async def resume(self, session_id: str, opened: Callable[[Json], None]) -> None:
        """Opens an agent session without its history."""

    async def prompt(self, blocks: list[Json], sent: Callable[[], None]) -> PromptOutcome:
        """Runs one turn; `sent` is called once the message has been written to the agent."""

    async def cancel(self) -> None:
        """Asks for the end of the running turn."""

    async def set_option(self, option_id: str, value: str | bool, taken: Callable[[Json], None]) -> None:
        """Sets a config option; `taken` gets the agent's answer."""

    async def stop(self) -> None:
        """Closes the session where that is supported and ends the process and all its descendants."""

    async def kill(self) -> None:
        """Ends the process without ceremony; the open prompt fails."""

    def strike(self) -> None:
        """SIGKILL to all its processes, at once; whoever waits for their end sees it."""

    @property
    def over(self) -> bool:
        """Whether it has ended, as far as is known at this moment."""

    async def ended(self) -> str:
        """Waits for the connector's end and says why."""


class Asker(Protocol):
    """Who answers what the agent asks."""

    async def permission(self, params: Json) -> Json:
        """The outcome for `session/request_permission`."""

    async def form(self, params: Json) -> Json:
        """The answer for `elicitation/create`."""


class Sides(Protocol):
    """Opens sides: over real processes, or over scripts in tests."""

    def open_tui(
        self, plan: Plan, session_id: str | None, cols: int, rows: int
    ) -> AbstractAsyncContextManager[TuiSide]:
        """The TUI; with a session id it opens that conversation."""

    def open_chat(self, plan: Plan) -> AbstractAsyncContextManager[ChatSide]:
        """A connector that has answered `initialize` and opened nothing."""

    def missing_connector(self, plan: Plan) -> str | None:
        """Says that the ACP program is not there; None if something is, where the last look was at. Cheap."""

    async def obstacles(self, plan: Plan, side: Place) -> list[Obstacle]:
        """Why a side cannot start here, as far as that is known without starting it: by a new look at what
        the program's shell makes of its environment."""

    async def outdated(self, plan: Plan, chat: ChatSide) -> list[Outdated]:
        """The programs that are older than what the profile was tried with."""

    def openers(self, plan: Plan, session_id: str) -> Openers:
        """Who has the agent session open, ours and others, as far as can be seen: some milliseconds."""

    async def openers_aside(self, plan: Plan, session_id: str) -> Openers:
        """The same without holding anything up."""
