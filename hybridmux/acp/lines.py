"""Newline-delimited JSON without the bytes' transport: pieces in, whole lines out. Pure.

Between two reads the unfinished line is a list of pieces that is joined once, when its end arrives: a line of
64 MiB in 64 KiB pieces costs one copy, not a thousand.
"""

import re
from itertools import islice
from typing import Any

import orjson

from hybridmux.budgets import GLUED_BYTES, GLUED_TRIES
from hybridmux.wire import convert
from hybridmux.wire.nesting import may_be_deep, prune

_BEGINS = re.compile(rb'\{\s*"(?:jsonrpc|id|method|params|result|error)"\s*:')


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


def read_message(line: bytes, *, first: bool) -> tuple[dict[str, Any] | None, str, bytes]:
    """The message of a line, and what is odd about it: its kind (empty: nothing) and those bytes.

    `first`: none has come yet, and it may stand behind garbage. What nests deeper than we could send on is
    emptied.
    """
    try:
        message = _decode(line)
    except orjson.JSONDecodeError:
        garbage, message = (_behind_garbage(line) if first else None) or (line, None)
        return message, "garbage" if garbage and not garbage.isspace() else "", garbage
    return (message, "", b"") if type(message) is dict else (None, "invalid", line)


def _behind_garbage(line: bytes) -> tuple[bytes, Any] | None:
    """What stands in front of a message on its line, and the message; None if there is none."""
    for found in islice(_BEGINS.finditer(line, 0, GLUED_BYTES), GLUED_TRIES):
        try:
            return line[: found.start()], _decode(line[found.start() :])
        except orjson.JSONDecodeError:
            continue
    return None


def _decode(text: bytes) -> Any:
    message = orjson.loads(text)
    if may_be_deep(text):
        prune(message)
    return message


def encode(message: Any) -> bytes:
    """One message as a line."""
    return convert.encode(message) + b"\n"
