"""Newline-delimited JSON without the bytes' transport: pieces in, whole lines out. Pure.

Between two reads the unfinished line is a list of pieces that is joined once, when its end arrives: a line of
64 MiB in 64 KiB pieces costs one copy, not a thousand.
"""

from typing import Any

import orjson

from hybridmux.wire.nesting import may_be_deep, prune


class LineTooLong(Exception):
    """One line is longer than the bound. What was held of it is gone already; `lines` came before it."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a line longer than {limit} bytes")
        self.lines: list[bytes] = []


class LineSplitter:
    """Cuts a byte stream at newlines; holds at most `limit` bytes of an unfinished line."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their newlines. Raises `LineTooLong`."""
        end = data.rfind(b"\n")
        if end < 0:
            self._hold(data)
            return []
        head, tail = data[:end], data[end + 1 :]
        if self._pieces:
            self._pieces.append(head)
            head = self.rest()
        lines = head.split(b"\n")
        try:
            self._hold(tail)
        except LineTooLong as error:
            error.lines = lines
            raise
        return lines

    def rest(self) -> bytes:
        """Takes what is held of the unfinished line."""
        pieces, self._pieces, self._held = self._pieces, [], 0
        return b"".join(pieces)

    def _hold(self, data: bytes) -> None:
        self._held += len(data)
        if self._held > self.limit:
            self._pieces, self._held = [], 0
            raise LineTooLong(self.limit)
        self._pieces.append(data)


def decode(line: bytes) -> Any:
    """The JSON of one line, emptied where it nests deeper than we could send on. Raises `JSONDecodeError`."""
    message = orjson.loads(line)
    if may_be_deep(line):
        prune(message)
    return message


def encode(message: Any) -> bytes:
    """One message as a line. Lone surrogates (undecodable file names) become `?`."""
    try:
        return orjson.dumps(message) + b"\n"
    except TypeError:
        return orjson.dumps(_encodable(message)) + b"\n"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
