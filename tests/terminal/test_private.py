"""What a program says to us alone, taken out of the output."""

import itertools
import re

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.budgets import PRIVATE_BYTES
from hybridmux.terminal.private import PrivateFilter
from tests.support import casts

OPENING = b"\x1b]7501;"
ATOMS = [
    *(OPENING, OPENING + b"?\x07", OPENING + b"state=idle:app=codex\x1b\\", b"\x1b]7501", b"\x1b]0;t\x07"),
    *(b"\x1b", b"]", b"7", b"501;", b"\\", b"\x07", b"\x18", b"\x1a", b"\xc2", b"\x9c", b"x", b"\x1b[1m"),
    b"y" * (PRIVATE_BYTES // 2),
]
STREAMS = st.lists(st.sampled_from(ATOMS), max_size=40).map(b"".join)
RECORDED = sorted(
    str(file.relative_to(casts.ROOT))
    for agent in ("codex", "claudecode")
    for folder in ("pty", "tui")
    for file in (casts.ROOT / folder / agent).glob("*.cast")
)


def feed(pieces):
    """What passes, with what is left at the end, and the payloads."""
    private = PrivateFilter()
    shown, payloads = b"", []
    for piece in pieces:
        passed, heard = private.feed(piece)
        shown += passed
        payloads += heard
    return shown + private.flush(), payloads


@pytest.mark.parametrize(
    ("stream", "shown", "payloads"),
    [
        (b"", b"", []),
        (b"plain \x1b[1mtext\x1b]0;7501;x\x07\n", b"plain \x1b[1mtext\x1b]0;7501;x\x07\n", []),
        (b"a\x1b]7501;?\x07b", b"ab", [b"?"]),
        (b"a\x1b]7501;?\x1b\\b", b"ab", [b"?"]),
        (b"a\x1b]7501;\xc3\x9c\xc2\xa0\xc2\x9cb", b"ab", [b"\xc3\x9c\xc2\xa0"]),
        (b"\x1b]7501;state=idle:app=a;b\x07", b"", [b"state=idle:app=a;b"]),
        (b"\x1b]7501;1\x07\x1b]7501;2\x07 \x1b]7501;3\x07", b" ", [b"1", b"2", b"3"]),
        (b"\x1b]7501\x07\x1b]7501;\x1b\\", b"", [b"", b""]),
        # Other numbers.
        (
            b"\x1b]75010;x\x07\x1b]750;x\x07\x1b]7502;x\x07",
            b"\x1b]75010;x\x07\x1b]750;x\x07\x1b]7502;x\x07",
            [],
        ),
        (b"\x1b]7501x\x07\x1b]7501\xc2\xa0\x07", b"\x1b]7501x\x07\x1b]7501\xc2\xa0\x07", []),
        # Aborted: nothing is said, and what ends it counts.
        (b"a\x1b]7501;x\x18b\x1b]7501;x\x1ac", b"a\x18b\x1ac", []),
        (b"a\x1b]7501;x\x1b[1mb", b"a\x1b[1mb", []),
        (b"a\x1b]7501;x\x1b]7501;y\x07b", b"ab", [b"y"]),
        (b"a\x1b\x1b]7501;y\x07b", b"a\x1bb", [b"y"]),
        # Never ended.
        (b"a\x1b]7501;state=wor", b"a\x1b]7501;state=wor", []),
        (b"a\x1b]7501;x\x1b", b"a\x1b]7501;x\x1b", []),
        (b"a\x1b]75", b"a\x1b]75", []),
    ],
)
def test_what_passes_and_what_is_said(stream, shown, payloads):
    assert feed([stream]) == (shown, payloads)
    assert feed([stream[at : at + 1] for at in range(len(stream))]) == (shown, payloads)


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
@pytest.mark.parametrize("step", [1000, 10**6])
def test_the_longest(end, step):
    for more in (0, 1):
        payload = b"x" * (PRIVATE_BYTES - len(OPENING) - len(end) + more)
        stream = b"a" + OPENING + payload + end + b"b"
        pieces = [stream[at : at + step] for at in range(0, len(stream), step)]
        assert feed(pieces) == ((stream, []) if more else (b"ab", [payload]))


def test_little_is_held_back():
    private = PrivateFilter()
    assert private.feed(b"text\x1b[1m") == (b"text\x1b[1m", [])
    assert private.feed(b"text\x1b") == (b"text", [])
    assert private.feed(b"[1m") == (b"\x1b[1m", [])
    assert private.feed(OPENING + b"x" * 1000) == (b"", [])
    passed, _ = private.feed(b"x" * PRIVATE_BYTES)
    assert passed == OPENING + b"x" * (1000 + PRIVATE_BYTES)
    assert private.feed(b"x") == (b"x", [])


def test_what_has_nothing_of_it_is_not_copied():
    data = b"\x1b[1mtext" * 1000
    assert PrivateFilter().feed(data)[0] is data


@given(stream=STREAMS, cuts=st.lists(st.integers(0, 10_000), max_size=20))
def test_any_way_of_cutting(stream, cuts):
    places = [0, *sorted({cut % (len(stream) + 1) for cut in cuts}), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]
    assert feed(pieces) == feed([stream])


CHUNKS = st.one_of(
    st.text(alphabet="abc\n\u00fc\u2733").map(lambda text: (text.encode(), None)),
    st.sampled_from([(b"\x1b[1;31m", None), (b"\x1b]0;t\x07", None), (b"\x1bP1$r\x1b\\", None)]),
    st.tuples(
        st.text(alphabet="a=:;?1\u00fc", max_size=30).map(str.encode), st.sampled_from([b"\x07", b"\x1b\\"])
    ),
)  # fmt: skip


@given(chunks=st.lists(CHUNKS), cut=st.integers(1, 50))
def test_all_reports_are_taken_out_and_nothing_else(chunks, cut):
    stream = b"".join(OPENING + data + end if end else data for data, end in chunks)
    shown = b"".join(data for data, end in chunks if end is None)
    said = [data for data, end in chunks if end]
    assert feed([stream[at : at + cut] for at in range(0, len(stream), cut)]) == (shown, said)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_agents(name):
    pieces = casts.output(f"../{name}")
    whole = b"".join(pieces)
    sequence = re.compile(rb"\x1b\]7501;([^\x07\x1b]*)(?:\x07|\x1b\\)")
    assert sequence.search(whole)
    shown, payloads = feed(pieces)
    assert b"7501;" not in shown
    assert shown == sequence.sub(b"", whole)
    assert payloads == sequence.findall(whole)


async def test_viewers_do_not_get_it(terminal, shows):
    script = r"""
    stty raw -echo
    printf 'one\033]7501;'; sleep 0.05; printf '?\007two\033]'
    sleep 0.05; printf '7501;state=idle\033\\three'
    dd bs=1 count=10 2>/dev/null | od -c -An; printf '\033]7501;state=wor'"""
    async with terminal(script, answer_osc7501=True) as t:
        await t.wait_exited()
        with trio.fail_after(5):
            while not t.journal.closed:
                await t.journal.wait(t.journal.end)
        output = t.journal.read(0, 10**6)
        assert t.osc7501 == "state=idle"
        assert output.startswith(b"onetwothree")
        assert b"7   5   0   1   ;   ? 033" in output
        assert output.endswith(b"\x1b]7501;state=wor")  # the last words are not forgotten


@pytest.mark.parametrize("last", [r"\033", r"\033]7501;state"])
async def test_a_killed_program_held_back_nothing(terminal, last):
    async with terminal(rf"printf '\033[?2004hup{last}'; kill -9 $$") as t:
        await t.wait_exited()
        output = t.journal.read(0, 10**6)
        start = b"\x1b[?2004hup" + last.encode().replace(rb"\033", b"\x1b")
        assert output == start + b"\x18\x1b[?2004l\x1b[m"
