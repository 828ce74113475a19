"""pyte's screen with what real terminal programs need beyond it, and without what stops it.

Added: the alternate screen, SU/SD, REP, CBT/CHT, soft reset, zero-width characters that do not combine (pyte
drops the rest of the text at one). Different: one saved cursor as terminals have, not a stack that grows; a
shrinking screen keeps its cursor inside; `CSI 3 J` clears only the scrollback, of which there is none; no
switch to 132 columns, which terminals refuse unless asked.
"""

import unicodedata
from collections import defaultdict
from copy import copy
from typing import Any

from pyte import charsets as cs
from pyte import modes
from pyte.screens import Char, Cursor, Screen, StaticDefaultDict, wcwidth

from hybridmux.terminal.modes import Inputs, Keys, Modes

_ALTERNATE = {47, 1047, 1049}
_REFUSED = {modes.DECCOLM >> 5}
_BRACKETED_PASTE = 2004 << 5
_SOFT = {1 << 5, modes.DECOM, modes.IRM, 66 << 5}
"""What DECSTR turns off; the mouse, pastes and the like stay as they are."""
_COMBINED = 8
"""Characters in one cell; a stream of accents would make it grow without end."""


class Display(Screen):
    """Rows and columns of cells. Its methods are called by the emulator."""

    def __init__(self, cols: int, rows: int) -> None:
        self._main: tuple[Any, Cursor] | None = None
        self._last = " "
        super().__init__(cols, rows)

    # What one can see.

    @property
    def alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return self._main is not None

    @property
    def bracketed_paste(self) -> bool:
        """Whether the program asked for pasted text to be marked."""
        return _BRACKETED_PASTE in self.mode

    def modes(self) -> Modes:
        """What the program has switched on."""
        inputs = self.inputs
        return Modes(
            private=frozenset(one >> 5 for one in self.mode if one >= 1 << 5),
            ansi=frozenset(one for one in self.mode if one < 1 << 5),
            alternate=self.alternate,
            margins=self.margins is not None,
            graphics=self.cursor.attrs != self.default_char,
            charset=bool(self.charset) or self.g0_charset is not cs.LAT1_MAP,
            keys=inputs.keys,
            modified=inputs.modified,
            keypad=inputs.keypad,
            shape=inputs.shape,
        )

    def rows_text(self) -> list[str]:
        """The text of each row without trailing blanks, as many as the screen has."""
        return [self._row_text(self.buffer.get(y)) for y in range(self.lines)]

    def _row_text(self, row: StaticDefaultDict[int, Char] | None) -> str:
        if not row:
            return ""
        return "".join([row[x].data for x in range(self.columns)]).rstrip()

    # Text.

    def draw(self, data: str) -> None:
        """Draws text without control characters at the cursor."""
        if not data.isascii():
            data = self._drawable(data)
        if data:
            self._last = data[-1]
            super().draw(data)

    def _drawable(self, data: str) -> str:
        """Without what neither advances nor combines, and without the ninth accent on a letter."""
        x = self.cursor.x
        room = _COMBINED - (len(self.buffer[self.cursor.y][x - 1].data) if x else 0)
        kept: list[str] = []
        for char in data:
            if wcwidth(char) > 0:
                room = _COMBINED - 1
            elif unicodedata.combining(char) and room > 0:
                room -= 1
            else:
                continue
            kept.append(char)
        return "".join(kept)

    def repeat(self, count: int = 1) -> None:
        """REP: draws the last character again."""
        self.draw(self._last * min(count or 1, self.columns * self.lines))

    # Rows.

    def _shift(self, top: int, bottom: int, count: int) -> None:
        """Moves the rows `top`..`bottom` up by `count` (down, if negative); blank rows come in."""
        old = {y: self.buffer.pop(y) for y in range(top, bottom + 1) if y in self.buffer}
        for y, row in old.items():
            if top <= y - count <= bottom:
                self.buffer[y - count] = row

    def _margins(self) -> tuple[int, int]:
        return self.margins or (0, self.lines - 1)

    def scroll_up(self, count: int = 1) -> None:
        """SU: the scrolling region moves up."""
        self._shift(*self._margins(), count or 1)

    def scroll_down(self, count: int = 1) -> None:
        """SD: the scrolling region moves down."""
        self._shift(*self._margins(), -(count or 1))

    def insert_lines(self, count: int | None = 1) -> None:
        top, bottom = self._margins()
        if top <= self.cursor.y <= bottom:
            self._shift(self.cursor.y, bottom, -(count or 1))
            self.carriage_return()

    def delete_lines(self, count: int | None = 1) -> None:
        top, bottom = self._margins()
        if top <= self.cursor.y <= bottom:
            self._shift(self.cursor.y, bottom, count or 1)
            self.carriage_return()

    def next_line(self) -> None:
        """NEL."""
        self.carriage_return()
        self.index()

    # Cursor.

    def save_cursor(self) -> None:
        super().save_cursor()
        del self.savepoints[:-1]

    def restore_cursor(self) -> None:
        saved = list(self.savepoints)
        super().restore_cursor()
        self.savepoints = saved
        self.cursor = copy(self.cursor)

    def cursor_to_line(self, line: int | None = 1) -> None:
        origin = self.margins.top if self.margins and modes.DECOM in self.mode else 0
        self.cursor.y = (line or 1) - 1 + origin
        self.ensure_vbounds()

    def tabs(self, count: int = 1) -> None:
        """CHT: forward by tab stops."""
        for _ in range(min(count or 1, self.columns)):
            self.tab()

    def back_tabs(self, count: int = 1) -> None:
        """CBT: back by tab stops."""
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    # Erasing.

    def erase_in_display(self, how: int = 0, *_: object, **__: object) -> None:
        if how in (0, 1, 2):
            super().erase_in_display(how)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        if how in (0, 1, 2):
            super().erase_in_line(how, private)

    # Modes.

    def set_mode(self, *numbers: int, private: bool = False, **_: object) -> None:
        super().set_mode(*self._allowed(numbers, private), private=private)
        if private and _ALTERNATE & set(numbers) and self._main is None:
            self._main = self.buffer, copy(self.cursor)
            self.buffer = defaultdict(lambda: StaticDefaultDict(self.default_char))

    def reset_mode(self, *numbers: int, private: bool = False, **_: object) -> None:
        super().reset_mode(*self._allowed(numbers, private), private=private)
        if private and _ALTERNATE & set(numbers) and self._main is not None:
            self.buffer, cursor = self._main
            self._main = None
            if 1049 in numbers:
                self.cursor = cursor
            self._keep_inside()

    @staticmethod
    def _allowed(numbers: tuple[int, ...], private: bool) -> list[int]:
        return [one for one in numbers if not private or one not in _REFUSED]

    def soft_reset(self) -> None:
        """DECSTR."""
        self.mode = (self.mode - _SOFT) | {modes.DECAWM, modes.DECTCEM}
        self.inputs.keypad = False
        self.margins = None
        self.select_graphic_rendition(0)
        self.savepoints.clear()
        self.cursor.hidden = False

    def reset(self) -> None:
        self._main = None
        self.inputs = Inputs()
        self.savepoints.clear()
        super().reset()

    # How keys are sent, and the cursor's shape.

    def push_keys(self, *_: int) -> None:
        """Kitty's keyboard modes: a new set of them."""
        self._keys = self._keys.push()

    def pop_keys(self, count: int = 1) -> None:
        """The sets before."""
        self._keys = self._keys.pop(count or 1)

    def put_keys(self, flags: int = 0, how: int = 1) -> None:
        """Another set in place of this one."""
        self._keys = self._keys.put(flags, how or 1)

    @property
    def _keys(self) -> Keys:
        return self.inputs.keys[self.alternate]

    @_keys.setter
    def _keys(self, keys: Keys) -> None:
        self.inputs.keys = {**self.inputs.keys, self.alternate: keys}

    def modify_keys(self, which: int = 0, level: int = 0) -> None:
        """XTMODKEYS; 4 is `modifyOtherKeys`."""
        if which in (0, 4):
            self.inputs.modified = which == 4 and level > 0

    def plain_keys(self, which: int = 2) -> None:
        """The same turned off."""
        self.modify_keys(which)

    def application_keypad(self) -> None:
        """DECKPAM."""
        self.inputs.keypad = True

    def numeric_keypad(self) -> None:
        """DECKPNM."""
        self.inputs.keypad = False

    def cursor_style(self, shape: int = 0) -> None:
        """DECSCUSR."""
        self.inputs.shape = shape > 0

    # Size.

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        lines, columns = lines or self.lines, columns or self.columns
        self._shift(0, self.lines - 1, max(0, self.cursor.y - lines + 1))
        self.cursor.y -= max(0, self.cursor.y - lines + 1)
        for y in [y for y in self.buffer if y >= lines]:
            del self.buffer[y]
        for row in self.buffer.values():
            for x in [x for x in row if x >= columns]:
                del row[x]
        self.tabstops.update(range(8 * (self.columns // 8 + 1), columns, 8))
        self.lines, self.columns = lines, columns
        self.margins = None
        self._keep_inside()

    def _keep_inside(self) -> None:
        self.ensure_hbounds()
        self.ensure_vbounds()
