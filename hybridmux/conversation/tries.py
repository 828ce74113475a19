"""Trying again within a deadline."""

from collections.abc import Iterator

import trio

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds between two tries; doubled each time."""


def pauses(seconds: float) -> Iterator[float | None]:
    """For each try the rest to take after it; None: it is the last one.

    Tries go on for so many seconds, and no longer than half of the deadline that is in force: the last one
    needs time too.
    """
    now = trio.current_time()
    until = min(now + seconds, (now + trio.current_effective_deadline()) / 2)
    pause = FIRST_PAUSE
    while trio.current_time() + pause <= until:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)
    yield None
