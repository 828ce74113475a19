"""The text on a terminal's screen, drawn from its journal when somebody looks.

Most output is never looked at. So the model stays behind the journal and catches up on a look, or, in small
slices, when much has gathered. A flood is not drawn in full: plain text that only scrolls is skipped exactly,
up to its last rows; from anything else that is too far behind only what sets modes is taken from the part
left out. Slices are measured by what there was to do, not only by their bytes: a few of them may be about the
whole screen.
"""

import re
import time
from collections import deque

import trio

from hybridmux.budgets import (
    SCREEN_AHEAD,
    SCREEN_AT_ONCE,
    SCREEN_BEHIND,
    SCREEN_LEFT_OUT,
    SCREEN_NEAR,
    SCREEN_SLICE,
    SCREEN_WORK,
)
from hybridmux.journal import ByteJournal
from hybridmux.terminal.emulator import Emulator
from hybridmux.terminal.markers import Scanner
from hybridmux.terminal.modes import Modes

_SPECIAL = (b"\x1b", b"\xc2", b"\x0e", b"\x0f")
"""What may begin something that does more than print and scroll."""
_MODES = re.compile(
    rb"\x1b(?:\[(?:\??[0-9;]*[hl]|[<=>][0-9;]*u|>[0-9;]*[mn]|[0-9]* q|[0-9;]*r|!p)|\([0-9A-Z]|[c=>])"
)
_HINTS = (b"\x1b[?", b"\x1b[>", b"\x1b[<")
"""Programs that set modes set one of these too; looking for them alone is ten times as fast."""
_COUNTED = re.compile(rb"\x1b\[[<>][0-9]*u")
"""Those of them of which each one counts, and not only the last."""
_PIECE = 64 * 1024
_STEP = 64
"""Bytes drawn between two looks at how much work they were."""
_SIZES = 64


class Screen:
    """A model of the screen that follows `journal`."""

    def __init__(self, journal: ByteJournal, cols: int, rows: int, scanner: Scanner) -> None:
        """`scanner` follows the same output and knows where it may be cut."""
        self.journal = journal
        self._scanner = scanner
        self.position = journal.end
        """How far it has been drawn."""
        self.leaps = 0
        """How often the model skipped: moves on in a flood."""
        self._leaps_before = 0
        self._emulator = Emulator(cols, rows)
        self._sizes: deque[tuple[int, int, int]] = deque(maxlen=_SIZES)
        self._behind = min(SCREEN_BEHIND, journal.limit // 2)

    def text(self) -> str:
        """The rows without trailing blanks, down to the last that is not empty. Draws what is outstanding
        first, at once, or what is near the end where that is too much; `look()` does it in slices."""
        return "\n".join(self.lines()).rstrip("\n")

    def lines(self) -> list[str]:
        """As `text()`, but every row of the screen."""
        self._hurry()
        for near in (SCREEN_NEAR, 0):
            if not self._finish():
                self._leap(max(self.position, self.journal.end - near))
        self._finish()
        self._resize_until(self.position)
        return self._emulator.display.rows_text()

    def _finish(self) -> bool:
        """Draws what is outstanding; False if that is more than can be done at once."""
        until = self._emulator.work + SCREEN_AT_ONCE
        while self.position < self.journal.end and self._emulator.work < until:
            self._draw(_PIECE)
        return self.position == self.journal.end

    async def look(self) -> str:
        """`text()`, other tasks running in between."""
        await self.catch_up()
        return self.text()

    async def catch_up(self, rest: float = 0.0, until: int | None = None) -> None:
        """Draws what is outstanding (up to that position) in slices; after each it rests `rest` times as long
        as that took."""
        await trio.lowlevel.checkpoint()
        self._hurry()
        while (left := (self.journal.end if until is None else until) - self.position) > 0:
            began = time.perf_counter()
            self._draw(SCREEN_SLICE, left)
            await trio.sleep(rest * (time.perf_counter() - began))

    async def cursor_at(self, position: int) -> tuple[int, int]:
        """Row and column of the cursor as the program counts them, when the output had come to that position;
        later if more has been drawn."""
        await self.catch_up(until=position)
        self._resize_until(self.position)
        return self._emulator.display.reported_cursor()

    @property
    def alternate(self) -> bool:
        """Whether the program uses the alternate screen, as far as it has been drawn."""
        return self._emulator.display.alternate

    @property
    def bracketed_paste(self) -> bool:
        """Whether the program wants pastes marked (`CSI ? 2004 h`), as far as it has been drawn."""
        return self._emulator.display.bracketed_paste

    def modes(self) -> Modes:
        """What the program has switched on. Draws all that is outstanding first, at once."""
        self.lines()
        return self._emulator.display.modes()

    def resize(self, cols: int, rows: int) -> None:
        """The screen has this size from the journal's present end on.

        Of all sizes between which nothing was written two have the same effect: the smallest, which cuts, and
        the last.
        """
        end, least_cols, least_rows = self.journal.end, cols, rows
        while self._sizes and self._sizes[-1][0] == end:
            _, other_cols, other_rows = self._sizes.pop()
            least_cols, least_rows = min(least_cols, other_cols), min(least_rows, other_rows)
        if (least_cols, least_rows) != (cols, rows):
            self._sizes.append((end, least_cols, least_rows))
        self._sizes.append((end, cols, rows))

    def behind(self) -> bool:
        """Whether so much is outstanding that it should be caught up; call after each write to the journal.

        Keeps the model within reach of the journal's tail.
        """
        if self.journal.end - self.position > self._behind:
            self._leap(self.journal.end - self._behind // 2)
        return self.journal.end - self.position > SCREEN_AHEAD

    def _draw(self, at_most: int, left: int | None = None) -> None:
        """Draws one piece, after leaving out what would only scroll away; nothing that is not `left`."""
        self._resize_until(self.position)
        room = max(_PIECE, at_most) if left is None else min(max(_PIECE, at_most), left)
        if self._sizes:
            room = min(room, self._sizes[0][0] - self.position)
        data = self.journal.read(self.position, room)
        skipped = self._scrolled_away(data)
        if skipped:
            self._emulator.resync()
        done, stop = skipped, min(len(data), skipped + at_most)
        until = self._emulator.work + SCREEN_WORK
        while done < stop and self._emulator.work < until:
            piece = data[done : min(done + _STEP, stop)]
            self._emulator.feed(piece)
            done += len(piece)
        self.position += done

    def _scrolled_away(self, data: bytes) -> int:
        """How many bytes of `data` leave no trace: plain lines, two screenfuls before the end."""
        display = self._emulator.display
        if display.margins is not None or not self._emulator.in_text:
            return 0
        at = min((place for place in map(data.find, _SPECIAL) if place >= 0), default=len(data))
        for _ in range(2 * display.lines + 2):
            at = data.rfind(b"\r\n", 0, at)
            if at < 0:
                return 0
        return at + 2

    def _hurry(self) -> None:
        """After a leap nothing exact is left to lose: only what is near the end is drawn."""
        if self.leaps != self._leaps_before:
            self._leaps_before = self.leaps
            if self.journal.end - self.position > SCREEN_NEAR:
                self._leap(self.journal.end - SCREEN_NEAR)
                self._leaps_before = self.leaps

    def _leap(self, position: int) -> None:
        """Goes on at `position`, or soon after, and takes from what is left out only what sets modes."""
        self.leaps += 1
        safe = self._scanner.first_safe(position)
        # Without a safe place the rest is within one string, which is passed over fast.
        target = max(self.position, self._scanner.safe_end if safe is None else safe)
        left_out = self.journal.read(self.position, target - self.position)
        if left_out:
            self._emulator.resync()
        if any(hint in left_out for hint in _HINTS):
            self._emulator.feed(b"".join(_newest(_MODES.findall(left_out))))
        self.position = target
        self._resize_until(target)
        if safe is None:
            self._draw(self.journal.end - target)

    def _resize_until(self, position: int) -> None:
        while self._sizes and self._sizes[0][0] <= position:
            _, cols, rows = self._sizes.popleft()
            self._emulator.display.resize(rows, cols)


def _newest(sequences: list[bytes]) -> list[bytes]:
    """What has the same effect on modes: of each that only sets or resets the last one counts."""
    kept: list[bytes] = []
    seen: set[bytes] = set()
    for one in reversed(sequences):
        if one not in seen:
            kept.append(one)
            if not _COUNTED.fullmatch(one):
                seen.add(one)
    return kept[SCREEN_LEFT_OUT - 1 :: -1]
