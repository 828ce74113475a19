"""What a program writes, taken apart: what people see, its title, and what it says to us alone."""

from collections.abc import Callable

import trio

from hybridmux.budgets import OPENING_WAIT, SAFE_GRID, SCREEN_PAUSE, SCREEN_REST
from hybridmux.journal import ByteJournal
from hybridmux.terminal.markers import TITLE, Scanner, title
from hybridmux.terminal.modes import repair, setup
from hybridmux.terminal.private import ANSWER, QUERY, PrivateFilter
from hybridmux.terminal.questions import Questions
from hybridmux.terminal.screen import Screen


class Output:
    """The journal, the title, the agent state and the screen of one terminal."""

    def __init__(
        self, cols: int, rows: int, scrollback_bytes: int, *, listens: bool, viewers: Callable[[], int]
    ) -> None:
        """`listens`: say yes to a program that asks whether somebody listens to its agent state. `viewers`:
        how many look on now."""
        self.journal = ByteJournal(scrollback_bytes)
        self.title = ""
        self.osc7501: str | None = None
        self._private = PrivateFilter()
        self._scanner = Scanner(TITLE, keep=2 * scrollback_bytes // SAFE_GRID + 2)
        self.screen = Screen(self.journal, cols, rows, self._scanner)
        self._screen_work = trio.lowlevel.ParkingLot()
        self.questions = Questions(self.screen, viewers)
        self._listens = listens

    def take(self, data: bytes) -> None:
        """What has been read."""
        begin = self.journal.end
        shown, payloads = self._private.feed(data)
        self._show(shown)
        self.questions.listen(shown, begin)
        for payload in payloads:
            if payload != QUERY:
                self.osc7501 = payload.decode("utf-8", "replace")
            elif self._listens:
                self.questions.say(ANSWER)

    def _show(self, data: bytes) -> None:
        if data:
            self.journal.write(data)
            for event in self._scanner.feed(data):
                self.title = title(event)
            if self.screen.behind():
                self._screen_work.unpark_all()

    def safe_start(self) -> int:
        """The oldest position in the journal at which no sequence or character is cut; else the tail."""
        safe = self._scanner.first_safe(self.journal.tail)
        return self.journal.tail if safe is None else safe

    async def opening(self) -> tuple[int, bytes]:
        """`safe_start()`, and what a fresh terminal has to be fed before the output from there on because it
        was switched on before; empty at position 0."""
        if self.journal.tail:
            with trio.move_on_after(OPENING_WAIT):  # a flood has no end
                await self.screen.catch_up()
        start = self.safe_start()
        if not start:
            return 0, b""
        modes = self.screen.modes()
        return start, setup(modes, self.journal.read(start, self.journal.end - start))

    def repair(self) -> None:
        """Takes back what a killed program has left on in the terminals of those who look, as if it had done
        so itself; nothing where it did."""
        self._show(self._private.flush())
        back = repair(self.screen.modes())
        if back:
            cut = self._scanner.safe_end < self.journal.end
            self._show(b"\x18" + back if cut else back)

    def close(self) -> None:
        """Nothing more will come."""
        self._show(self._private.flush())
        self.journal.close()

    async def keep_screen(self) -> None:
        """Keeps the screen near the end of the output; a task of the terminal's life."""
        while True:
            await self._screen_work.park()
            leaps = -1
            while leaps != self.screen.leaps:  # not in a flood
                leaps = self.screen.leaps
                await trio.sleep(SCREEN_PAUSE)
            await self.screen.catch_up(rest=SCREEN_REST)
