"""What the bytes that go into a terminal tell of a person."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.conversation.typed import Typed, without_suspend

REPLIES = [
    b"\x1b[?62;4c", b"\x1b[>0;276;0c", b"\x1b[12;40R", b"\x1b[?1u", b"\x1b[?2026;2$y",
    b"\x1b[8;24;80t", b"\x1b[0n",
    b"\x1b]11;rgb:1d1d/2222/3333\x1b\\", b"\x1b]10;rgb:ff/ff/ff\x07", b"\x1b]7501;?\x1b\\",
    b"\x1b]52;c;aGVsbG8=\x07",
    b"\x1bP>|xterm.js(5)\x1b\\", b"\x1bP1+r544e=78\x1b\\", b"\x1b_Gi=31;OK\x1b\\",
    b"\x1b[I", b"\x1b[O", b"\x1b[<0;12;7M", b"\x1b[<35;12;7m", b"\x1b[M !!", b"\x1b[MC\xe0\x7f",
    b"\x1b[32;12;7M", b"\x1b[13;1:3u", b"\x1b[97;1:3u",
]  # fmt: skip
"""What a terminal sends by itself; the last two are keys that are let go."""
SILENT_KEYS = [
    b"\x1b[A",
    b"\x1bOP",
    b"\x1b[3~",
    b"\x1b[1;5C",
    b"\x1bb",
    b"\t",
    b"\x7f",
    b"\x0c",
    b"\x1b[57441u",
]
PASTE = b"\x1b[200~%b\x1b[201~"
KEYS = [
    *(
        b"a",
        b"\xc3\xbc",
        b"word",
        b" ",
        b"\r",
        b"\n",
        b"\x03",
        b"\x04",
        b"\x15",
        b"\x1b",
        b"\x1b\r",
        b"\x1bOM",
    ),
    *(b"[", b"]", b"P", b"\\", b"\x07", b"200~", b"1;", b"u", b"\x1b[13u", b"\x1b[13;2u", b"\x1b[99;5u"),
    *(
        b"\x1b[27;5;117~",
        b"\x1b[27;2;13~",
        PASTE % b"a\rb",
        PASTE % b"\r",
        b"\x1b[200~",
        b"\x1b[201~",
        b"\x1b[M",
    ),
    b"\x1b[" + b"1" * 60,
]


def seen(*pieces):
    typed = Typed()
    for piece in pieces:
        typed.feed(piece)
    return typed.entered, typed.unsent


@pytest.mark.parametrize(
    ("data", "entered", "unsent"),
    [
        (b"", False, False),
        (b"hello", False, True),
        (b"\xc3\xbc", False, True),
        (b"hello\r", True, False),
        (b"hello\n", True, False),
        (b"\r", True, False),
        (b"one\rtwo", True, True),
        *((b"hello" + key, False, False) for key in (b"\x03", b"\x04", b"\x15")),
        (b"hello\x7f\x7f", False, True),
        # kitty's keys
        (b"hello\x1b[13u", True, False),
        (b"hello\x1b[13;1u", True, False),
        (b"hello\x1b[13;129:1u", True, False),
        (b"hello\x1b[57414u", True, False),
        (b"hello\x1b[13;2u", True, True),
        (b"hello\x1b[13;1:3u", False, True),
        (b"\x1b[97u", False, True),
        (b"\x1b[97:65;2;65u", False, True),
        *((b"hello\x1b[%d;5u" % code, False, False) for code in b"cdu"),
        (b"hello\x1b[97;5u", False, True),
        (b"\x1b[97;5u\x1b[98;3u\x1b[127u\x1b[9u\x1b[27u", False, False),
        # modifyOtherKeys, Alt, the number pad
        (b"hello\x1b[27;5;99~", False, False),
        (b"hello\x1b[27;2;13~", True, True),
        (b"hello\x1b\r", True, True),
        (b"hello\x1bOM", True, False),
        # pastes
        (PASTE % b"one\rtwo\n", False, True),
        (PASTE % b"\r\n", False, False),
        (PASTE % b"text" + b"\r", True, False),
        (b"\x1b[200~text\r", False, True),
        (PASTE % b"\x1b[13u\x03", False, True),
        # Esc alone, and what is no sequence
        (b"\x1b\x03", False, False),
        (b"hello\x1b\x1b\x15", False, False),
        (b"\x1b[3\r", True, False),
        (b"\x1b]\r", True, False),
        (b"\x1b]11;rgb:1\x1b[13u", True, False),
        (b"\x1b[Ma", False, False),
    ],
)
def test_keys(data, entered, unsent):
    assert seen(data) == (entered, unsent)
    assert seen(*(data[at : at + 1] for at in range(len(data)))) == (entered, unsent)


@pytest.mark.parametrize("reply", [*REPLIES, *SILENT_KEYS])
@pytest.mark.parametrize("before", [b"", b"text", b"text\r"])
def test_what_is_neither(reply, before):
    assert seen(before + reply) == seen(before)
    assert seen(before, *(reply[at : at + 1] for at in range(len(reply)))) == seen(before)
    assert seen(before + reply + b"x\r") == (True, False)


def test_a_command_with_arguments():
    typed = Typed(entered=True)
    assert (typed.entered, typed.unsent) == (True, False)


def test_long_pastes_and_answers_are_not_kept():
    typed = Typed()
    for opening in (b"\x1b]52;c;", b"\x1b[200~"):
        typed.feed(opening)
        for _ in range(100):
            typed.feed(b"a" * 10_000)
        assert len(typed._held) < 10
        typed.feed(b"\x1b\\")


@given(
    stream=st.lists(st.sampled_from([*REPLIES, *KEYS]), max_size=20).map(b"".join),
    cuts=st.lists(st.integers(0, 1000), max_size=10),
)
def test_any_way_of_cutting(stream, cuts):
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    assert seen(*(stream[start:end] for start, end in pairwise(places))) == seen(stream)


@given(replies=st.lists(st.sampled_from(REPLIES)), step=st.integers(1, 20))
def test_replies_never_count(replies, step):
    stream = b"".join(replies)
    assert seen(*(stream[at : at + step] for at in range(0, len(stream), step))) == (False, False)


@given(st.lists(st.binary(max_size=30)))
def test_noise(pieces):
    assert seen(*pieces) == seen(b"".join(pieces))


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"\x1a", b""),
        (b"a\x1ab\r", b"ab\r"),
        (b"\x1b[122;5u", b""),
        (b"\x1b[122;5:1u\x1b[122;5:3u", b""),
        (b"\x1b[122::122;69u", b""),
        (b"\x1b[27;5;122~", b""),
        (b"\x1b[122;6u", b"\x1b[122;6u"),  # with Shift it is another key
        (b"\x1b[122u", b"\x1b[122u"),
        (b"\x1b[97;5u", b"\x1b[97;5u"),
        (b"\x1b[A\x03z", b"\x1b[A\x03z"),
    ],
)
def test_ctrl_z_in_any_form_is_left_out(data, left):
    assert without_suspend(data) == left
