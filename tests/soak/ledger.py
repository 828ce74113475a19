"""What was said in one session and what must have come of it; pure.

A message is *certain* (there once), *possible* (there at most once: its turn was killed, forced or broke,
or nobody knows yet), *waiting* (in the queue: not there), or *gone* (came back as a draft, was cleared or
counted as lost: not there). Texts are unique, but for a few whose number counts.
"""

from collections import Counter
from collections.abc import Iterable

from attrs import define, field, frozen


@frozen
class Difference:
    """What a conversation has too little or too much of."""

    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.doubled)


@define
class Ledger:
    """The messages of one session."""

    name: str
    certain: Counter[str] = field(factory=Counter)
    possible: Counter[str] = field(factory=Counter)
    waiting: list[str] = field(factory=list)
    gone: list[str] = field(factory=list)
    _count: int = 0

    def fresh(self) -> str:
        """A word that no other message has."""
        self._count += 1
        return f"{self.name}m{self._count:04d}"

    def sent(self, text: str) -> None:
        """It left for the agent; what comes of it is not known yet."""
        self.possible[text] += 1

    def kept(self, text: str) -> None:
        """The agent has it for certain."""
        self.possible[text] -= 1
        self.certain[text] += 1

    def queued(self, text: str) -> None:
        """It waits behind a turn."""
        self.waiting.append(text)

    def unsent(self, text: str) -> None:
        """It was thought to be on its way and waits at the head of the queue after all."""
        self.possible[text] -= 1
        self.waiting.insert(0, text)

    def left_queue(self, text: str) -> None:
        """It was taken out of the queue to be sent."""
        self.waiting.remove(text)
        self.sent(text)

    def came_back(self) -> list[str]:
        """What waited does not any more and was never sent; the texts."""
        back, self.waiting = self.waiting, []
        self.gone += back
        return back

    def compare(self, found: Iterable[str]) -> Difference:
        """The user's messages of a conversation against what was said."""
        there = Counter(found)
        lost = self.certain - there
        doubled = there - (self.certain + self.possible)
        return Difference(tuple(lost.elements()), tuple(doubled.elements()))

    @property
    def uncertain(self) -> int:
        """How many may be there or not."""
        return self.possible.total()
