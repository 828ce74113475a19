"""What a program asks its terminal, answered here where nobody else does it.

The terminals of those who look on answer for themselves: in order with all else they are asked, and by their
own measure of characters. But nobody may be there, or only a program that draws nothing. A program that asks
where the cursor is may wait for that (codex two seconds at each change of size, and what is typed meanwhile
may show only with the next key). So when no answer has come in time it is given here, once, and one that
comes later goes nowhere.
"""

import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio
from attrs import define, field

from hybridmux.budgets import ANSWER_GRACE, ANSWER_LATE
from hybridmux.terminal.keyboard import InputStuck
from hybridmux.terminal.screen import Screen

_ASKED = re.compile(rb"\x1b\[(\??)6n")
_BEGUN = re.compile(rb"\x1b(?:\[(?:\??6?)?)?\Z")
_ANSWER = re.compile(rb"\x1b\[\??\d{1,5};\d{1,5}(?:;\d{1,5})?R")
"""F3 with a modifier looks the same: without a question it goes through."""
_WAITING = 16
"""Questions: who asks faster than it reads has asked often enough."""


@define(eq=False)
class _Question:
    """Where is the cursor?"""

    position: int
    """In the output, right behind the question."""
    dec: bool
    """Whether the answer has a `?`, as the question had."""
    due: float
    """When it is answered here, on Trio's clock."""
    answered: trio.Event = field(factory=trio.Event)


class Questions:
    """The questions of one program, and who has answered them."""

    def __init__(self, screen: Screen, viewers: Callable[[], int]) -> None:
        """`viewers`: how many look on now."""
        self._screen = screen
        self._viewers = viewers
        self._begun = b""
        self._waiting: deque[_Question] = deque()
        self._asked = trio.Event()
        self._late: deque[float] = deque()
        """Until when each answer that would be one too many may come."""
        self._answers: trio.MemorySendChannel[bytes]
        self._answers, self._due = trio.open_memory_channel[bytes](_WAITING)

    def say(self, answer: bytes) -> None:
        """An answer that is known at once."""
        with suppress(trio.WouldBlock):
            self._answers.send_nowait(answer)

    def listen(self, data: bytes, position: int) -> None:
        """Output that has been shown, and where it begins."""
        if self._begun:
            position -= len(self._begun)
            data = self._begun + data
        if b"\x1b" in data and b"6n" in data:
            for asked in _ASKED.finditer(data):
                self._ask(position + asked.end(), dec=bool(asked[1]))
        begun = _BEGUN.search(data, max(0, len(data) - 4))
        self._begun = begun[0] if begun else b""

    def _ask(self, position: int, *, dec: bool) -> None:
        if len(self._waiting) < _WAITING:
            due = trio.current_time() + (ANSWER_GRACE if self._viewers() else 0)
            self._waiting.append(_Question(position, dec, due))
            self._asked.set()

    def sift(self, data: bytes) -> bytes:
        """A viewer's input without answers that come too late, or once more from another viewer."""
        if b"R" not in data or not (self._waiting or self._late):
            return data
        return _ANSWER.sub(self._judge, data)

    def _judge(self, answer: re.Match[bytes]) -> bytes:
        open_now = next((one for one in self._waiting if not one.answered.is_set()), None)
        if open_now is not None:
            self._settle(open_now, self._viewers() - 1)
            return answer[0]
        self._forget()
        if not self._late:
            return answer[0]
        self._late.popleft()
        return b""

    def _settle(self, question: _Question, too_many: int) -> None:
        question.answered.set()
        self._forget()
        self._late.extend([trio.current_time() + ANSWER_LATE] * too_many)

    def _forget(self) -> None:
        """What is late by now will not come."""
        now = trio.current_time()
        while self._late and self._late[0] < now:
            self._late.popleft()

    async def run(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Answers by `write`; a task of the terminal's life."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write, write)
            nursery.start_soon(self._answer)

    async def _write(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        async for answer in self._due:
            with suppress(trio.BrokenResourceError, InputStuck):
                await write(answer)

    async def _answer(self) -> None:
        while True:
            await self._asked.wait()
            while self._waiting:
                await self._see_to(self._waiting[0])
                self._waiting.popleft()
            self._asked = trio.Event()

    async def _see_to(self, question: _Question) -> None:
        """Waits for a viewer's answer, then gives one."""
        with trio.move_on_at(question.due):
            await question.answered.wait()
        if not question.answered.is_set():
            row, column = await self._screen.cursor_at(question.position)
            if not question.answered.is_set():
                self._settle(question, self._viewers())
                self.say(b"\x1b[%s%d;%dR" % (b"?" if question.dec else b"", row, column))
