import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridmux.budgets import MIB, SCREEN_AHEAD
from hybridmux.journal import ByteJournal
from hybridmux.terminal.emulator import Emulator
from hybridmux.terminal.markers import Scanner
from hybridmux.terminal.screen import Screen
from tests.support import casts

LINES = st.lists(
    st.sampled_from([b"y", b"", b"x" * 25, "中".encode() * 7, b"\tz", b"a\x08b", b"e\xcc\x81"]), max_size=9
)


class Rig:
    """A journal, what follows it, and an emulator that has drawn everything at once."""

    def __init__(self, cols=20, rows=4, limit=2 * MIB):
        self.journal = ByteJournal(limit)
        self.scanner = Scanner(frozenset())
        self.screen = Screen(self.journal, cols, rows, self.scanner)
        self.all = Emulator(cols, rows)

    def write(self, data):
        self.journal.write(data)
        self.scanner.feed(data)
        self.all.feed(data)
        return self.screen.behind()

    @property
    def exact(self):
        return self.all.display.rows_text()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [b"", b"\x1b[H", b"\x1b[2;3r", b"\x1b[r", b"\x1b[4;1H", b"\x1b[31m", b"\x1b[2J", b"\x1b["]
            ),
            LINES,
            st.integers(0, 40),
            st.booleans(),
        ),
        max_size=6,
    )
)
@settings(max_examples=200, deadline=None)
def test_skipping_plain_lines_is_exact(parts):
    rig = Rig()
    for sequence, lines, times, look in parts:
        rig.write(sequence + b"\r\n".join(lines * times))
        if look:
            assert rig.screen.lines() == rig.exact
    assert rig.screen.lines() == rig.exact


def test_skipping_is_what_makes_floods_cheap():
    rig = Rig()
    rig.write(b"x" * 25 + b"\r\n")
    rig.write(b"seq\r\n" * 10_000)
    drawn = []
    feed = rig.screen._emulator.feed
    rig.screen._emulator.feed = lambda data: (drawn.append(len(data)), feed(data))
    assert rig.screen.lines() == rig.exact
    assert sum(drawn) < 1000


@pytest.mark.parametrize("name", casts.NAMES)
def test_recordings(name):
    rig = Rig(*casts.size(name))
    for number, piece in enumerate(casts.output(name)):
        rig.write(piece)
        if number % 7 == 0:
            assert rig.screen.text() == "\n".join(rig.exact).rstrip("\n")
    assert rig.screen.lines() == rig.exact
    assert rig.screen.leaps == 0


def test_a_size_counts_from_where_it_was_set():
    rig = Rig()
    rig.write(b"0123456789" * 2)
    rig.screen.resize(10, 4)
    rig.write(b"\r\n" + b"0123456789" * 2)
    assert rig.screen.lines() == ["0123456789"] + ["0123456789"] * 2 + [""]
    rig.screen.resize(5, 2)
    assert len(rig.screen.lines()) == 2


def test_many_sizes_are_bounded():
    rig = Rig()
    for number in range(1000):
        rig.write(b"x")
        rig.screen.resize(20 + number % 5, 4)
    assert len(rig.screen._sizes) <= 64
    rig.screen.resize(30, 6)
    assert len(rig.screen.lines()) == 6


class TestFarBehind:
    FRAME = b"\x1b[H\x1b[2J\x1b[31mframe\x1b[0m" + b"\x1b[2;1Hbody" * 10 + b"\x1b[4;1Hend" + b"."

    def test_modes_survive_what_is_left_out(self):
        rig = Rig(limit=200_000)
        rig.write(b"shell$ \x1b[?1049h\x1b[?2004h")
        assert rig.screen.text() == ""
        while rig.screen.leaps < 3:
            rig.write(self.FRAME * 50)
        assert rig.screen.lines() == rig.exact
        assert rig.screen.alternate
        assert rig.screen.bracketed_paste
        rig.write(b"\x1b[?2004l\x1b[?1049l")
        assert rig.screen.text() == "shell$"
        assert not rig.screen.alternate

    def test_it_stays_within_the_journal(self):
        rig = Rig(limit=100_000)
        for _ in range(100):
            rig.write(self.FRAME * 30)
            assert rig.screen.position >= rig.journal.tail
        assert rig.screen.leaps > 3
        assert rig.screen.lines() == rig.exact

    def test_where_nothing_is_safe_it_is_one_string(self):
        rig = Rig(limit=100_000)
        rig.write(b"before")
        rig.screen.text()
        rig.write(b"\x1bP")
        for _ in range(300):
            rig.write(b"x" * 4096)
        rig.write(b"\x1b\\ after")
        assert rig.screen.position >= rig.journal.tail
        assert rig.screen.text() == "before after"

    def test_a_look_during_a_flood_draws_little(self):
        rig = Rig(limit=200_000)
        while rig.screen.leaps < 3:
            rig.write(self.FRAME * 50)
        drawn = []
        feed = rig.screen._emulator.feed
        rig.screen._emulator.feed = lambda data: (drawn.append(len(data)), feed(data))
        rig.screen.text()
        assert 0 < sum(drawn) < 2 * SCREEN_AHEAD


async def test_looking_lets_others_run():
    rig = Rig()
    rig.write(TestFarBehind.FRAME * 300)
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        text = await rig.screen.look()
        nursery.cancel_scope.cancel()
    assert text == "\n".join(rig.exact).rstrip("\n")
    assert turns >= 5


def test_when_catching_up_is_due():
    rig = Rig()
    assert not rig.write(b"\x1b[m" * 10)
    assert rig.write(b"\x1b[m" * SCREEN_AHEAD)
    rig.screen.text()
    assert not rig.write(b"x")
    assert rig.screen.text() == "x"


SIZES = st.lists(st.tuples(st.integers(5, 30), st.integers(2, 8)), min_size=1, max_size=8)


@given(st.lists(st.tuples(LINES, SIZES), min_size=1, max_size=3), st.integers(1, 4))
def test_sizes_between_which_nothing_was_written_count_as_they_would_one_by_one(parts, row):
    rig = Rig()
    for written, sizes in parts:
        rig.write(b"\r\n".join(written) + b"\x1b[%d;9H" % row)
        for cols, rows in sizes:
            rig.screen.resize(cols, rows)
            rig.all.display.resize(rows, cols)
    assert rig.screen.lines() == rig.exact
    assert rig.screen._emulator.display.reported_cursor() == rig.all.display.reported_cursor()


def test_many_sizes_at_once_are_two_at_most(monkeypatch):
    rig = Rig()
    fitted = []
    display = rig.screen._emulator.display
    monkeypatch.setattr(display, "resize", lambda rows, cols: fitted.append((cols, rows)))
    for number in range(50):
        rig.screen.resize(20 + number % 7, 4 + number % 3)
    rig.screen.lines()
    assert fitted == [(20, 4), (20, 5)]
