"""The play behind scripted sides.

`World` is what the agent has stored, what each program does when it is asked something, and the list of what
happened. It checks the rules that no test may break: never two programs on a conversation, never a load or a
resume while a prompt is open, never two of them on one connection.
"""

from collections.abc import Callable

import trio
from attrs import define, field

from hybridmux.agents.profile import Source
from hybridmux.store.records import Record
from hybridmux.wire.chat import Outdated

ID = "demo_1"


@define
class World:
    """What the programs of one play do. A behaviour is `ok`, `hang`, an exception, or an async function."""

    id: str = ID
    """The agent session."""
    turn: str = "idle"
    """The terminal's turn when it starts."""
    source: Source = "report"
    """What the terminal's turn is read from."""
    stored: bool = True
    not_root: bool = False
    """Several of the terminal's programs could be the agent."""
    interrupt: str = "ok"
    quit: str = "ok"
    farewell: str = ""
    tui_starts: list[object] = field(factory=list)
    """Behaviours of the coming TUI starts, in order; `ok` when used up."""
    initialize: object = "ok"
    list_: object = "ok"
    new: object = "ok"
    load: object = "ok"
    resume: object = "ok"
    prompt: object = "ok"
    cancel: str = "ok"
    can_load: bool = True
    can_resume: bool = True
    replays_on_resume: bool = False
    """Against the rule."""
    answers: bool = True
    """Prompts get an answer with text."""
    uses_tools: bool = False
    """Prompts call a tool, which no replay shows."""
    remembers: bool = False
    """Prompts are in later replays."""
    draft: bool | None = None
    """What the terminal says of unsent text."""
    delay: Callable[[], float] = float
    """Seconds that each start, stop and call takes."""
    prompts_open: int = 0
    missing: str | None = None
    """Why the connector cannot be started."""
    no_program: str | None = None
    """The same for the terminal's program."""
    outdated: list[Outdated] = field(factory=list)
    elsewhere: set[str] = field(factory=set)
    """Agent sessions that programs of others have open."""
    looks: int = 0
    """How often somebody asked for them."""
    listed: list[str] = field(factory=lambda: [ID])
    """The agent sessions of the folder."""
    history: list[str] = field(factory=lambda: ["hello"])
    lag: int = 0
    """So many loads leave the last message out."""
    refusals: int = 0
    """So many loads find an active writer."""
    updated_at: str | None = None
    """What the agent's list says of when the conversation was changed."""
    updated: dict[str, str] = field(factory=dict)
    """The same for one conversation each."""
    early: bool = False
    """The terminal states a conversation before the first prompt, and never whether that can be opened."""
    silent: bool = False
    """The terminal does not state which conversation it has open."""
    stores_at_end: bool = False
    """The end of a turn stores its conversation."""
    options: dict[str, str | bool] = field(factory=dict)
    """The config options of a connector that has just opened a conversation."""
    refused: set[str] = field(factory=set)
    """Options that cannot be set."""
    reopens: bool = True
    """A conversation without a prompt can be opened again, and is listed."""
    prompted: set[str] = field(factory=set)
    """Conversations that are stored; only counts where `reopens` is false."""
    begun: int = 0
    """So many conversations have been begun where `reopens` is false."""
    store_fails_at: str | None = None
    """The activity or side whose record cannot be written."""
    happened: list[str] = field(factory=list)
    prompts: list[str] = field(factory=list)
    """What reached the agent, in order."""
    writers: set[str] = field(factory=set)
    violations: list[str] = field(factory=list)
    """Two programs on one conversation."""
    records: dict[str, Record] = field(factory=dict)

    def note(self, what: str) -> None:
        self.happened.append(what)

    def begin(self) -> str:
        """The id of a new conversation."""
        if self.reopens:
            return self.id
        self.begun += 1
        return f"{self.id}_{self.begun}"

    def sessions(self) -> list[str]:
        return self.listed if self.reopens else sorted(self.prompted)

    def reopen(self, session_id: str) -> None:
        """An agent that cannot reopen such a conversation is never asked to."""
        if not self.reopens and session_id not in self.prompted:
            self.violations.append(f"{session_id} has no prompt")
        assert not self.violations, self.violations

    def enter(self, who: str) -> None:
        self.require(not self.writers, f"{who} opens a conversation that {self.writers} has open")
        self.require(not self.prompts_open, f"{who} opens a conversation in the middle of a turn")
        self.writers.add(who)

    def require(self, holds: bool, rule: str) -> None:
        """Remembered, because a session survives what its programs raise."""
        if not holds:
            self.violations.append(rule)
            raise AssertionError(rule)


async def behave(behaviour: object) -> None:
    """Does what the script says."""
    await trio.lowlevel.checkpoint()
    if behaviour == "hang":
        await trio.sleep_forever()
    if isinstance(behaviour, Exception):
        raise behaviour
    if callable(behaviour):
        await behaviour()
