"""The question of `awaiting_choice`: wait, force or cancel. It is answered once, by whoever is first."""

import trio

from hybridmux.errors import Conflict


class Choice:
    """A place where one answer is waited for at a time."""

    def __init__(self) -> None:
        self._answered: trio.Event | None = None
        self._answer = ""

    def answer(self, answer: str) -> None:
        """Gives the answer; raises `Conflict` (answered) when nobody waits for one."""
        if self._answered is None or self._answered.is_set():
            raise Conflict("no switch waits for a choice", "answered")
        self._answer = answer
        self._answered.set()

    async def wait(self) -> str:
        """Waits for the answer."""
        self._answered = trio.Event()
        try:
            await self._answered.wait()
            return self._answer
        finally:
            self._answered = None
