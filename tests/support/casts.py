"""The recordings of real agents in `fixtures/pty` and `fixtures/tui`, in asciicast v2."""

import json
from collections.abc import Iterator
from pathlib import Path

from hybridmux.agents.profile import Look
from hybridmux.budgets import MIB
from hybridmux.journal import ByteJournal
from hybridmux.terminal.markers import TITLE, Scanner, title
from hybridmux.terminal.private import QUERY, PrivateFilter
from hybridmux.terminal.screen import Screen

ROOT = Path(__file__).parents[2] / "fixtures"
FIXTURES = ROOT / "pty"
NAMES = sorted(str(file.relative_to(FIXTURES)) for file in FIXTURES.rglob("*.cast"))


def output(name: str) -> list[bytes]:
    """The pieces of output."""
    lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()
    return [data.encode() for _, kind, data in map(json.loads, lines[1:]) if kind == "o"]


def size(name: str) -> tuple[int, int]:
    """Columns and rows."""
    with (FIXTURES / name).open(encoding="utf-8") as file:
        head = json.loads(file.readline())
    return head["width"], head["height"]


class Film:
    """A recording that is played to moments of our choice, as a profile would see it."""

    def __init__(self, name: str) -> None:
        """`name` below `fixtures`: `tui/omp/approval.cast`."""
        head, *events = map(json.loads, (ROOT / name).read_text(encoding="utf-8").splitlines())
        self._events = [(at, data.encode()) for at, kind, data in events if kind == "o"]
        self.typed = [(at, data) for at, kind, data in events if kind == "i"]
        self._journal = ByteJournal(16 * MIB)
        self._scanner = Scanner(TITLE)
        self._screen = Screen(self._journal, head["width"], head["height"], self._scanner)
        self._private = PrivateFilter()
        self._title, self._report = "", None

    def until(self, moment: float) -> Look:
        """What is there at a moment; moments only go forward."""
        while self._events and self._events[0][0] <= moment:
            self._show(self._events.pop(0)[1])
        return Look(screen=self._screen.text(), title=self._title, report=self._report)

    def frames(self, step: float) -> Iterator[tuple[float, Look]]:
        """A look every `step` seconds."""
        length = self._events[-1][0]
        for number in range(1, int(length / step) + 1):
            yield number * step, self.until(number * step)

    def text(self) -> str:
        """All output that is for viewers, with its control sequences."""
        while self._events:
            self._show(self._events.pop(0)[1])
        return self._journal.read(self._journal.tail, self._journal.end).decode("utf-8", "replace")

    def _show(self, data: bytes) -> None:
        shown, payloads = self._private.feed(data)
        self._journal.write(shown)
        for osc in self._scanner.feed(shown):
            self._title = title(osc)
        for payload in payloads:
            if payload != QUERY:
                self._report = payload.decode("utf-8", "replace")
