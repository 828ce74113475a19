"""What was seen of one stay in the terminal: the turn now, and the turns that have been. Pure.

Turns are counted only where each that the agent states is a message (`counts`): elsewhere a command may look
like one. Where the agent states them at all, a replay must at least have something (`spoke`).
"""

from attrs import define

from hybridmux.agents.profile import TuiState, TurnState

_BUSY = ("running", "asking")
FACTS = ("report", "registry")
"""Sources by which the agent itself states a turn."""


@define
class Stay:
    """From the terminal's start, or from its change to another conversation, until now."""

    since: str
    """When the turn went into its state, UTC RFC 3339."""
    counts: bool = True
    turn: TurnState = "unknown"
    session_id: str | None = None
    finished: int = 0
    """Turns that went from running to idle and that nobody interrupted."""
    finished_at: float | None = None
    """When the last of them did, wall-clock seconds."""
    stopped: int = 0
    """Turns that somebody interrupted."""
    prompted: bool = False
    """The agent stated a turn in this conversation after somebody pressed Enter: there is something in it.
    Without that it was none: codex counts its own start as work."""
    spoke: bool = False
    """One of them was not interrupted."""
    named: str | None = None
    """The newest conversation that was stated."""
    opened: float = 0.0
    """When the conversation was first seen, on Trio's clock."""

    def see(
        self,
        state: TuiState,
        *,
        interrupted: bool,
        now: str,
        clock: float,
        enter_at: float = -1.0,
        moment: float = 0.0,
    ) -> None:
        """One look at the terminal; `interrupted`: somebody pressed a key that ends turns in this one.

        `enter_at`, `moment`: when Enter was last pressed, and this look, on Trio's clock.
        """
        if state.session_id != self.session_id:
            self.session_id, self.finished, self.finished_at, self.stopped = state.session_id, 0, None, 0
        if state.session_id not in (None, self.named):  # for a moment a file may not be there to be read
            self.named, self.prompted, self.opened = state.session_id, False, moment
            self.spoke = False
        if state.turn in _BUSY and state.source in FACTS and enter_at >= self.opened:
            self.prompted = True
        if state.turn == self.turn:
            return
        if state.turn == "idle" and self.turn in _BUSY:
            self.spoke = self.spoke or (self.prompted and not interrupted)
            if self.counts and interrupted:
                self.stopped += 1
            elif self.counts:
                self.finished, self.finished_at = self.finished + 1, clock
        self.turn, self.since = state.turn, now

    @property
    def unfinished(self) -> int:
        """Turns that were interrupted, and the one that runs."""
        return self.stopped + (self.counts and self.turn in _BUSY)
