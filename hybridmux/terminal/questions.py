"""What a program asks its terminal, answered here: at once and once, whoever looks on or nobody.

The cursor's place is such a question. A program that gets no answer waits for one (codex two seconds at each
change of size, and may take what is typed meanwhile only at the next key); from two viewers it would get two.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio
from attrs import frozen

from hybridmux.terminal.keyboard import InputStuck
from hybridmux.terminal.screen import Screen

_WAITING = 16
"""Questions: who asks faster than it reads has asked often enough."""


@frozen
class CursorQuestion:
    """Where the cursor is at a position of the output."""

    position: int
    dec: bool
    """Whether the answer has a `?`, as the question had."""


class Questions:
    """Answers in the order in which they were asked."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._add: trio.MemorySendChannel[bytes | CursorQuestion]
        self._add, self._due = trio.open_memory_channel[bytes | CursorQuestion](_WAITING)

    def add(self, question: bytes | CursorQuestion) -> None:
        """A question, or an answer that is known already."""
        with suppress(trio.WouldBlock):
            self._add.send_nowait(question)

    async def keep_answering(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Answers by `write`; a task of the terminal's life."""
        async for question in self._due:
            answer = question if isinstance(question, bytes) else await self._cursor(question)
            with suppress(trio.BrokenResourceError, InputStuck):
                await write(answer)

    async def _cursor(self, question: CursorQuestion) -> bytes:
        row, column = await self._screen.cursor_at(question.position)
        return b"\x1b[%s%d;%dR" % (b"?" if question.dec else b"", row, column)
