"""Descriptors kept back: a server that has no other left can still look at its processes and end them.

Whoever runs out of descriptors cannot read `/proc` or open a pidfd either, and what it started would run on.
"""

import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
COUNT = 2
"""As many as one of these looks has open at once: a pidfd, and a file of `/proc`."""
SHORT = (errno.EMFILE, errno.ENFILE)

_held: list[int] = []
_lock = threading.RLock()


def with_spare(work: Callable[[], T]) -> T:
    """What `work` gives; when there is no descriptor for it, it is done once more in the place of the spare.

    It must have closed what it opened when it returns. Raises what `work` raises.
    """
    if not _held:
        _keep()
    try:
        return work()
    except OSError as error:
        if error.errno not in SHORT:
            raise
    with _lock:
        _give_up()
        try:
            return work()
        finally:
            _keep()


def _keep() -> None:
    with _lock, suppress(OSError):  # there may be none now; the next use tries again
        while len(_held) < COUNT:
            _held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))


def _give_up() -> None:
    while _held:
        os.close(_held.pop())


_keep()
