"""Has a program draw its whole screen again, for who came too late to see it drawn."""

from collections.abc import Callable

import trio

from hybridmux.budgets import REPAINT_PAUSE, REPAINT_REST, SIZE_MIN
from hybridmux.journal import ByteJournal
from hybridmux.terminal.pty import Pty


class Repainter:
    """A terminal that is a row smaller for a moment: the one thing that every full-screen program answers.

    The program alone is told: nobody who looks sees another size.
    """

    def __init__(self, pty: Pty, journal: ByteJournal, *, runs: Callable[[], bool]) -> None:
        """`runs`: whether the program has not ended."""
        self._pty = pty
        self._journal = journal
        self._runs = runs
        self._wanted = trio.Event()
        self._since = 0

    def want(self, position: int) -> None:
        """For one who reads from `position`; nothing if the program has been asked since that was written."""
        if position > self._since:
            self._wanted.set()

    async def keep(self) -> None:
        """Does what is wanted, with a rest in between; a task of the terminal's life."""
        while True:
            await self._wanted.wait()
            if self._runs():
                rows = self._pty.rows
                self._pty.tell(self._pty.cols, rows - 1 if rows > SIZE_MIN else rows + 1)
                # Sooner the two would be one to a program that looks at what the size is in the end.
                await trio.sleep(REPAINT_PAUSE)
            self._since = self._journal.end
            self._wanted = trio.Event()
            self._pty.tell(self._pty.cols, self._pty.rows)
            await trio.sleep(REPAINT_REST)
