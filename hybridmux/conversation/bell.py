"""Waking viewers: a counter that rises with every change, and a place to wait for it."""

import trio


class Bell:
    """`version` rises at each `ring()`; `wait(seen)` returns when it is above `seen`."""

    def __init__(self) -> None:
        self.version = 0
        self._lot = trio.lowlevel.ParkingLot()

    def ring(self) -> None:
        """Something changed."""
        self.version += 1
        self._lot.unpark_all()

    async def wait(self, seen: int) -> int:
        """Waits for a change after `seen` and returns the version; always a checkpoint."""
        await trio.lowlevel.checkpoint()
        while self.version <= seen:
            await self._lot.park()
        return self.version
