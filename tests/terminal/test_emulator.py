"""The screen's text after given output; most rows are things stock pyte does otherwise or not at all."""
# ruff: noqa: RUF001 - the agents' own glyphs

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridmux.terminal.emulator import CONTROLS, ESCAPES, METHODS, Emulator
from tests.support import casts
from tests.terminal.test_markers import STREAMS

CSI = [f"\x1b[{'?' if key[0] == '?' else ''}%s{key.lstrip('?')}".encode() for key in METHODS]


def screen(*pieces, cols=10, rows=4):
    emulator = Emulator(cols, rows)
    for piece in pieces:
        emulator.feed(piece if isinstance(piece, bytes) else piece.encode())
    return "\n".join(emulator.display.rows_text()).rstrip("\n")


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("a\x1bP+q4d73\x1b\\b", "ab"),
        ("a\x1b_Gi=1;AAAA\x1b\\b", "ab"),
        ("a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"),
        ("a\x1b]0;title\x07b\x1b]2;t\x1b\\c\x1b]8;;x\x9cd", "abcd"),
        ("a\x1bPabc\x18b\x1b]xyz\x1ac", "abc"),
        ("a\x90dcs\x9cb\x9d0;t\x07c", "abc"),
        ("a\x1bP dcs \x07 goes on\x1b\\b", "ab"),
    ],
)
def test_strings_are_not_drawn(output, shown):
    assert screen(output) == shown


@pytest.mark.parametrize(
    "sequence",
    [
        *(
            "\x1b[4:3m",
            "\x1b[38:2::1:2:3m",
            "\x1b[38:5:1m",
            "\x1b[58:2::1:2:3m",
            "\x1b[58;2;1;2;3m",
            "\x1b[58;5;1m",
        ),
        *(
            "\x1b[>4;1m",
            "\x1b[?4m",
            "\x1b[<u",
            "\x1b[=5;1u",
            "\x1b[>5u",
            "\x1b[?u",
            "\x1b[?6n",
            "\x1b[6n",
            "\x1b[c",
        ),
        *(
            "\x1b[>0q",
            "\x1b[?2026$p",
            "\x1b[!p",
            "\x1b[2 q",
            "\x1b[1;2;3;4;5A",
            "\x1b[38m",
            "\x1b[38;5m",
        ),
        *(
            "\x1b[48;2;1m",
            "\x1b[38;5;999m",
            "\x1b[5J",
            "\x1b[9K",
            "\x1b[3J",
            "\x1b[999999999999999A",
            "\x1b[;;;;m",
        ),
        *(
            "\x1b[?3h",
            "\x1b[?3l",
            "\x1b%G",
            "\x1b=",
            "\x1b>",
            "\x1b#3",
            "\x1b(B",
            "\x1b[?1;2c",
            "\x1b[14t",
            "\x1b[t",
        ),
        *(
            "\x1b[1;31",
            "\x1b",
            "\x1b\x1b",
            "\x9b4:3m",
            "\x07",
            "\x00",
            "\x7f",
            "\x1b[1\x1b[1m",
            "\x1b[3\x18",
            "\x1b[",
        ),
    ],
)
def test_what_shows_nothing(sequence):
    after = "\x1b[mb" if sequence in ("\x1b[1;31", "\x1b", "\x1b\x1b", "\x1b[") else "b"
    assert screen("a" + sequence + after) == "ab"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("one\x1b[?1049h\x1b[Htwo", "two"),
        ("one\x1b[?1049h\x1b[Htwo\x1b[?1049l!", "one!"),
        ("one\x1b[?47h\x1b[2;2Htwo\x1b[?47l!", "one\n    !"),
        ("one\x1b[?1049h\x1b[?1049hx\x1b[?1049l\x1b[?1049l", "one"),
        ("one\x1b[?1049htwo\x1bcthree\x1b[?1049l", "three"),
        ("one\x1b[?1049h\x1b[2J\x1b[Hx", "x"),
    ],
)
def test_the_alternate_screen(output, shown):
    assert screen(output) == shown


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("ab\x1b[3b", "abbbb"),
        ("\x1b[99999999bx", "x"),
        ("ab\x1b[2b\x1b[2b", "abbb"),
        ("a\x1b[31m\x1b[2bc", "ac"),
        ("a\b\x1b[2bc", "c"),
        ("12345678\x1b[12b", "1234567888\n8888888888"),
        ("ab\x1b[37bc", "abb" + "b" * 7 + ("\n" + "b" * 10) * 2 + "\n" + "b" * 9 + "c"),
        ("ab\x1b[9999bc", "\n".join(["b" * 10] * 3 + ["bc"])),
        ("\x1b[?7lab\x1b[99bc", "abbbbbbbbc"),
        ("中\x1b[5bx", "中" * 5 + "\n中x"),
        ("e\u0301\x1b[2b", "é" * 3),
        ("123456789中", "123456789\n中"),
        ("0123456789\nx", "0123456789\n         x"),
        ("中\x1b[1;2Hx", " x"),
        ("中文\x1b[1;2H\x1b[2X", ""),
        ("a中b\x1b[1;3H\x1b[P", "a b"),
        ("\x1b[4;5Hx\x1b#8y", "yEEEEEEEEE" + "\nEEEEEEEEEE" * 3),
        ("\x1b[4h中a\x1b[1;1H12345678", "12345678中"),
        ("\x1b[1;5H\x1bH\x1b[1;1H\tx\x1b[1;5H\x1b[g\r\ty", "    x   y"),
        ("one\x1b[?47h\x1b[4;1H\x1b[?47lx", "one\n\n\nx"),
        ("1\r\n2\r\n3\x1b[S", "2\n3"),
        ("1\r\n2\r\n3\x1b[2T", "\n\n1\n2"),
        ("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[S", "1\n3\n\n4"),
        ("1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[L", "1\n\n2\n3"),
        ("1\r\n\r\n3\r\n4\x1b[1;1H\x1b[M", "\n3\n4"),
        ("1\r\n2\r\n3\r\n4\x1b[2;1H\x1b[99M", "1"),
        ("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[4;1H\x1b[M", "1\n2\n3\n4"),
        ("a\tb\x1b[Zc", "a       c"),
        ("\x1b[Ia\x1b[2Zb", "b       a"),
        ("abc\x1b[3J", "abc"),
        ("\x1b7ab\x1b8c\x1b8d", "db"),
        ("\x1b[sab\x1b[uc\x1b[ud", "db"),
        ("a\x1b(0qx\x1b(Bq", "a─│q"),
        ("a\x1b)0\x0eq\x0fq", "a─q"),
        ("a\x84b\x85c\x8dd", "a\n d\nc"),
        ("a\x1bEb", "a\nb"),
        ("\x1b[?6h\x1b[2;3dx", "\nx"),
        ("\x1b[2;3r\x1b[?6h\x1b[1dx", "\nx"),
    ],
)
def test_what_is_added(output, shown):
    assert screen(output) == shown


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("a\u200db", "ab"),
        ("⚠\ufe0f b", "⚠ b"),
        ("e\u0301x", "éx"),
        ("中文", "中文"),
        ("\u0301a", "a"),
        ("a" + "\u0316" * 1000, "a" + "\u0316" * 7),
        ("😀\x1b[1;1Hx", "x"),
        (b"\xff\xfea\xc3", "\ufffd\ufffda"),
    ],
)
def test_characters(output, shown):
    assert screen(output) == shown


CURSORS = ["", "\x1b[2;3r", "\x1b[?7l", "\x1b[4h", "\x1b[4;6H", "\x1b[2;3r\x1b[4;2H", "\x1b[3;7H"]


@given(
    st.lists(st.sampled_from([*CURSORS, "text", "\x1b#8", "中文中文"]), max_size=5).map("".join),
    st.sampled_from(["a", "中", "e\u0301", "0123456中"]),
    st.integers(1, 300),
)
@settings(max_examples=400, deadline=None)
def test_repeating_is_drawing_it_so_often(before, text, count):
    last = "e\u0301" if text == "e\u0301" else text[-1]
    repeated, drawn = Emulator(7, 4), Emulator(7, 4)
    repeated.feed(f"{before}{text}\x1b[{count}b".encode())
    drawn.feed(f"{before}{text}{last * count}".encode())
    assert repeated.display.rows_text() == drawn.display.rows_text()
    assert repeated.display.cursor.x == drawn.display.cursor.x
    assert repeated.display.cursor.y == drawn.display.cursor.y


@pytest.mark.parametrize(
    "nothing",
    [
        "58;5;1",
        "58;2;1;2;3",
        "58",
        "58;5",
        "58;2;1",
        "58:5:1",
        "58:2::1:2:3",
        "38:2",
        "38:5",
        "48:9:1",
        "7:3",
    ],
)
def test_what_changes_no_attribute_resets_none(nothing):
    emulator = Emulator(10, 4)
    emulator.feed(b"\x1b[31;1m")
    before = emulator.display.cursor.attrs
    emulator.feed(f"\x1b[{nothing}m".encode())
    assert emulator.display.cursor.attrs == before
    emulator.feed(f"\x1b[{nothing};0m".encode() if ":" in nothing else b"\x1b[m")
    assert not emulator.display.modes().graphics


@pytest.mark.parametrize(
    ("given", "fg", "bold"),
    [
        ("38:5;1", "default", True),
        ("38:2::1:2:3;1", "010203", True),
        ("38:2:1:2:3", "010203", False),
        ("38:2::1:2:3:0:1", "010203", False),
        ("58;5;1;31", "red", False),
        ("31;58;2;1;1;1;1", "red", True),
    ],
)
def test_colours_take_what_is_theirs(given, fg, bold):
    emulator = Emulator(10, 4)
    emulator.feed(f"\x1b[{given}m".encode())
    assert (emulator.display.cursor.attrs.fg, emulator.display.cursor.attrs.bold) == (fg, bold)


def test_accents_one_by_one_are_bounded_too():
    assert screen("a", *["\u0316"] * 1000) == "a" + "\u0316" * 7


@pytest.mark.parametrize(
    ("size", "shown"),
    [((10, 2), "3\n4"), ((10, 6), "1\n2\n3\n4"), ((1000, 1000), "1\n2\n3\n4"), ((2, 2), "3\n4")],
)
def test_resizing_keeps_the_cursors_rows(size, shown):
    emulator = Emulator(10, 4)
    emulator.feed(b"1\r\n2\r\n3\r\n4")
    cols, rows = size
    emulator.display.resize(rows, cols)
    assert "\n".join(emulator.display.rows_text()).rstrip() == shown
    assert len(emulator.display.rows_text()) == rows
    emulator.feed(b"\r\nx")
    assert emulator.display.rows_text()[min(rows - 1, 4)] == "x"


def test_growing_shows_no_old_cells():
    emulator = Emulator(10, 4)
    emulator.feed(b"0123456789\x1b[H")
    emulator.display.resize(4, 5)
    emulator.display.resize(4, 10)
    assert emulator.display.rows_text()[0] == "01234"


@given(
    st.lists(
        st.one_of(
            STREAMS,
            st.sampled_from(CSI).flatmap(
                lambda form: st.lists(st.integers(0, 10**6), max_size=4).map(
                    lambda n: form % ";".join(map(str, n)).encode()
                )
            ),
            st.sampled_from(["\x1b" + key for key in ESCAPES] + list(CONTROLS)).map(str.encode),
            st.text().map(lambda text: text.encode("utf-8", "replace")),
        ),
        max_size=30,
    ),
    st.data(),
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_in_any_pieces(pieces, data):
    stream = b"".join(pieces)
    whole, parts = Emulator(12, 5), Emulator(12, 5)
    whole.feed(stream)
    at = 0
    while at < len(stream):
        step = data.draw(st.integers(1, 20))
        parts.feed(stream[at : at + step])
        at += step
    assert parts.display.rows_text() == whole.display.rows_text()
    assert (parts.display.cursor.x, parts.display.cursor.y) == (
        whole.display.cursor.x,
        whole.display.cursor.y,
    )
    assert [len(row) for row in whole.display.cells.rows] == [12] * 5
    assert len(whole.display.savepoints) <= 1
    cols, rows = data.draw(st.integers(2, 30)), data.draw(st.integers(2, 10))
    whole.display.resize(rows, cols)
    assert len(whole.display.rows_text()) == rows
    assert 0 <= whole.display.cursor.y < rows
    whole.feed(stream)


@pytest.mark.parametrize("endless", [b"\x1b[1;", b"\x1b]0;", b"\x1bP", b"\x1b(((", b"\x1b[\n"])
def test_an_endless_sequence_is_not_kept(endless):
    emulator = Emulator(10, 4)
    emulator.feed(endless[:2])
    for _ in range(40):
        emulator.feed(endless[2:] * 1000)
    assert sys.getsizeof(emulator._rest) < 20_000


EXPECTED = {
    "opencode/turn.cast": (
        ["┃  hello from tui", "echo: hello from tui", "esc interrupt", "ctrl+p commands"],
        "Continue  opencode -s ses_dd5a83dafffekSSDYWIIpbzsnc",
    ),
    "codex/turn.cast": (
        ["› hello from tui", "• Working (0s • esc to interrupt)", "› Ask Codex to do anything"],
        "codex resume 01a22a6a-5af0-7981-aab3-47cfeff25d82",
    ),
    "claudecode/status.cast": (
        ["Do you want to proceed?", "❯ 1. Yes", "esc to interrupt"],
        "claude --resume f7fa20ca-8895-49c3-8203-f91f36f4446b",
    ),
    "omp/resume.cast": (
        ["three 7762 from tui", "Closing session…"],
        "Resume this session with omp --resume 01a22a67-a517-74dd-9305-64e5da8f0594",
    ),
}
"""What a person saw on the way, and what was left when the program had gone."""


@pytest.mark.parametrize("name", casts.NAMES)
def test_recordings(name):
    on_the_way, left = EXPECTED[name]
    emulator = Emulator(*casts.size(name))
    missing = set(on_the_way)
    text = ""
    for piece in casts.output(name):
        emulator.feed(piece)
        text = "\n".join(emulator.display.rows_text())
        missing = {one for one in missing if one not in text}
        # Nothing that belongs to a sequence is ever drawn.
        assert not [one for one in ("+q4d73", "Gi=", "4:3m", "[<u", "rgb:", "7501;") if one in text]
    assert missing == set()
    assert left in text
    assert not emulator.display.alternate
    assert not emulator.display.bracketed_paste
