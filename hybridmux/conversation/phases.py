"""The phase table: which steps an operation may take, in which order.

A session rests on a side (`tui`, `acp`) or is `ended`. An operation moves it through phases towards its
target; every move is checked against the table, so a wrong one raises in whatever test provokes it. While
the phase is None during a switch's precheck the session is untouched and still shows its side.

    tui → acp   interrupting → (awaiting_choice) → stopping → starting → loading → commit
    acp → tui   cancelling → stopping → starting → loading → commit
    resume      starting → loading → commit
    exit        the terminal's program has ended by itself
    failure     from stopping on: rolling_back → origin, or ended
"""

from collections.abc import Mapping
from enum import StrEnum

from hybridmux.errors import AgentFailed
from hybridmux.wire.types import PhaseName, Place, SideName


class Step(StrEnum):
    """A place to rest or a phase to pass."""

    TUI = "tui"
    ACP = "acp"
    ENDED = "ended"
    INTERRUPTING = "interrupting"
    AWAITING_CHOICE = "awaiting_choice"
    CANCELLING = "cancelling"
    STOPPING = "stopping"
    STARTING = "starting"
    LOADING = "loading"
    ROLLING_BACK = "rolling_back"


RESTING = frozenset({Step.TUI, Step.ACP, Step.ENDED})
UNTOUCHED = frozenset({Step.INTERRUPTING, Step.AWAITING_CHOICE, Step.CANCELLING})
"""The side that is to be left has not been touched: there is a way straight back."""
Table = Mapping[Step, frozenset[Step]]


def _table(**moves: str) -> Table:
    return {Step(name): frozenset(Step(word) for word in to.split()) for name, to in moves.items()}


TO_CHAT = _table(
    tui="interrupting awaiting_choice stopping ended",
    interrupting="awaiting_choice stopping tui ended",
    awaiting_choice="interrupting stopping tui ended",
    stopping="starting rolling_back ended",
    starting="loading rolling_back ended",
    loading="starting acp rolling_back ended",
    rolling_back="tui ended",
)
TO_TERMINAL = _table(
    acp="cancelling stopping ended",
    cancelling="stopping acp ended",
    stopping="starting rolling_back ended",
    starting="loading rolling_back ended",
    loading="tui rolling_back ended",
    rolling_back="acp ended",
)
RESUME = _table(ended="starting", starting="loading ended", loading="tui acp ended")
CLOSE = _table(
    tui="interrupting stopping ended",
    acp="cancelling stopping ended",
    interrupting="stopping tui",
    cancelling="stopping acp",
    stopping="ended",
)
EXIT = _table(tui="ended")
TABLES: Mapping[str, Table] = {
    "to_chat": TO_CHAT,
    "to_terminal": TO_TERMINAL,
    "resume": RESUME,
    "close": CLOSE,
    "exit": EXIT,
}


class IllegalMove(AssertionError):
    """The code tried a move that the table does not have: a bug."""


class PhaseTimeout(AgentFailed):
    """A phase ran into its deadline."""


class Position:
    """Where a session is; moves are checked against the running operation's table."""

    def __init__(self, step: Step, side: Place) -> None:
        self.step = step
        self._table: Table | None = None
        self.origin = Step(side)
        """The side it was on last: what an ended session shows."""

    @property
    def side(self) -> SideName:
        """The side as clients see it; an ended session shows the side it was on."""
        shown = self.origin if self.step is Step.ENDED else self.step
        if shown in (Step.TUI, Step.ACP):
            return "tui" if shown is Step.TUI else "acp"
        return "switching"

    @property
    def phase(self) -> PhaseName | None:
        """The phase as clients see it."""
        return None if self.step in RESTING else self.step.value  # type: ignore[return-value]  # checked by the enum

    def begin(self, operation: str) -> None:
        """An operation takes over; its table rules from now on."""
        self._table = TABLES[operation]
        if self.step not in RESTING:
            raise IllegalMove(f"{operation} begins in {self.step}")
        if self.step in (Step.TUI, Step.ACP):
            self.origin = self.step

    def move(self, step: Step) -> None:
        """Goes on to another step; raises `IllegalMove`."""
        if self._table is None or step not in self._table.get(self.step, frozenset()):
            raise IllegalMove(f"{self.step} → {step}")
        self.step = step

    def fall(self, place: Place) -> None:
        """The session ended outside an operation (its program did), or ends with the server."""
        self.origin = Step(place)
        self.step = Step.ENDED

    def finish(self) -> None:
        """The operation is over; nothing may move until the next one begins."""
        self._table = None


def mermaid() -> str:
    """The diagrams of the table, for the documentation."""
    parts = []
    for name, table in TABLES.items():
        lines = [f"**{name}**", "", "```mermaid", "stateDiagram-v2"]
        lines += [f"    {a.value} --> {b.value}" for a, to in table.items() for b in sorted(to)]
        parts.append("\n".join([*lines, "```"]))
    return "\n\n".join(parts) + "\n"
