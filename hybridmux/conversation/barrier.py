"""The commit barrier: may a replayed history become the conversation that people see? Pure.

A replay is held against what we know: the user messages of the chat before it, and how many turns finished
in the terminal since. Agents write their stores late, so a replay that lacks the end is read again; they
also rewind, compact and drop interrupted turns, so a replay that merely differs is taken, with a notice.
A command is for the agent: it may be in no history, and it may change what is in it.

    whole     all that we know of is there
    changed   earlier messages are gone, later ones are there: rewound or compacted
    late      an interrupted turn is not there, or the last one before a command: agents may drop it, so it is
              waited for a little, not demanded
    behind    a turn that finished is not there
"""

from collections.abc import Callable, Sequence
from typing import Literal

from attrs import define, evolve, field, frozen

from hybridmux.budgets import HEARD_CHARS, HEARD_TEXTS
from hybridmux.conversation.stay import Stay

CLOCK_SLACK = 2.0
"""Seconds: agents keep whole seconds, and we see a turn's end a little late."""

WRAPPED_CHARS = 8

Verdict = Literal["whole", "changed", "late", "behind"]


def _plain(text: str) -> str:
    """What two tellings of one message have in common: its words, up to a length."""
    return " ".join(text.split())[:HEARD_CHARS]


@define
class Heard:
    """The user messages of one log, oldest first; bounded."""

    firm: list[str] = field(factory=list)
    """Messages that a later replay should hold."""
    loose: list[str] = field(factory=list)
    """Messages whose turn was cancelled or failed, and commands: agents may drop them."""
    hoped: list[str] = field(factory=list)
    """Of those the messages of the last turn, if that was cancelled or failed."""
    running: list[str] = field(factory=list)
    """Messages of the turn that runs."""
    fresh: bool = False
    """The last firm message was sent here and its turn finished; it did not come out of a replay."""
    commanded: bool = False
    """A command came after the last firm message; it may have taken that out, as one that compacts does."""

    def message(self, text: str, *, is_new: bool, in_turn: bool) -> None:
        """A user message, or the next piece of it; `in_turn`: of a turn here, not of a replay."""
        texts = self.running if in_turn else self.firm
        if is_new or not texts:
            texts.append(_plain(text))
        else:
            texts[-1] = _plain(f"{texts[-1]}{text}")
        self.fresh = self.fresh and in_turn
        del texts[:-HEARD_TEXTS]

    def turn_ended(self, *, well: bool, is_command: Callable[[str], bool] = lambda _: False) -> None:
        """The turn that ran is over."""
        commands = [text for text in self.running if is_command(text)]
        said = [text for text in self.running if not is_command(text)]
        self.hoped = [] if well else said
        if well and said:
            self.firm += said
            self.fresh, self.commanded = True, False
        self.loose += commands if well else self.running
        self.commanded = self.commanded or bool(commands)
        self.running = []
        for texts in (self.firm, self.loose):
            del texts[:-HEARD_TEXTS]


@frozen(kw_only=True)
class Known:
    """What the conversation must hold when it is read again."""

    session_id: str | None = None
    """The agent session that this is about, if that is known."""
    heard: Heard = field(factory=Heard)
    tools: bool = False
    """It has tool calls."""
    later: int = 0
    """Turns that finished in the terminal after those messages."""
    unfinished: int = 0
    """Turns that were interrupted in the terminal."""
    spoke: bool = False
    """A turn finished in the terminal, of an agent whose turns are not counted."""
    last_end: float | None = None
    """When the last turn ended that finished, wall-clock seconds."""
    updated: float = 0.0
    """When the agent says it last changed the conversation, wall-clock seconds; 0: it does not say."""

    def after(self, stay: Stay) -> "Known":
        """The same after a stay in the terminal."""
        if stay.session_id is not None and self.session_id not in (None, stay.session_id):
            return Known(
                session_id=stay.session_id,
                later=stay.finished,
                unfinished=stay.unfinished,
                spoke=stay.spoke,
                last_end=stay.finished_at,
            )
        return evolve(
            self,
            spoke=self.spoke or stay.spoke,
            session_id=stay.session_id or self.session_id,
            later=self.later + stay.finished,
            unfinished=self.unfinished + stay.unfinished,
            last_end=stay.finished_at or self.last_end,
        )

    def of(self, session_id: str) -> "Known":
        """The same if it is about this conversation; otherwise nothing is known of it."""
        return self if self.session_id in (None, session_id) else Known(session_id=session_id)

    @property
    def changed_since(self) -> bool:
        """The agent changed the conversation after its last turn: it was rewound or compacted, not late."""
        return self.last_end is not None and self.updated > self.last_end + CLOCK_SLACK


def judge(known: Known, replay: Heard) -> Verdict:
    """Holds the user messages of a replay against what is known."""
    if not replay.firm and (known.later or known.spoke):
        return "behind"  # whatever was rewound or compacted, this is no conversation
    after, lost = _place(known.heard.firm, replay.firm)
    if after is None:
        if known.later or not known.heard.fresh:
            return "changed"
        return "late" if known.heard.commanded else "behind"
    new = _new(replay.firm[after:], known.heard.loose)
    if new < known.later + known.unfinished:
        return "behind" if new < known.later else "late"
    if not known.later and _lacks(replay.firm, known.heard.hoped):
        return "late"
    is_whole_replay = len(replay.firm) < HEARD_TEXTS
    return "changed" if lost and is_whole_replay else "whole"


def _place(firm: Sequence[str], replay: Sequence[str]) -> tuple[int | None, bool]:
    """Where the replay goes on after our last message (None: that is not there), and whether any is lost.

    Our messages are looked for in their order, so that the third "go on" is not taken for the second.
    """
    after, lost = 0, False
    for index, text in enumerate(firm):
        found = next((at for at in range(after, len(replay)) if _same(text, replay[at])), None)
        if found is not None:
            after = found + 1
        elif index == len(firm) - 1:
            return None, True
        else:
            lost = True
    return after, lost


def _same(ours: str, theirs: str) -> bool:
    """Agents may wrap a message in words of their own; a short one would be found anywhere."""
    return ours == theirs or (len(ours) >= WRAPPED_CHARS and ours in theirs)


def _lacks(replay: Sequence[str], texts: Sequence[str]) -> bool:
    return not all(any(_same(one, text) for text in replay) for one in texts)


def _new(texts: Sequence[str], loose: Sequence[str]) -> int:
    return sum(not any(_same(one, text) for one in loose) for text in texts)
