"""The rows of cells on a screen, at a cost that any output can be allowed to cause.

A sequence of three bytes may be about every cell there is. So a row that nobody has written in since it was
filled is a tuple that many rows share, rows move by moving references, and what happens to a row happens in
one piece. What is drawn is counted (`work`), so that whoever feeds a screen can stop in time.
"""

from collections.abc import Sequence
from unicodedata import normalize

Row = list[str] | tuple[str, ...]
"""A cell is a character with its accents. A wide one is followed by an empty cell."""
_BULK = 16
"""So many cells moved in one piece cost as much as one that is drawn by itself."""


class Cells:
    """`columns` x `lines` cells; positions are from 0, ends are exclusive and within the screen."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns = columns
        self.work = 0
        """Grows with all that is done: 1 is one cell drawn."""
        self.blank = self.full(" ")
        self.rows: list[Row] = [self.blank] * lines

    def clear(self) -> None:
        """New, blank rows; those before are the caller's."""
        self._moved(len(self.rows))
        self.rows = [self.blank] * len(self.rows)

    def full(self, cell: str, width: int = 1) -> tuple[str, ...]:
        """A row of nothing but this cell."""
        self._moved(self.columns)
        whole = (cell, "") if width == 2 else (cell,)
        return whole * (self.columns // width) + (" ",) * (self.columns % width)

    def text(self) -> list[str]:
        """The text of each row without trailing blanks."""
        return ["".join(row).rstrip() for row in self.rows]

    # Within a row.

    def put(self, y: int, x: int, cells: Sequence[str], *, insert: bool = False) -> None:
        """Writes them at `x`, over what is there or, with `insert`, before it."""
        row = self._own(y)
        self.work += len(cells)
        self._cut(row, x)
        if insert:
            row[x:x] = cells
            self._trim(row)
        else:
            self._cut(row, x + len(cells))
            row[x : x + len(cells)] = cells

    def add(self, y: int, x: int, accent: str, most: int) -> str:
        """Puts an accent on the character before `x`, up to `most` characters in all, and gives its cell."""
        row = self._own(y)
        at = x - 2 if x > 1 and not row[x - 1] else x - 1
        if len(row[at]) < most:
            row[at] = normalize("NFC", row[at] + accent)
        return row[at]

    def erase(self, y: int, start: int, stop: int) -> None:
        """Blanks."""
        if stop - start == self.columns:
            self.rows[y] = self.blank
            self._moved(1)
        elif start < stop:
            self.put(y, start, [" "] * (stop - start))

    def delete(self, y: int, x: int, count: int) -> None:
        """Takes cells away; those on their right move up and blanks come in."""
        row = self._own(y)
        self._moved(self.columns - x)
        count = min(count, self.columns - x)
        self._cut(row, x)
        self._cut(row, x + count)
        del row[x : x + count]
        row += [" "] * count

    def _own(self, y: int) -> list[str]:
        """The row, for writing in it."""
        row = self.rows[y]
        if isinstance(row, tuple):
            self._moved(self.columns)
            row = self.rows[y] = list(row)
        return row

    def _cut(self, row: list[str], x: int) -> None:
        """Nothing is left of a wide character that the edge before `x` goes through."""
        if 0 < x < len(row) and not row[x]:
            row[x - 1] = row[x] = " "

    def _trim(self, row: list[str]) -> None:
        self._cut(row, self.columns)
        del row[self.columns :]

    # Whole rows.

    def fill(self, top: int, stop: int, row: tuple[str, ...]) -> None:
        """Makes the same of all these rows."""
        self._moved(stop - top)
        self.rows[top:stop] = [row] * (stop - top)

    def shift(self, top: int, stop: int, count: int) -> None:
        """Moves the rows up by `count` (down, if negative); blank rows come in."""
        number = min(abs(count), stop - top)
        blank = [self.blank] * number
        self._moved(number)
        if count > 0:
            del self.rows[top : top + number]
            self.rows[stop - number : stop - number] = blank
        else:
            del self.rows[stop - number : stop]
            self.rows[top:top] = blank

    def widen(self, columns: int) -> None:
        """From here on rows have so many columns; those that are there want to be `fitted`."""
        self.columns = columns
        self.blank = self.full(" ")

    def fitted(self, rows: Sequence[Row], lines: int) -> list[Row]:
        """These rows with as many columns, and as many of them as asked for; cut or blank at the end."""
        known: dict[int, Row] = {}
        for row in rows[:lines]:
            if id(row) not in known:
                known[id(row)] = self._fit(row)
        fitting = [known[id(row)] for row in rows[:lines]]
        return fitting + [self.blank] * (lines - len(fitting))

    def _fit(self, row: Row) -> Row:
        self._moved(self.columns)
        fitting = [*row, *[" "] * (self.columns - len(row))]
        self._trim(fitting)
        return tuple(fitting)

    def _moved(self, cells: int) -> None:
        self.work += 1 + cells // _BULK
