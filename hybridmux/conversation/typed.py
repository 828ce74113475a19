r"""What a person has typed into a terminal, as far as the bytes tell. Pure.

Input is not all keys: a viewer's emulator answers the program's questions by itself and tells of focus and
mouse. Such sequences count for nothing. Keys come as plain bytes, or as sequences of the kitty protocol
(`CSI code ; modifiers : event u`) or xterm's modifyOtherKeys (`CSI 27 ; modifiers ; code ~`).
"""

import re
from collections.abc import Callable

_TOKEN = re.compile(
    rb"(?P<text>[^\x00-\x1f\x7f]+)"
    rb"|(?P<mouse>\x1b\[M[\x00\x20-\xff]{3})"
    rb"|\x1b\[(?!M)(?P<parameters>[0-?]{0,64}+)[ -/]{0,64}+(?P<final>[@-~])"
    rb"|\x1b(?P<opener>[\]PX^_])"
    rb"|\x1b(?P<alt>O[ -~]|[^\x00-\x1f\[O\]PX^_]|\r)"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)
_BEGUN = re.compile(rb"\x1b(?:\[(?:M[\x00\x20-\xff]{0,2}|[0-?]{0,64}[ -/]{0,64})|O)?")
"""The beginning of a sequence."""
_STRING = re.compile(rb"[^\x00-\x1f\x7f]*+(?P<end>\x07|\x1b\\)?")
"""A control string's body and end. No answer of a terminal has control characters in it."""
_PRINTABLE = re.compile(rb"[^\x00-\x1f\x7f]")
_PASTE, _PASTE_END = b"200", b"\x1b[201~"
_ENTER, _KEYPAD_ENTER = 13, 57414
_FUNCTION_KEYS = range(57344, 63744)
_RELEASE = 3
_SHIFT, _CTRL, _LOCKS = 0x01, 0x04, 0xC0
_CLEARING = frozenset(b"cdu")
"""With Ctrl: leave or clear the line."""
_CTRL_ALONE = rb"(?:5|69|133|197)"
"""As a modifier's number: with or without the locks."""
_SUSPEND = re.compile(
    rb"\x1a|\x1b\[122(?::\d*){0,2};" + _CTRL_ALONE + rb"(?::\d)?u|\x1b\[27;" + _CTRL_ALONE + rb";122~"
)


def without_suspend(data: bytes) -> bytes:
    """Input without Ctrl-Z in any of its forms; a sequence that is cut in two pieces goes through."""
    return _SUSPEND.sub(b"", data)


class Typed:
    """Fed with all input in pieces of any size."""

    def __init__(self, *, entered: bool = False) -> None:
        self.entered = entered
        """Enter was pressed, or (given) the program was started with something to do."""
        self.unsent = False
        """Text was typed or pasted since the last Enter, Ctrl-C, Ctrl-U or Ctrl-D."""
        self.enters = 0
        """How often Enter was pressed."""
        self._held = b""
        self._state: Callable[[bytes, int], int] = self._ground

    def feed(self, data: bytes) -> None:
        """Input that goes to the program."""
        data, self._held = self._held + data, b""
        at = 0
        while at < len(data):
            at = self._state(data, at)

    def _ground(self, data: bytes, at: int) -> int:
        token = _TOKEN.match(data, at)
        if token is None:
            return self._broken(data, at)
        if token["text"]:
            self.unsent = True
        elif token["final"]:
            self._sequence(token["parameters"], token["final"])
        elif token["opener"]:
            self._state = self._string
        elif token["alt"] in (b"\r", b"OM"):
            # The number pad's; with Alt, or another modifier, it is a line break in most agents.
            self._enter(sends=token["alt"] == b"OM")
        elif token["control"] in (b"\r", b"\n"):
            self._enter()
        elif token["control"] in (b"\x03", b"\x04", b"\x15"):
            self.unsent = False
        return token.end()

    def _broken(self, data: bytes, at: int) -> int:
        """At an ESC that begins no whole sequence: more is to come, or it stands alone."""
        begun = _BEGUN.match(data, at)
        assert begun is not None
        if begun.end() == len(data):
            self._held = data[at:]
        return begun.end()

    def _string(self, data: bytes, at: int) -> int:
        """Inside a control string; what it is broken off by counts."""
        found = _STRING.match(data, at)
        assert found is not None
        if found["end"] is None:
            if found.end() == len(data):
                return found.end()
            if data[found.end() :] == b"\x1b":
                self._held = b"\x1b"
                return len(data)
        self._state = self._ground
        return found.end()

    def _paste(self, data: bytes, at: int) -> int:
        end = data.find(_PASTE_END, at)
        if end >= 0:
            self._state = self._ground
        until = end if end >= 0 else len(data) - _begun(data, at)
        if _PRINTABLE.search(data, at, until):
            self.unsent = True
        if end >= 0:
            return end + len(_PASTE_END)
        self._held = data[until:]
        return len(data)

    def _sequence(self, parameters: bytes, final: bytes) -> None:
        if final == b"~" and parameters == _PASTE:
            self._state = self._paste
        elif final == b"u":
            self._key(parameters.split(b";"))
        elif final == b"~" and parameters.startswith(b"27;"):
            modifiers, _, code = parameters[3:].partition(b";")
            self._key([code, modifiers])

    def _key(self, parts: list[bytes]) -> None:
        code = _number(parts[0].split(b":")[0])
        modifiers, _, event = (parts[1] if len(parts) > 1 else b"").partition(b":")
        if code is None or _number(event) == _RELEASE:
            return
        pressed = ((_number(modifiers) or 1) - 1) & ~_LOCKS
        if code in (_ENTER, _KEYPAD_ENTER):
            self._enter(sends=not pressed)
        elif pressed == _CTRL and code in _CLEARING:
            self.unsent = False
        elif not pressed & ~_SHIFT and _is_text(code):
            self.unsent = True

    def _enter(self, *, sends: bool = True) -> None:
        self.entered = True
        self.enters += 1
        self.unsent = self.unsent and not sends


def _is_text(code: int) -> bool:
    return code >= 0x20 and code != 0x7F and code not in _FUNCTION_KEYS


def _begun(data: bytes, at: int) -> int:
    """How many bytes at the end may be the beginning of a paste's end."""
    lengths = range(min(len(_PASTE_END) - 1, len(data) - at), 0, -1)
    return next((one for one in lengths if data.endswith(_PASTE_END[:one])), 0)


def _number(text: bytes) -> int | None:
    return int(text) if text.isdigit() and len(text) < 10 else None
