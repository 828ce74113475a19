"""How long each move took, for the table at the end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import define, field


@define
class Moves:
    """Named stretches of time, in seconds."""

    agent: str
    taken: list[tuple[str, float]] = field(factory=list)

    @contextmanager
    def move(self, name: str) -> Iterator[None]:
        """Times the body."""
        began = time.monotonic()
        yield
        self.taken.append((name, time.monotonic() - began))

    def table(self) -> str:
        """One line for each move."""
        width = max(len(name) for name, _ in self.taken)
        rows = [f"  {name:<{width}}  {seconds:6.2f} s" for name, seconds in self.taken]
        return "\n".join([f"{self.agent}:", *rows])
