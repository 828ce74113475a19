r"""Takes out of a terminal's output what a program says to us alone: its state, `ESC ] 7501 ; …`. Pure.

Whoever looks on would get it too otherwise, and a viewer's own terminal may answer the question `?` a second
time. What ends such a sequence: BEL or ST (`ESC \`, `C2 9C`). CAN, SUB or another ESC abort it: what came
before them goes all the same, for a terminal would not have shown it either, and nothing is reported.
Everything else passes byte for byte.
"""

import re

from attrs import frozen

from hybridmux.budgets import PRIVATE_BYTES

QUERY = b"?"
"""The payload that asks whether anybody listens; it is no state."""
ANSWER = b"\x1b]7501;?\x1b\\"
"""What says yes to it."""
_OPENING = b"\x1b]7501"
_OPENED = re.compile(re.escape(_OPENING))
"""`bytes.find` takes twice as long."""
_STARTS = frozenset(_OPENING[:length] for length in range(1, len(_OPENING)))
_END = re.compile(rb"(?P<end>\x07|\x1b\\|\xc2\x9c)|(?=[\x18\x1a]|\x1b[^\\])")
"""After the opening: a terminator, or the place before what aborts."""
_OURS = frozenset(b";\x07\x18\x1a\x1b\xc2")
"""What may follow the opening (C2 begins an ST): another digit would make it another number."""


@frozen
class _Fate:
    """What becomes of the bytes from an opening up to `until`."""

    until: int
    passes: bool = False
    payload: bytes | None = None


class PrivateFilter:
    """Fed with the output in pieces of any size; holds back at most `PRIVATE_BYTES`.

    Any way of cutting the output gives the same bytes and payloads. A sequence that has not ended within
    `PRIVATE_BYTES` is passed on as it is.
    """

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> tuple[bytes, list[bytes]]:
        """What is for everybody, and the payloads (what follows `7501;`) of the sequences that end here."""
        if self._held:
            data, self._held = self._held + data, b""
        pieces: list[bytes] = []
        payloads: list[bytes] = []
        at = 0
        while (start := _find(data, at)) >= 0:
            fate = _fate(data, start)
            if fate is None:
                break
            pieces.append(data[at : fate.until if fate.passes else start])
            if fate.payload is not None:
                payloads.append(fate.payload)
            at = fate.until
        if start < 0:
            start = len(data) - _begun(data)
        self._held = data[start:]
        if not pieces and not self._held:
            return data, payloads
        return b"".join([*pieces, data[at:start]]), payloads

    def flush(self) -> bytes:
        """What is still held back: at the output's end nothing more comes of it."""
        held, self._held = self._held, b""
        return held


def _find(data: bytes, at: int) -> int:
    """The next opening, or -1; a flood of text or of colours costs two looks for one byte."""
    if at == 0 and (b"\x1b" not in data or b"]" not in data):
        return -1
    found = _OPENED.search(data, at)
    return found.start() if found else -1


def _fate(data: bytes, start: int) -> _Fate | None:
    """Of the sequence that opens at `start`; None as long as that cannot be told."""
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
    start = data.rfind(b"\x1b", max(0, len(data) - len(_OPENING) + 1))
    return len(data) - start if start >= 0 and data[start:] in _STARTS else 0
