"""How far a PTY may be read ahead of those who watch it.

The fastest viewer that keeps up sets the pace: the reader is never more than `PACE_LEAD` ahead of it, so it
misses nothing. One that makes no progress for a while stops counting until it moves again, so that nobody can
stop the program for the others, or for ever. With nobody watching there is no limit.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from hybridmux.budgets import PACE_LEAD


class Viewer:
    """One who watches. Sets `position` to what it has taken (sent, or acknowledged)."""

    def __init__(self, pace: "Pace", position: int) -> None:
        self._pace = pace
        self._position = position
        self.moved_at = trio.current_time()
        self.stalled = False

    @property
    def position(self) -> int:
        """The journal position up to which it has taken the output."""
        return self._position

    @position.setter
    def position(self, value: int) -> None:
        if value != self._position:
            self._position = value
            self.moved_at = trio.current_time()
            self.stalled = False
            self._pace.wake()


class Pace:
    """The viewers of one terminal, and the reader's wait for them."""

    def __init__(self, patience: float, lead: int = PACE_LEAD) -> None:
        self._patience = patience
        self._lead = lead
        self._viewers: set[Viewer] = set()
        self._lot = trio.lowlevel.ParkingLot()
        self._off = False

    @contextmanager
    def viewer(self, position: int) -> Iterator[Viewer]:
        """A viewer that counts from here on, at `position`."""
        viewer = Viewer(self, position)
        self._viewers.add(viewer)
        try:
            yield viewer
        finally:
            self._viewers.discard(viewer)
            self.wake()

    def viewers(self) -> int:
        """How many there are."""
        return len(self._viewers)

    def wake(self) -> None:
        """Something changed for the reader that waits."""
        self._lot.unpark_all()

    def off(self) -> None:
        """From now on the reader waits for nobody."""
        self._off = True
        self.wake()

    async def wait(self, end: int) -> None:
        """Waits until the reader, at `end`, may read more. A checkpoint only if it has to wait."""
        began = trio.current_time()
        while (leader := self._leader()) and end - leader.position > self._lead:
            patience_ends = max(began, leader.moved_at) + self._patience
            with trio.move_on_at(patience_ends):
                await self._lot.park()
            leader.stalled = (
                leader.stalled or trio.current_time() >= max(began, leader.moved_at) + self._patience
            )

    def _leader(self) -> Viewer | None:
        """The one that is furthest among those that count."""
        counting = [one for one in self._viewers if not one.stalled and not self._off]
        return max(counting, key=lambda one: one.position, default=None)
