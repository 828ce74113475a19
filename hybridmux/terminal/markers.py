r"""Follows a terminal's output without drawing it: the strings a program sends to us, and where one may cut.

The states are those of a VT500 parser as terminals implement it; only where a sequence ends matters here.

    ground  text; the only state in which the stream may be cut, and only between UTF-8 characters
    escape  after ESC
    inter   after ESC and an intermediate (0x20-0x2F)
    csi     after ESC [, until a byte 0x40-0x7E
    osc     after ESC ], until BEL, ST, ESC, CAN or SUB
    string  after ESC P, X, ^ or _ (DCS, SOS, PM, APC), until ST, ESC, CAN or SUB

C1 controls count in their UTF-8 form (C2 9B is CSI), as in terminals that decode UTF-8 first. Text and
whole sequences are skipped by one regular expression; the states are for what that leaves: strings, and
sequences that are split, malformed or mixed with controls. Any way of cutting the input gives the same
events and positions.
"""

import re
from bisect import bisect_left

from attrs import frozen

from hybridmux.budgets import OSC_BYTES, SAFE_GRID, TITLE_CHARS

TITLE = frozenset({0, 2})
"""The codes that set a title."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_SHORT = rb"\x1b[ -/]*+[0-OQ-WYZ\\`-~]|\xc2[\xa0-\xbf]"
"""An escape that opens nothing; a printable character of two bytes."""
_RUN = re.compile(
    # The commonest first, with the text after it: a CSI sequence without intermediates.
    rb"(?:\x1b\[[0-?]*+[@-~][^\x1b\xc2]*+|[^\x1b\xc2]++|\x1b\[[0-?]*+[ -/]++[@-~]|" + _SHORT + rb")++"
)
_ONE = re.compile(rb"[^\x1b\xc2]|\x1b\[[0-?]*+[ -/]*+[@-~]|" + _SHORT)
_OSC_END = re.compile(rb"[\x07\x18\x1a\x1b]|\xc2\x9c")
_STRING_END = re.compile(rb"[\x18\x1a\x1b]|\xc2\x9c")
_CODE = re.compile(rb"(\d{1,9})(?:;|$)")

_GROUND, _ESCAPE, _INTER, _CSI, _OSC, _STRING = range(6)
_OPENERS = {0x5B: _CSI, 0x5D: _OSC, 0x50: _STRING, 0x58: _STRING, 0x5E: _STRING, 0x5F: _STRING}
_C1 = {0x9B: _CSI, 0x9D: _OSC, 0x90: _STRING, 0x98: _STRING, 0x9E: _STRING, 0x9F: _STRING}
_CONTROL = re.compile(rb"[\x00-\x17\x19\x1c-\x1f\x7f]*+")
"""Executed within a sequence without ending it."""
_BODY = {
    _ESCAPE: _CONTROL,
    _INTER: re.compile(rb"[\x00-\x17\x19\x1c-\x2f\x7f]*+"),
    _CSI: re.compile(rb"[\x00-\x17\x19\x1c-\x3f\x7f]*+"),
}
"""What leaves each of these states as it is."""


@frozen
class Osc:
    """One operating system command: `ESC ] code ; data` and its end."""

    code: int
    data: bytes
    end: int
    """The position after its terminator, of `ESC \\` after the ESC."""


def title(osc: Osc) -> str:
    """The title it sets: at most `TITLE_CHARS`, without control characters."""
    return _UNPRINTABLE.sub("", osc.data.decode("utf-8", "replace"))[:TITLE_CHARS]


class Scanner:
    """Fed with the output in pieces of any size; holds at most `OSC_BYTES` and the safe positions."""

    def __init__(self, codes: frozenset[int], *, keep: int = 1024) -> None:
        """Gives the OSCs with these codes; remembers the newest `keep` safe positions."""
        self.position = 0
        """Bytes seen, without a last C2 that may begin a C1 control."""
        self.safe_end = 0
        """The newest safe position."""
        self._codes = codes
        self._keep = keep
        self._safe: list[int] = [0]
        self._next = SAFE_GRID
        self._state = _GROUND
        self._last = b""
        self._payload = bytearray()
        self._too_long = False
        self._carry = b""
        self._plain = False
        self._events: list[Osc] = []

    def feed(self, data: bytes) -> list[Osc]:
        """The OSCs that end in this piece."""
        data = self._carry + data
        self._carry = b"\xc2" if data.endswith(b"\xc2") else b""
        data = data.removesuffix(b"\xc2")
        self._events = []
        self._plain = b"\x1b" not in data and b"\xc2" not in data
        at = 0
        while at < len(data):
            at = self._step(data, at)
        if self._state == _GROUND:
            self._note(data, at)
        self.position += len(data)
        self._last = (self._last + data[-3:])[-3:]
        return self._events

    def first_safe(self, position: int) -> int | None:
        """The oldest remembered safe position at or after `position`; None if there is none."""
        index = bisect_left(self._safe, position)
        if index < len(self._safe):
            return self._safe[index]
        return self.safe_end if self.safe_end >= position else None

    def _step(self, data: bytes, at: int) -> int:
        if self._state == _GROUND:
            return self._ground(data, at)
        if self._state == _OSC:
            return self._string(data, at, _OSC_END)
        if self._state == _STRING:
            return self._string(data, at, _STRING_END)
        return self._sequence(data, at)

    def _ground(self, data: bytes, at: int) -> int:
        """Text and whole sequences: in one go up to a grid line, then one by one to where one may cut."""
        while at < len(data):
            self._note(data, at)
            line = self._next - self.position
            if self._plain and line > at:
                at = min(line, len(data))
                continue
            found = _RUN.match(data, at, line) if line > at else None
            found = found or _ONE.match(data, at)
            if found is None:
                return self._open(data, at)
            at = found.end()
        return at

    def _note(self, data: bytes, at: int) -> None:
        """Called in ground: remembers this place if one may cut here."""
        place = self.position + at
        unfinished = _unfinished((self._last + data[max(0, at - 3) : at])[-3:])
        self.safe_end = max(self.safe_end, place - unfinished)
        if unfinished:
            return
        if place >= self._next:
            self._safe.append(place)
            self._next = (place // SAFE_GRID + 1) * SAFE_GRID
            if len(self._safe) > self._keep:
                del self._safe[: self._keep // 2]

    def _open(self, data: bytes, at: int) -> int:
        """At an ESC, or at a C2 that is not followed by a printable character's byte."""
        if data[at] == 0x1B:
            self._state = _ESCAPE
            return at + 1
        following = data[at + 1] if at + 1 < len(data) else 0xC2  # the one held back
        self._enter(_C1.get(following, _GROUND))
        return at + 1 + (0x80 <= following < 0xC0)

    def _enter(self, state: int) -> None:
        self._state = state
        self._payload.clear()
        self._too_long = False

    def _sequence(self, data: bytes, at: int) -> int:
        """ESC, intermediates or parameters; the next byte of another kind decides."""
        found = _BODY[self._state].match(data, at)
        at = found.end() if found else at
        if at == len(data):
            return at
        byte = data[at]
        if byte == 0x1B:
            self._state = _ESCAPE
        elif self._state == _ESCAPE and 0x20 <= byte < 0x30:
            self._state = _INTER
        elif self._state == _ESCAPE:
            self._enter(_OPENERS.get(byte, _GROUND))
        else:
            self._state = _GROUND
        # A byte above ASCII ends the sequence without belonging to it.
        return at + (byte < 0x80)

    def _string(self, data: bytes, at: int, ends: re.Pattern[bytes]) -> int:
        found = ends.search(data, at)
        until = found.start() if found else len(data)
        if self._state == _OSC:
            self._collect(data[at:until])
        if found is None:
            return until
        if self._state == _OSC and found[0] not in (b"\x18", b"\x1a"):
            self._finish(self.position + found.end())
        self._state = _ESCAPE if found[0] == b"\x1b" else _GROUND
        return found.end()

    def _collect(self, piece: bytes) -> None:
        if len(self._payload) + len(piece) > OSC_BYTES:
            self._too_long = True
            self._payload.clear()
        if not self._too_long:
            self._payload += piece

    def _finish(self, end: int) -> None:
        code = _CODE.match(self._payload)
        if code and not self._too_long and int(code[1]) in self._codes:
            self._events.append(Osc(int(code[1]), bytes(self._payload[code.end() :]), end))


def _unfinished(before: bytes) -> int:
    """How many of the (at most three) bytes before a place are an unfinished UTF-8 character."""
    for distance, byte in enumerate(reversed(before), start=1):
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            length = (
                2 if 0xC2 <= byte < 0xE0 else 3 if 0xE0 <= byte < 0xF0 else 4 if 0xF0 <= byte < 0xF5 else 0
            )
            return distance if distance < length else 0
    return 0
