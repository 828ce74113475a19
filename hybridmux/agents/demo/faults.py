"""`HYBRIDMUX_DEMO_FAULT`: where the demo agent breaks, and how; parsing only.

    [side.]moment:fault[=value][, …]        or @/path/to/a/file with such a text

* side: `tui` or `acp`; both if left out
* moment: `start`, `initialize`, `new`, `list`, `load` (and resume), `prompt`,
  `interrupt` (and cancel), `quit`
* fault, everywhere: `exit` with 71 · `hang` no answer, deaf to end of file (`hang=hard`: and to SIGTERM) ·
  `garbage` noise first, then goes on · `halfline` half an answer, then exit 71 · `error` · `slow[=SECONDS]` ·
  `closed` closes stdout, stays alive · `stderr` floods stderr first · `fork` leaves a process in a session of
  its own behind · `wait` until the file does not say so any more, and then does what it says instead
* ACP: `unknownid` an answer nobody asked for first · `bigline[=MIB]` a very long line first · `auth`
* load: `die=N` exits after N replayed updates · `active_writer` · `missing` ·
  `lag=N` leaves the last turn out of the first N loads after it · `other` (TUI) opens another session

A `hang` at `interrupt` means that interrupts are ignored while the turn goes on by itself. A `wait` is for
faults out of a file, which is to be replaced whole; at the TUI's `prompt` it does nothing.
"""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MOMENTS = ("start", "initialize", "new", "list", "load", "prompt", "interrupt", "quit")
FAULTS = (
    *("exit", "hang", "garbage", "halfline", "error", "slow", "closed", "stderr", "fork", "wait"),
    *("unknownid", "bigline", "auth", "die", "active_writer", "missing", "lag", "other"),
)
VARIABLE = "HYBRIDMUX_DEMO_FAULT"
LOOK_AGAIN = 0.01
"""Seconds between two looks into the file while waiting."""


class BadFault(Exception):
    """The variable cannot be understood; `args[0]` says what is wrong."""


class Fault(NamedTuple):
    side: str
    moment: str
    name: str
    value: str = ""

    def number(self, otherwise: float) -> float:
        return float(self.value) if self.value else otherwise

    @property
    def hard(self) -> bool:
        return self.value == "hard"


class Faults:
    """The faults of one process."""

    def __init__(self, side: str, source: str) -> None:
        self._side = side
        self._source = source
        self._read()

    @classmethod
    def from_environment(cls, side: str, environ: Mapping[str, str]) -> "Faults":
        """Those of one side. Raises `BadFault`; a named file that is missing or empty means none."""
        return cls(side, environ.get(VARIABLE, ""))

    def _read(self) -> None:
        text = self._source
        if text.startswith("@"):
            try:
                text = Path(text[1:]).read_text()
            except FileNotFoundError:
                text = ""
        self._faults = tuple(fault for fault in parse(text) if fault.side in ("", self._side))

    def wait(self, moment: str) -> None:
        """Returns when there is no `wait` at `moment` (any more); the faults are those of the file then."""
        while self.find(moment, "wait"):
            time.sleep(LOOK_AGAIN)
            self._read()

    async def waited(self, moment: str) -> None:
        """As `wait`, with the program's other tasks running on."""
        while self.find(moment, "wait"):
            await asyncio.sleep(LOOK_AGAIN)
            self._read()

    def at(self, moment: str) -> tuple[Fault, ...]:
        return tuple(fault for fault in self._faults if fault.moment == moment)

    def find(self, moment: str, name: str) -> Fault | None:
        return next((fault for fault in self.at(moment) if fault.name == name), None)


def parse(text: str) -> tuple[Fault, ...]:
    """Raises `BadFault`."""
    return tuple(_one(word.strip()) for word in text.replace("\n", ",").split(",") if word.strip())


def _one(word: str) -> Fault:
    place, _, what = word.partition(":")
    side, _, moment = place.rpartition(".")
    name, _, value = what.replace("hang hard", "hang=hard").partition("=")
    if side not in ("", "tui", "acp") or moment not in MOMENTS or name not in FAULTS:
        raise BadFault(f"{VARIABLE}: {word!r} is not [tui.|acp.]moment:fault (moments: {', '.join(MOMENTS)})")
    if value and value != "hard" and not value.replace(".", "", 1).isdigit():
        raise BadFault(f"{VARIABLE}: {word!r}: {value!r} is not a number")
    return Fault(side, moment, name, value)
