r"""Takes out of a terminal's output what a program says to us alone. Pure.

That is its state, `ESC ] 7501 ; …`, and the question where the cursor is, `ESC [ 6 n` or `ESC [ ? 6 n`.

Whoever looks on would get it too otherwise, and each viewer's own terminal would answer once more. What ends
a state: BEL or ST (`ESC \`, `C2 9C`). CAN, SUB or another ESC abort it: what came before them goes all the
same, for a terminal would not have shown it either, and nothing is reported. Everything else passes byte for
byte.
"""

import re

from attrs import frozen

from hybridmux.budgets import PRIVATE_BYTES

QUERY = b"?"
"""The payload that asks whether anybody listens; it is no state."""
ANSWER = b"\x1b]7501;?\x1b\\"
"""What says yes to it."""
_OPENING = b"\x1b]7501"
_CURSOR, _CURSOR_DEC = b"\x1b[6n", b"\x1b[?6n"
_OPENINGS = (_OPENING, _CURSOR, _CURSOR_DEC)
_OPENED = re.compile(rb"\x1b(?:\]7501|\[\??6n)")
_STARTS = frozenset(each[:length] for each in _OPENINGS for length in range(1, len(each)))
_LONGEST_START = max(map(len, _STARTS))
_END = re.compile(rb"(?P<end>\x07|\x1b\\|\xc2\x9c)|(?=[\x18\x1a]|\x1b[^\\])")
"""After the opening: a terminator, or the place before what aborts."""
_OURS = frozenset(b";\x07\x18\x1a\x1b\xc2")
"""What may follow the opening (C2 begins an ST): another digit would make it another number."""


@frozen
class Said:
    """The payload of a state: what follows `7501;`."""

    payload: bytes


@frozen
class CursorAsked:
    """The question where the cursor is."""

    at: int
    """How many bytes of what passed came before it."""
    dec: bool
    """Asked with a `?`, and to be answered with one."""


Heard = Said | CursorAsked


@frozen
class _Fate:
    """What becomes of the bytes from an opening up to `until`."""

    until: int
    passes: bool = False
    payload: bytes | None = None
    asked: bool = False


class PrivateFilter:
    """Fed with the output in pieces of any size; holds back at most `PRIVATE_BYTES`.

    Any way of cutting the output gives the same. A sequence that has not ended within `PRIVATE_BYTES` is
    passed on as it is.
    """

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> tuple[bytes, list[Heard]]:
        """What is for everybody, and what was heard in the sequences that end here."""
        if self._held:
            data, self._held = self._held + data, b""
        pieces: list[bytes] = []
        heard: list[Heard] = []
        at = passed = 0
        while (start := _find(data, at)) >= 0:
            fate = _fate(data, start)
            if fate is None:
                break
            pieces.append(data[at : fate.until if fate.passes else start])
            passed += len(pieces[-1])
            if fate.payload is not None:
                heard.append(Said(fate.payload))
            elif fate.asked:
                heard.append(CursorAsked(passed, dec=data[start : fate.until] == _CURSOR_DEC))
            at = fate.until
        if start < 0:
            start = len(data) - _begun(data)
        self._held = data[start:]
        if not pieces and not self._held:
            return data, heard
        return b"".join([*pieces, data[at:start]]), heard

    def flush(self) -> bytes:
        """What is still held back: at the output's end nothing more comes of it."""
        held, self._held = self._held, b""
        return held


def _find(data: bytes, at: int) -> int:
    """The next opening, or -1; a flood of text costs one look for a byte, one of colours one for two bytes."""
    if at == 0 and (b"\x1b" not in data or (b"6n" not in data and b"]" not in data)):
        return -1
    found = _OPENED.search(data, at)
    return found.start() if found else -1


def _fate(data: bytes, start: int) -> _Fate | None:
    """Of the sequence that opens at `start`; None as long as that cannot be told."""
    if data.startswith((_CURSOR, _CURSOR_DEC), start):
        return _Fate(data.index(b"n", start) + 1, asked=True)
    body = start + len(_OPENING)
    as_it_is = _Fate(body, passes=True)
    if body < len(data) and data[body] not in _OURS:
        return as_it_is
    end = _END.search(data, body, start + PRIVATE_BYTES)
    if end is None:
        return as_it_is if len(data) - start >= PRIVATE_BYTES else None
    said = data[body : end.start()]
    if said and not said.startswith(b";"):
        return as_it_is
    return _Fate(end.end(), payload=said[1:] if end["end"] else None)


def _begun(data: bytes) -> int:
    """How many bytes at the end may be the beginning of an opening."""
    start = data.rfind(b"\x1b", max(0, len(data) - _LONGEST_START))
    return len(data) - start if start >= 0 and data[start:] in _STARTS else 0
