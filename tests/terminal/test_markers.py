import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridmux.budgets import OSC_BYTES, SAFE_GRID
from hybridmux.terminal import markers
from hybridmux.terminal.emulator import Emulator
from hybridmux.terminal.markers import Osc, Scanner
from tests.support import casts

CODES = frozenset({0, 2, 7501})
ATOMS = [
    *(b"\x1b", b"[", b"]", b"P", b"X", b"_", b"\\", b"0;", b"7501;", b"2", b"m", b"?25h", b" ", b"(", b"c"),
    *(
        b"\x07",
        b"\x18",
        b"\x1a",
        b"\n",
        b"\x7f",
        b"a",
        b"text",
        b"\xc2",
        b"\x9b",
        b"\x9c",
        b"\x9d",
        b"\x90",
        b"\xa0",
    ),
    *(b"\xe2\x9c\xb3", b"\xe2", b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\x80", b"\xff"),
]
STREAMS = st.one_of(st.lists(st.sampled_from(ATOMS), max_size=60).map(b"".join), st.binary(max_size=200))


def scan(pieces, grid):
    scanner = Scanner(CODES)
    scanner._next = grid
    events = [event for piece in pieces for event in scanner.feed(piece)]
    return scanner, events


@pytest.fixture
def small_grid(monkeypatch):
    """Every position counts, or every fourth."""

    def set_to(grid):
        monkeypatch.setattr(markers, "SAFE_GRID", grid)
        return grid

    return set_to


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"a\x1b]0;title\x07b", [Osc(0, b"title", 11)]),
        (b"\x1b]2;title\x1b\\b", [Osc(2, b"title", 10)]),
        (b"\x1b]0;\xe2\x9c\xb3 Claude\xc2\x9c", [Osc(0, b"\xe2\x9c\xb3 Claude", 16)]),
        (b"\xc2\x9d0;x\x07", [Osc(0, b"x", 6)]),
        (b"\x1b]7501;?\x07", [Osc(7501, b"?", 9)]),
        (b"\x1b]7501;state=idle:app=a;b\x07", [Osc(7501, b"state=idle:app=a;b", 26)]),
        (b"\x1b]0;\x07", [Osc(0, b"", 5)]),
        (b"\x1b]0\x07", [Osc(0, b"", 4)]),
        (b"\x1b]0;one\x1b]0;two\x07", [Osc(0, b"one", 8), Osc(0, b"two", 15)]),
        (b"\x1b]1;icon\x07\x1b]8;;http://x\x07\x1b]x;\x07\x1b];\x07\x1b]00000000000;x\x07", []),
        (b"\x1b]0;gone\x18\x1b]0;gone\x1a", []),
        (b"\x1bP\x1b]0;in a string\x07", [Osc(0, b"in a string", 18)]),
        (b"\x1bP]0;no\x07\x1b\\\x1b_]0;no\x07\x1b\\\x1b^\x9d0;no\x07\x1b\\\x1bX0;no\x07", []),
        (b"\x1b[31]0;no\x07", []),
        (b"\x1b(]0;no\x07", []),
    ],
)
def test_what_is_found(stream, events):
    assert scan([stream], 1)[1] == events
    assert scan([bytes([byte]) for byte in stream], 1)[1] == events


@pytest.mark.parametrize(
    ("stream", "unsafe"),
    [
        (b"abc", set()),
        (b"a\x1b[31mb", {2, 3, 4, 5}),
        (b"a\x1b(0b", {2, 3}),
        (b"a\x1b7b", {2}),
        (b"\x1b]0;t\x07b", {1, 2, 3, 4, 5}),
        (b"\x1b]0;t\x1b\\b", {1, 2, 3, 4, 5, 6}),
        (b"\x1bPq\x07q\x1b\\b", {1, 2, 3, 4, 5, 6}),
        (b"\xe2\x9c\xb3b", {1, 2}),
        (b"\xf0\x9f\x98\x80", {1, 2, 3}),
        (b"\xc3\xa4\xc2\xa0", {1, 3}),
        (b"\xc2\x9b1mb", {1, 2, 3}),
        (b"\xe2\x9cb", {1, 2}),  # broken off: safe again after the next character
        (b"\x80\x80\x80", set()),
        (b"\xff\xc0\x80", set()),
        (b"\x1b[1\x1b[2mb", {1, 2, 3, 4, 5, 6}),
        (b"\x1b[1\x18b", {1, 2, 3}),
        (b"\x1b[1\nmb", {1, 2, 3, 4}),
        (b"\x1b[1\xc3\xa4b", {1, 2, 4}),  # the character ends it without belonging to it
        (b"\x1b\x1b\x1bcb", {1, 2, 3}),
    ],
)
def test_where_one_may_cut(stream, unsafe, small_grid):
    scanner, _ = scan([stream], small_grid(1))
    safe = {position for position in range(len(stream) + 1) if scanner.first_safe(position) == position}
    assert set(range(len(stream) + 1)) - safe == unsafe


@given(STREAMS, st.data(), st.sampled_from([1, 4, 16]))
@settings(max_examples=300, deadline=None)
def test_cutting_the_input_changes_nothing(stream, data, grid):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markers, "SAFE_GRID", grid)
        (whole, events), (cut, cut_events) = scan([stream], grid), scan(pieces, grid)
        single, single_events = scan([bytes([byte]) for byte in stream], grid)
    assert events == cut_events == single_events
    assert whole._safe == cut._safe == single._safe
    assert whole.safe_end == cut.safe_end == single.safe_end


@given(STREAMS)
@settings(max_examples=300, deadline=None)
def test_a_safe_place_is_text_for_the_emulator_too(stream):
    """Two parsers that share nothing: where one may cut, the other is between characters and sequences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markers, "SAFE_GRID", 1)
        scanner, _ = scan([stream], 1)
    for position in scanner._safe:
        emulator = Emulator(20, 5)
        emulator.feed(stream[:position])
        # A byte above ASCII ends a sequence without belonging to it, which shows only when it comes.
        assert emulator.in_text or stream[position] >= 0x80


@pytest.mark.parametrize("name", casts.NAMES)
def test_recordings_begin_safely_anywhere(name):
    """From each safe place on the drawing goes on as if it had been read from the start."""
    stream = b"".join(casts.output(name))
    scanner = Scanner(CODES)
    scanner.feed(stream)
    assert len(scanner._safe) >= len(stream) // SAFE_GRID - 2
    assert scanner.safe_end == len(stream)
    for position in scanner._safe:
        once, twice = Emulator(100, 30), Emulator(100, 30)
        once.feed(stream)
        twice.feed(stream[:position])
        twice.resync()
        twice.feed(stream[position:])
        assert twice.display.rows_text() == once.display.rows_text()


def test_one_place_for_each_line_of_the_grid():
    scanner = Scanner(CODES)
    for _ in range(100):
        scanner.feed(b"y\r\n" * 1000)
    assert scanner._safe[:4] == [0, SAFE_GRID, 2 * SAFE_GRID, 3 * SAFE_GRID]
    assert scanner.first_safe(SAFE_GRID + 1) == 2 * SAFE_GRID
    assert scanner.first_safe(300_000) == 300_000
    assert scanner.first_safe(300_001) is None


def test_the_places_are_bounded():
    scanner = Scanner(CODES, keep=10)
    for _ in range(1000):
        scanner.feed(bytes(SAFE_GRID))
    assert len(scanner._safe) <= 10
    assert scanner._safe[-1] == 1000 * SAFE_GRID


@pytest.mark.parametrize(("size", "found"), [(OSC_BYTES, True), (OSC_BYTES + 1, False)])
def test_long_strings_are_passed_over(size, found):
    scanner = Scanner(CODES)
    payload = b"0;" + b"x" * (size - 2)
    events = [
        event
        for at in range(0, size, 1000)
        for event in scanner.feed((b"\x1b]" if not at else b"") + payload[at : at + 1000])
    ]
    assert events == []
    assert bool(scanner.feed(b"\x07")) is found
    assert scanner.feed(b"\x1b]0;next\x07")[0].data == b"next"


def test_an_endless_string_costs_nothing():
    scanner = Scanner(CODES)
    scanner.feed(b"before\x1b]0;")
    for _ in range(300):
        scanner.feed(b"x" * 65536)
    assert len(scanner._payload) <= OSC_BYTES
    assert scanner.safe_end == 6
    assert len(scanner._safe) == 1


@pytest.mark.parametrize("seed", range(5))
def test_noise(seed):
    noise = random.Random(seed).randbytes(300_000)
    scanner, _ = scan([noise], SAFE_GRID)
    assert scanner.position >= len(noise) - 1
