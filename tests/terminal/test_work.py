"""Output that is about much more than its bytes: what a slice of the screen model does has a limit.

Counted, not timed: by the model's own counter, and by the calls that Python sees, which does not trust it.
"""

import sys

import pytest
import trio

from hybridmux.budgets import KIB, MIB, SCREEN_AT_ONCE, SCREEN_LEFT_OUT, SCREEN_WORK
from hybridmux.journal import ByteJournal
from hybridmux.terminal.emulator import CONTROLS, ESCAPES, METHODS
from hybridmux.terminal.markers import Scanner
from hybridmux.terminal.screen import Screen

FULL = b"\x1b#8\x1b[2;2H"
WORST = {
    **{name: b"\x1b[9999" + key.encode() for key, (name, _) in METHODS.items() if key.isalpha()},
    **{name: b"\x1b" + key.encode() for key, name in ESCAPES.items()},
    **{name: key.encode() for key, name in CONTROLS.items()},
    "repeat": b"x\x1b[9999b",
    "repeat, wide": "\u4e2d\x1b[9999b".encode(),
    "repeat, inserting": b"\x1b[4hx\x1b[9999b",
    "fill and write": b"\x1b#8x",
    "erase": b"\x1b#8\x1b[2J",
    "erase most": b"\x1b[1;2H\x1b[K",
    "other screen": b"\x1b#8\x1b[?47h\x1b#8\x1b[?47l",
    "reverse video": b"\x1b[?5h\x1b[?5l",
    "accents": "\u0316".encode(),
    "many stops": b"\x1bH\x1b[C\x1b[9999Z",
    "resets of attributes": b"\x1b[" + b"0;" * 31 + b"0m",
    "feeds in a sequence": b"\x1b[" + b"\n" * 60 + b"A",
}
CALLS = 40_000
"""Of Python and C functions between two checkpoints: ten for each of the bytes of a slice."""


class Rig:
    def __init__(self, cols, rows):
        self.journal = ByteJournal(4 * MIB)
        self.scanner = Scanner(frozenset())
        self.screen = Screen(self.journal, cols, rows, self.scanner)

    def write(self, data):
        self.journal.write(data)
        self.scanner.feed(data)
        return self.screen.behind()

    @property
    def work(self):
        return self.screen._emulator.work


class Steps(trio.abc.Instrument):
    """What each step of each task did."""

    def __init__(self, rig):
        self.rig, self.work, self.calls = rig, rig.work, 0
        self.most_work = self.most_calls = 0

    def before_task_step(self, _task):
        self.work, self.calls = self.rig.work, 0

    def after_task_step(self, _task):
        self.most_work = max(self.most_work, self.rig.work - self.work)
        self.most_calls = max(self.most_calls, self.calls)

    def count(self, _frame, event, _arg):
        self.calls += event in ("call", "c_call")


@pytest.mark.parametrize("size", [(200, 60), (1000, 1000)], ids=str)
@pytest.mark.parametrize("name", WORST)
async def test_a_slice_is_limited_in_work(name, size):
    rig = Rig(*size)
    rig.write(FULL + WORST[name] * (8 * KIB // len(WORST[name])))
    steps = Steps(rig)
    trio.lowlevel.add_instrument(steps)
    sys.setprofile(steps.count)
    try:
        await rig.screen.catch_up()
    finally:
        sys.setprofile(None)
        trio.lowlevel.remove_instrument(steps)
    assert rig.screen.position == rig.journal.end
    assert steps.most_work < 3 * SCREEN_WORK
    assert steps.most_calls < CALLS


def test_who_cannot_wait_gets_what_is_near_the_end():
    rig = Rig(1000, 1000)
    rig.write(b"\x1b[?2004h" + b"\x1b[2;2H\x1b[K" * 70_000)
    before = rig.work
    assert len(rig.screen.lines()) == 1000
    assert rig.work - before < 2 * SCREEN_AT_ONCE + 3 * SCREEN_WORK
    assert rig.screen.position == rig.journal.end
    assert rig.screen.bracketed_paste
    assert rig.screen.leaps
    rig.write(b"\x1b[Hnow")
    assert rig.screen.text().startswith("now")


@pytest.mark.parametrize(
    "flood",
    [
        b"\x1b[?7h\x1bc" * 200_000,
        b"\x1b[>1u\x1b[<u" * 200_000,
        b"".join(b"\x1b[?%dh" % n for n in range(150_000)),
    ],
    ids=["resets", "pushes", "modes"],
)
def test_what_is_taken_from_what_is_left_out_is_limited(flood):
    rig = Rig(1000, 1000)
    rig.screen.text()
    before = rig.work
    rig.write(flood + b"\x1b[?2004h\x1b[?25l" + b"." * 600 * KIB)
    assert rig.screen.leaps
    assert rig.work - before < 64 * SCREEN_LEFT_OUT
    assert rig.screen.bracketed_paste


def test_the_last_word_on_each_mode_counts():
    rig = Rig(80, 24)
    rig.write(b"\x1b[?1049h\x1b[?25l\x1b[?1049l\x1b[?25h\x1b[?1049h\x1b[>1u\x1b[>1u\x1b[<u" + b"." * 2 * MIB)
    assert rig.screen.leaps
    modes = rig.screen.modes()
    assert modes.alternate
    assert 25 in modes.private
    assert modes.keys[True].pushed == 1
