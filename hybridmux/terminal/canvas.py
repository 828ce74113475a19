"""pyte's screen over cells of our own: what is drawn, moved and erased.

pyte's own cells cost as much as a sequence can ask for, which is the whole screen again and again; its
buffer stays empty here. Added: SU/SD, REP, CBT/CHT, zero-width characters that do not combine (pyte drops the
rest of the text at one). Different: `CSI 3 J` clears only the scrollback, of which there is none.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby

from pyte import charsets as cs
from pyte import modes
from pyte.screens import Cursor, Screen, wcwidth

from hybridmux.terminal.cells import Cells, Row

_LOOKED_AT = 8
"""What finding out the width of a character costs, as much as drawing so many."""
_COMBINED = 8
"""Characters in one cell; a stream of accents would make it grow without end."""


class _Unnoted(set[int]):
    """pyte's list of changed rows: nobody reads it, and it notes all of them one by one, again and again."""

    def update(self, *_: Iterable[int]) -> None:
        pass


class Canvas(Screen):
    """Rows and columns of cells, and a cursor. Its methods are called by the emulator."""

    def __init__(self, cols: int, rows: int) -> None:
        self.cells = Cells(cols, rows)
        super().__init__(cols, rows)
        self.dirty = _Unnoted()

    def reset(self) -> None:
        super().reset()
        self.cells.clear()
        self._stops = list(range(8, self.columns, 8))
        self.forget()

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        lines, columns = lines or self.lines, columns or self.columns
        self.cells.widen(columns)
        self.cells.rows = self.fitted(self.cells.rows, self.cursor, lines)
        grown = range(8 * (self.columns // 8 + 1), columns, 8)
        self._stops = sorted({*self._stops, *grown})
        self.lines, self.columns = lines, columns
        self.margins = None
        self.keep_inside()

    def fitted(self, rows: list[Row], cursor: Cursor, lines: int) -> list[Row]:
        """Rows for the size that is coming: what is above goes, so that the cursor's row stays."""
        above = max(0, cursor.y - lines + 1)
        cursor.y -= above
        return self.cells.fitted(rows[above:], lines)

    def keep_inside(self) -> None:
        """The cursor."""
        self.ensure_hbounds()
        self.ensure_vbounds()

    # Text.

    def rows_text(self) -> list[str]:
        """The text of each row without trailing blanks, as many as the screen has."""
        return self.cells.text()

    def draw(self, data: str) -> None:
        """Draws text without control characters at the cursor."""
        charset = self.g1_charset if self.charset else self.g0_charset
        if charset is not cs.LAT1_MAP:
            data = data.translate(charset)
        if data.isascii():
            self._write(data, 1)
            return
        self.cells.work += _LOOKED_AT * len(data)
        for width, run in groupby(data, wcwidth):
            if width > 0:
                self._write("".join(run), width)
            else:
                self._combine(run)

    def _write(self, text: str, width: int) -> None:
        """Characters of one width."""
        done = 0
        while done < len(text):
            self._wrap(width)
            part = text[done : done + (self.columns - self.cursor.x) // width]
            done += len(part)
            self._put(part, width)
        if text:
            self._last = text[-1], width

    def _put(self, part: Sequence[str], width: int) -> None:
        """Characters for which there is room."""
        cells = part if width == 1 else [cell for char in part for cell in (char, "")]
        self.cells.put(self.cursor.y, self.cursor.x, cells, insert=modes.IRM in self.mode)
        self.cursor.x += len(cells)

    def _wrap(self, width: int) -> None:
        """Makes room for one character, on the next line if need be."""
        if self.cursor.x + width <= self.columns:
            return
        if modes.DECAWM in self.mode:
            self.cells.erase(self.cursor.y, self.cursor.x, self.columns)
            self.carriage_return()
            self.index()
        else:
            self.cursor.x = self.columns - width

    def _combine(self, accents: Iterable[str]) -> None:
        """What neither advances nor combines is not drawn."""
        for accent in accents:
            if self.cursor.x and unicodedata.combining(accent):
                cell = self.cells.add(self.cursor.y, self.cursor.x, accent, _COMBINED)
                self._last = cell, self._last[1]

    def repeat(self, count: int = 1) -> None:
        """REP: the character that was drawn just before, as often again, with all that wraps.

        Of what has scrolled away by the end, or is written over, nothing is drawn.
        """
        cell, width = self._last
        if not cell:
            return
        self._wrap(width)
        first = min(count or 1, (self.columns - self.cursor.x) // width)
        self._put([cell] * first, width)
        rest = (count or 1) - first
        if rest and modes.DECAWM not in self.mode:
            rest = 1
        if rest:
            lines, last = divmod(rest - 1, self.columns // width)
            self._full_lines(lines, self.cells.full(cell, width))
            self._wrap(width)
            self._put([cell] * (last + 1), width)

    def _full_lines(self, count: int, row: tuple[str, ...]) -> None:
        """As if the cursor had gone through so many lines below it, each filled in this way."""
        if not count:
            return
        self._wrap(self.columns)
        self.cells.fill(self.cursor.y, self.cursor.y + 1, row)
        top, stop = self._region()
        down = min(count - 1, (stop if self.cursor.y < stop else self.lines) - 1 - self.cursor.y)
        self.cells.fill(self.cursor.y + 1, self.cursor.y + 1 + down, row)
        self.cursor.y += down
        if self.cursor.y == stop - 1:
            again = count - 1 - down
            self.cells.shift(top, stop, again)
            self.cells.fill(max(top, stop - again), stop, row)
        self.cursor.x = self.columns

    def forget(self) -> None:
        """What comes next does not follow a character directly: there is nothing to repeat."""
        self._last = "", 1

    # Rows.

    def _margins(self) -> tuple[int, int]:
        return self.margins or (0, self.lines - 1)

    def _region(self) -> tuple[int, int]:
        """The rows that scroll; the end is exclusive."""
        top, bottom = self._margins()
        return top, bottom + 1

    def scroll_up(self, count: int = 1) -> None:
        """SU: the scrolling region moves up."""
        self.cells.shift(*self._region(), count or 1)

    def scroll_down(self, count: int = 1) -> None:
        """SD: the scrolling region moves down."""
        self.cells.shift(*self._region(), -(count or 1))

    def insert_lines(self, count: int | None = 1) -> None:
        self._shift_here(-(count or 1))

    def delete_lines(self, count: int | None = 1) -> None:
        self._shift_here(count or 1)

    def _shift_here(self, count: int) -> None:
        top, stop = self._region()
        if top <= self.cursor.y < stop:
            self.cells.shift(self.cursor.y, stop, count)
            self.carriage_return()

    def index(self) -> None:
        top, stop = self._region()
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        if self.cursor.y == stop - 1:
            self.cells.shift(top, stop, 1)
        elif self.cursor.y < self.lines - 1:
            self.cursor.y += 1

    def reverse_index(self) -> None:
        top, stop = self._region()
        if self.cursor.y == top:
            self.cells.shift(top, stop, -1)
        elif self.cursor.y > 0:
            self.cursor.y -= 1

    def next_line(self) -> None:
        """NEL."""
        self.carriage_return()
        self.index()

    # Cursor.

    def _origin(self) -> int:
        """The row that the program calls the first."""
        return self.margins.top if self.margins and modes.DECOM in self.mode else 0

    def cursor_to_line(self, line: int | None = 1) -> None:
        self.cursor.y = (line or 1) - 1 + self._origin()
        self.ensure_vbounds()

    def reported_cursor(self) -> tuple[int, int]:
        """Row and column of the cursor as the program counts, from 1; behind the last column is on it."""
        return self.cursor.y - self._origin() + 1, min(self.cursor.x, self.columns - 1) + 1

    def tab(self) -> None:
        self.tabs()

    def tabs(self, count: int = 1) -> None:
        """CHT: forward by tab stops."""
        at = bisect_right(self._stops, self.cursor.x) + (count or 1) - 1
        self.cursor.x = min(self._stops[at] if at < len(self._stops) else self.columns, self.columns - 1)

    def back_tabs(self, count: int = 1) -> None:
        """CBT: back by tab stops."""
        at = bisect_left(self._stops, self.cursor.x) - (count or 1)
        self.cursor.x = self._stops[at] if at >= 0 else 0

    def set_tab_stop(self) -> None:
        at = bisect_left(self._stops, self.cursor.x)
        if self.cursor.x not in self._stops[at : at + 1]:
            self._stops.insert(at, self.cursor.x)

    def clear_tab_stop(self, how: int = 0) -> None:
        at = bisect_left(self._stops, self.cursor.x)
        if how == 3:
            self._stops.clear()
        elif how == 0 and self.cursor.x in self._stops[at : at + 1]:
            del self._stops[at]

    # Within a line.

    def insert_characters(self, count: int | None = 1) -> None:
        self.ensure_hbounds()
        x, y = self.cursor.x, self.cursor.y
        self.cells.put(y, x, [" "] * min(count or 1, self.columns - x), insert=True)

    def delete_characters(self, count: int | None = 1) -> None:
        self.ensure_hbounds()
        self.cells.delete(self.cursor.y, self.cursor.x, count or 1)

    # Erasing.

    def alignment_display(self) -> None:
        self.cells.fill(0, self.lines, self.cells.full("E"))
        self.cursor_position()

    def erase_characters(self, count: int | None = 1) -> None:
        self.ensure_hbounds()
        self.cells.erase(self.cursor.y, self.cursor.x, min(self.cursor.x + (count or 1), self.columns))

    def erase_in_display(self, how: int = 0, *_: object, **__: object) -> None:
        rows = {0: (self.cursor.y + 1, self.lines), 1: (0, self.cursor.y), 2: (0, self.lines)}.get(how)
        if rows:
            self.cells.fill(*rows, self.cells.blank)
        if how in (0, 1):
            self.erase_in_line(how)

    def erase_in_line(self, how: int = 0, _private: bool = False) -> None:
        x, end = self.cursor.x, self.columns
        cells = {0: (x, end), 1: (0, min(x + 1, end)), 2: (0, end)}.get(how)
        if cells:
            self.cells.erase(self.cursor.y, *cells)
