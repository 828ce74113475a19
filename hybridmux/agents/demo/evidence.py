"""What the TUI tells its terminal about itself: a title (OSC 0) and an unasked report (OSC 7501); pure."""

from typing import NamedTuple

from hybridmux.agents.demo import limits

IDLE, WORKING, BLOCKED = "idle", "working", "blocked"
_SIGNS = {IDLE: "·", WORKING: "⠿", BLOCKED: "!"}
CLEAR_TITLE = "\x1b]0;\x07"


class Evidence(NamedTuple):
    """The state of the program at one moment."""

    state: str
    session: str
    title: str
    draft: bool
    stored: bool

    def osc_title(self) -> str:
        text = "".join(c for c in self.title if c.isprintable()) or "new session"
        return f"\x1b]0;Demo {_SIGNS[self.state]} {text}\x07"

    def report(self) -> str:
        """`draft`: something typed is not sent yet. `stored`: the session can be resumed."""
        flags = f"draft={self.draft:d}:stored={self.stored:d}"
        return f"\x1b]7501;state={self.state}:app={limits.NAME}:session={self.session}:{flags}\x1b\\"
