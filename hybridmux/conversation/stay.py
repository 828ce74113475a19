"""What was seen of one stay in the terminal: the turn now, and the turns that finished. Pure.

Only a profile whose agent states its turns (`report`) feeds this; for the others nothing is known and
nothing is demanded of a replay.
"""

from attrs import define

from hybridmux.agents.profile import TuiState, TurnState


@define
class Stay:
    """From the terminal's start, or from its change to another conversation, until now."""

    since: str
    """When the turn went into its state, UTC RFC 3339."""
    turn: TurnState = "unknown"
    session_id: str | None = None
    finished: int = 0
    """Turns that went from running to idle and that nobody interrupted."""
    finished_at: float | None = None
    """When the last of them did, wall-clock seconds."""

    def see(self, state: TuiState, *, interrupted: bool, now: str, clock: float) -> None:
        """One look at the terminal; `interrupted`: somebody pressed a key that ends turns in this one."""
        if state.session_id != self.session_id:
            self.session_id, self.finished, self.finished_at = state.session_id, 0, None
        if state.turn == self.turn:
            return
        if state.turn == "idle" and self.turn in ("running", "asking") and not interrupted:
            self.finished, self.finished_at = self.finished + 1, clock
        self.turn, self.since = state.turn, now
