r"""What a terminal shows, as pyte models it, with a parser of our own in front.

pyte's own parser draws what it does not know (DCS and APC payloads, sub-parameters, `CSI < u`) and raises
on private forms of known sequences, which loses the rest of the piece. Here one pattern cuts the sequences,
and only those we mean reach pyte's screen, with no more parameters than its methods take. See `display` for
what is added.
"""

import codecs
import re

from hybridmux.terminal.display import Display

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?:\x1b\[|\x9b)(?P<csi>[\x00-\x17\x19\x1c-\x3f\x7f]*)(?P<final>[@-~])"
    r"|(?:\x1b\[|\x9b)[\x00-\x17\x19\x1c-\x3f\x7f]*(?P<cut>[^\x00-\x17\x19\x1c-\x7f]?)"
    r"|(?P<string>\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"
    r"|\x1b(?P<inter>[ -/]*)(?P<escape>[0-~])"
    r"|(?P<stray>\x1b[ -/]*)"
    r"|(?P<control>.)",
    re.DOTALL,
)
_CSI = re.compile(r"(?P<prefix>[<=>?]?)(?P<params>[0-9;:]*)(?P<inter>[ -/]*)")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_ENDS = {True: re.compile(r"[\x07\x18\x1a\x1b\x9c]"), False: re.compile(r"[\x18\x1a\x1b\x9c]")}
_LONGEST = 4096
"""Characters of an unfinished sequence that are kept; more is not one."""
_PARAMS = 32
_NUMBER = 9999
_TOKEN_WORK = 16
"""What a sequence costs besides what it does, as much as drawing so many cells."""

METHODS = {
    "@": ("insert_characters", 1),
    "A": ("cursor_up", 1),
    "B": ("cursor_down", 1),
    "C": ("cursor_forward", 1),
    "D": ("cursor_back", 1),
    "E": ("cursor_down1", 1),
    "F": ("cursor_up1", 1),
    "G": ("cursor_to_column", 1),
    "H": ("cursor_position", 2),
    "I": ("tabs", 1),
    "J": ("erase_in_display", 1),
    "?J": ("erase_in_display", 1),
    "K": ("erase_in_line", 1),
    "?K": ("erase_in_line", 1),
    "L": ("insert_lines", 1),
    "M": ("delete_lines", 1),
    "P": ("delete_characters", 1),
    "S": ("scroll_up", 1),
    "T": ("scroll_down", 1),
    "X": ("erase_characters", 1),
    "Z": ("back_tabs", 1),
    "`": ("cursor_to_column", 1),
    "a": ("cursor_forward", 1),
    "b": ("repeat", 1),
    "d": ("cursor_to_line", 1),
    "e": ("cursor_down", 1),
    "f": ("cursor_position", 2),
    "g": ("clear_tab_stop", 1),
    "r": ("set_margins", 2),
    "s": ("save_cursor", 0),
    "u": ("restore_cursor", 0),
    "!p": ("soft_reset", 0),
    ">u": ("push_keys", 1),
    "<u": ("pop_keys", 1),
    "=u": ("put_keys", 2),
    ">m": ("modify_keys", 2),
    ">n": ("plain_keys", 1),
    " q": ("cursor_style", 1),
}
"""prefix + intermediates + final byte → method and the most parameters it takes."""
ESCAPES = {
    "c": "reset",
    "D": "index",
    "E": "next_line",
    "M": "reverse_index",
    "H": "set_tab_stop",
    "7": "save_cursor",
    "8": "restore_cursor",
    "#8": "alignment_display",
    "=": "application_keypad",
    ">": "numeric_keypad",
}
CONTROLS = {
    "\x08": "backspace",
    "\t": "tab",
    "\n": "linefeed",
    "\x0b": "linefeed",
    "\x0c": "linefeed",
    "\r": "carriage_return",
    "\x0e": "shift_out",
    "\x0f": "shift_in",
    "\x84": "index",
    "\x85": "next_line",
    "\x88": "set_tab_stop",
    "\x8d": "reverse_index",
}


class Emulator:
    """Bytes in, `display` changes. Any bytes, in any pieces; memory is bounded by the size of the screen."""

    def __init__(self, cols: int, rows: int) -> None:
        self.display = Display(cols, rows)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._string: re.Pattern[str] | None = None

    @property
    def in_text(self) -> bool:
        """Whether the next byte is not part of a sequence or a string that has begun."""
        return not self._rest and self._string is None

    @property
    def work(self) -> int:
        """What has been done so far: 1 is one cell drawn. A few milliseconds are ten thousands of it."""
        return self.display.cells.work

    def resync(self) -> None:
        """What is fed next begins at a boundary, whatever came before."""
        self._decoder.reset()
        self._rest = ""
        self._string = None

    def feed(self, data: bytes) -> None:
        """Draws one piece of output."""
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        at = 0
        while at < len(text):
            at = self._skip(text, at, self._string) if self._string else self._token(text, at)

    def _token(self, text: str, at: int) -> int:
        found = _TOKEN.match(text, at)
        assert found is not None, "the pattern ends in any character"
        self.display.cells.work += _TOKEN_WORK
        kind = found.lastgroup
        if found.end() == len(text) and kind in ("cut", "stray") and not found["cut"]:
            self._rest = text[at:] if len(text) - at <= _LONGEST else ""
        elif kind == "cut":
            return found.start("cut")
        elif kind == "text":
            self.display.draw(found["text"])
        elif kind == "final":
            self._sequence(found["csi"], found["final"])
        elif kind == "string":
            self._string = _ENDS[found["string"] in ("\x1b]", "\x9d")]
            self.display.forget()
        elif kind == "escape":
            self._escape(found["inter"], found["escape"])
        elif kind == "control":
            self._control(found["control"])
        return found.end()

    def _skip(self, text: str, at: int, ends: re.Pattern[str]) -> int:
        """The payload of an OSC, DCS, APC and the like: not drawn, not kept."""
        found = ends.search(text, at)
        if found is None:
            return len(text)
        self._string = None
        # The ESC of its `ESC \` is an escape of its own, which does nothing.
        return found.start() if found[0] == "\x1b" else found.end()

    def _control(self, char: str) -> None:
        self.display.cells.work += _TOKEN_WORK
        if name := CONTROLS.get(char):
            getattr(self.display, name)()
        self.display.forget()

    def _escape(self, inter: str, final: str) -> None:
        if name := ESCAPES.get(inter + final):
            getattr(self.display, name)()
        elif inter in ("(", ")"):
            self.display.define_charset(final, inter)
        self.display.forget()

    def _sequence(self, body: str, final: str) -> None:
        for char in _CONTROLS.findall(body):
            self._control(char)
        found = _CSI.fullmatch(_CONTROLS.sub("", body))
        if found is None:
            return
        params = found["params"].split(";")[:_PARAMS]
        key = found["prefix"] + found["inter"] + final
        if key == "m":
            if numbers := _graphics(params):  # pyte takes none for a reset
                self.display.select_graphic_rendition(*numbers)
        elif key in ("h", "l", "?h", "?l"):
            change = self.display.set_mode if final == "h" else self.display.reset_mode
            change(*map(_number, params), private=bool(found["prefix"]))
        elif key in METHODS:
            name, most = METHODS[key]
            getattr(self.display, name)(*map(_number, params[:most]))
        self.display.forget()


def _number(param: str) -> int:
    """Without sub-parameters; 0 where there is none."""
    return min(int(param.partition(":")[0][:6] or 0), _NUMBER)


def _graphics(params: list[str]) -> list[int]:
    """SGR parameters in the form pyte knows: colours by `;`, plain underlines, no underline colour. May
    be empty, which is no reset."""
    numbers: list[int] = []
    todo = list(reversed(params))
    while todo:
        param = todo.pop()
        first = _number(param)
        if ":" in param:
            numbers += _sub_parameters(first, param.split(":")[1:])
        elif first == 58:  # colour of the underline, which is not modelled: 58;5;n or 58;2;r;g;b
            kind = _number(todo.pop()) if todo else 0
            del todo[len(todo) - min(len(todo), {5: 1, 2: 3}.get(kind, 0)) :]
        else:
            numbers.append(first)
    return numbers


def _sub_parameters(first: int, rest: list[str]) -> list[int]:
    values = [_number(one) for one in rest]
    if first in (38, 48) and values[0] == 5:
        return [first, 5, values[1]] if len(values) > 1 else []
    if first in (38, 48) and values[0] == 2:
        # A colour space comes before the three, if there is room for it.
        rgb = values[2:5] if len(values) > 4 else values[1:]
        return [first, 2, *rgb] if len(rgb) == 3 else []
    if first == 4:
        return [4 if values[0] else 24]
    return []
