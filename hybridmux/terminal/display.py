"""The screen model: the canvas with its modes, what is saved of it, and what one can see of it.

Added to pyte: the alternate screen, soft reset, the forms in which keys are sent. Different: one saved cursor
as terminals have, not a stack that grows; no switch to 132 columns, which terminals refuse unless asked.
"""

from copy import copy

from pyte import charsets as cs
from pyte import modes
from pyte.screens import Cursor

from hybridmux.terminal.canvas import Canvas
from hybridmux.terminal.cells import Row
from hybridmux.terminal.modes import Inputs, Keys, Modes

_ALTERNATE = {47, 1047, 1049}
_NAMES = {id(charset): name for name, charset in cs.MAPS.items()}
_REFUSED = {modes.DECCOLM >> 5}
_BRACKETED_PASTE = 2004 << 5
_SOFT = {1 << 5, modes.DECOM, modes.IRM, 66 << 5}
"""What DECSTR turns off; the mouse, pastes and the like stay as they are."""


class Display(Canvas):
    """Rows and columns of cells. Its methods are called by the emulator."""

    def __init__(self, cols: int, rows: int) -> None:
        self._main: tuple[list[Row], Cursor] | None = None
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
            margins=self.margins and (self.margins.top + 1, self.margins.bottom + 1),
            graphics=self.cursor.attrs != self.default_char,
            charset=self._designated(),
            keys=inputs.keys,
            modified=inputs.modified,
            keypad=inputs.keypad,
            shape=inputs.shape,
        )

    def _designated(self) -> str:
        """The escape sequences that give the character sets in use."""
        told = "" if self.g0_charset is cs.LAT1_MAP else f"\x1b({_NAMES[id(self.g0_charset)]}"
        return f"{told}\x1b){_NAMES[id(self.g1_charset)]}\x0e" if self.charset else told

    # Cursor.

    def save_cursor(self) -> None:
        super().save_cursor()
        del self.savepoints[:-1]

    def restore_cursor(self) -> None:
        if not self.savepoints:
            super().restore_cursor()
            return
        saved = self.savepoints[-1]
        self.g0_charset, self.g1_charset, self.charset = saved.g0_charset, saved.g1_charset, saved.charset
        self.mode |= {modes.DECOM} if saved.origin else set()
        self.mode |= {modes.DECAWM} if saved.wrap else set()
        self.cursor = copy(saved.cursor)
        self.ensure_hbounds()
        self.ensure_vbounds(use_margins=True)

    # Modes.

    def set_mode(self, *numbers: int, private: bool = False, **_: object) -> None:
        super().set_mode(*self._allowed(numbers, private), private=private)
        if private and _ALTERNATE & set(numbers) and self._main is None:
            self._main = self.cells.rows, copy(self.cursor)
            self.cells.clear()

    def reset_mode(self, *numbers: int, private: bool = False, **_: object) -> None:
        super().reset_mode(*self._allowed(numbers, private), private=private)
        if private and _ALTERNATE & set(numbers) and self._main is not None:
            self.cells.rows, cursor = self._main
            self._main = None
            if 1049 in numbers:
                self.cursor = cursor
            self.keep_inside()

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
            self.inputs.modified = level if which == 4 else 0

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
        self.inputs.shape = shape

    # Size.

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        super().resize(lines, columns)
        if self._main:
            rows, cursor = self._main
            self._main = self.fitted(rows, cursor, self.lines), cursor
