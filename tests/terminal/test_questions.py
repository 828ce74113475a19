"""What a program asks its terminal: answered once, whoever looks on or nobody."""

import itertools
from contextlib import asynccontextmanager

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from hybridmux.budgets import ANSWER_GRACE, ANSWER_LATE
from hybridmux.terminal.output import Output
from hybridmux.terminal.questions import Questions

ASK = r"""
stty raw -echo
ask() { printf "$1"; dd bs=1 count="$2" 2>/dev/null | od -An -c | tr -d ' \n'; }
"""


async def said(t):
    """All that the program has shown at its end."""
    with trio.fail_after(10):
        await t.wait_exited()
        while not t.journal.closed:
            await t.journal.wait(t.journal.end)
    return t.journal.read(0, 10**6).decode()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (r"\033[6n", "[1;1R"),
        (r"\033[?6n", "[?1;1R"),
        (r"ab\033[6n", "[1;3R"),
        (r"\r\n\n  \033[6n", "[3;3R"),
        (r"\033[12;40H\033[6n", "[12;40R"),
        (r"\033[99;999H\033[6n", "[24;80R"),
        # Behind the last column, where the next character wraps.
        (r"\033[1;80Hx\033[6n", "[1;80R"),
        # With origin mode rows count from the region's first.
        (r"\033[5;20r\033[?6h\033[3;2H\033[6n", "[3;2R"),
        (r"\344\270\255\033[6n", "[1;3R"),
    ],
)
async def test_the_cursor(terminal, asked, answer):
    async with terminal(ASK + f"ask '{asked}' {len(answer) + 1}", cols=80, rows=24) as t:
        shown = await said(t)
    assert shown.endswith("033" + answer)


async def test_after_a_change_of_size(terminal, shows):
    script = ASK + r"printf '\033[30;90Hready'; read -r _; ask '\033[6n' 8"
    async with terminal(script, cols=100, rows=36) as t:
        await shows(t, "ready")
        t.resize(60, 20)
        await t.write(b"\n")
        assert (await said(t)).endswith("033[20;60R")


async def test_a_program_that_asks_and_never_reads_is_no_trouble(terminal, shows):
    script = r"""
    stty raw -echo; i=0
    while [ $i -lt 3000 ]; do printf '\033[6n'; i=$((i+1)); done
    echo done; sleep 60"""
    async with terminal(script) as t:
        await shows(t, "done")
        assert t.journal.read(0, 10**6).endswith(b"done\n")


class Played:
    """The output of a program with so many viewers, and what is written to it."""

    def __init__(self, viewers: int) -> None:
        self.output = Output(20, 5, 2**16, listens=True, viewers=lambda: viewers)
        self.written: list[bytes] = []

    async def write(self, data: bytes) -> None:
        self.written.append(data)

    async def type(self, data: bytes) -> None:
        """A viewer's input."""
        if sifted := self.output.questions.sift(data):
            await self.write(sifted)

    async def told(self) -> list[bytes]:
        """What has been written by now, in order."""
        await wait_all_tasks_blocked()
        return self.written


@asynccontextmanager
async def played(viewers):
    play = Played(viewers)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play.output.questions.run, play.write)
        yield play
        nursery.cancel_scope.cancel()


async def test_nobody_looks_and_it_is_answered_at_once(autojump_clock):
    async with played(0) as p:
        p.output.take(b"abc\x1b[6n")
        assert await p.told() == [b"\x1b[1;4R"]
        assert trio.current_time() == 0


async def test_a_viewer_s_answers_come_in_order_and_alone(autojump_clock):
    async with played(1) as p:
        p.output.take(b"\x1b]11;?\x1b\\\x1b[6n")
        await trio.sleep(ANSWER_GRACE / 2)
        await p.type(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[1;1R")
        await trio.sleep(10 * ANSWER_GRACE)
        assert await p.told() == [b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[1;1R"]


async def test_a_viewer_that_does_not_answer_in_time_answers_nothing(autojump_clock):
    async with played(1) as p:
        p.output.take(b"ab\x1b[?6n")
        assert await p.told() == []
        await trio.sleep(1.1 * ANSWER_GRACE)
        await p.type(b"x\x1b[?1;3Ry")
        await p.type(b"\x1b[1;2R")  # F3 with Shift
        assert await p.told() == [b"\x1b[?1;3R", b"xy", b"\x1b[1;2R"]


async def test_of_two_viewers_one_answers(autojump_clock):
    async with played(2) as p:
        p.output.take(b"\x1b[6n")
        await p.type(b"\x1b[1;1R")
        await p.type(b"\x1b[1;1R")
        p.output.take(b"ab\x1b[6n\x1b[6n")
        await p.type(b"\x1b[1;3R\x1b[1;3R")
        await p.type(b"\x1b[1;3R\x1b[1;3R")
        await p.type(b"\x1b[1;2R")
        await trio.sleep(10 * ANSWER_GRACE)
        assert await p.told() == [b"\x1b[1;1R", b"\x1b[1;3R\x1b[1;3R", b"\x1b[1;2R"]


async def test_a_key_that_looks_like_an_answer_is_no_late_one(autojump_clock):
    async with played(1) as p:
        await p.type(b"\x1b[1;5R")
        p.output.take(b"\x1b[6n")
        await trio.sleep(ANSWER_GRACE + 1.1 * ANSWER_LATE)
        await p.type(b"\x1b[1;5R")
        assert await p.told() == [b"\x1b[1;5R", b"\x1b[1;1R", b"\x1b[1;5R"]


async def test_a_flood_of_questions_waits_once(autojump_clock):
    async with played(1) as p:
        p.output.take(b"\x1b[6n" * 1000)
        await trio.sleep(1.1 * ANSWER_GRACE)
        assert set(await p.told()) == {b"\x1b[1;1R"}
        assert 10 < len(p.written) < 100
        p.output.take(b"ab\x1b[6n")
        await trio.sleep(1.1 * ANSWER_GRACE)
        assert (await p.told())[-1] == b"\x1b[1;3R"


async def test_answers_that_never_come_are_not_waited_for_without_end(autojump_clock):
    async with played(3) as p:
        for _ in range(200):
            p.output.take(b"\x1b[6n")
            await trio.sleep(1.1 * ANSWER_GRACE)
        assert len(await p.told()) == 200
        assert len(p.output.questions._late) < 30


@pytest.mark.parametrize("behind", [b"", b"\r\nx" * 3, b"\r\nline" * 200])
async def test_the_place_is_the_one_of_the_question(autojump_clock, behind):
    async with played(0) as p:
        p.output.take(b"prompt> \x1b[6n" + behind)
        assert await p.told() == [b"\x1b[1;9R"]


ATOMS = [
    b"\x1b[6n",
    b"\x1b[?6n",
    b"\x1b",
    b"[",
    b"?",
    b"6",
    b"n",
    b"\x1b[16n",
    b"\x1b[6;1n",
    b"text",
    b"\x1b[1m",
]


def heard(pieces):
    """(position, dec) of each question."""
    questions = Questions(None, lambda: 0)
    found = []
    questions._ask = lambda position, *, dec: found.append((position, dec))
    at = 0
    for piece in pieces:
        questions.listen(piece, at)
        at += len(piece)
    return found


@pytest.mark.parametrize(
    ("stream", "found"),
    [
        (b"ab\x1b[6ncd\x1b[?6n", [(6, False), (13, True)]),
        (b"\x1b\x1b[6n\x1b]0;t\x1b[6n", [(5, False), (14, False)]),
        (b"[6n \x1b[16n \x1b[6;1n \x1b[5n \x1b[>6n \x1b[6", []),
    ],
)
def test_what_is_a_question(stream, found):
    assert heard([stream]) == found


@given(
    stream=st.lists(st.sampled_from(ATOMS), max_size=30).map(b"".join),
    cuts=st.lists(st.integers(0, 10_000), max_size=20),
)
def test_any_way_of_cutting_asks_the_same(stream, cuts):
    places = [0, *sorted({cut % (len(stream) + 1) for cut in cuts}), len(stream)]
    assert heard(stream[start:end] for start, end in itertools.pairwise(places)) == heard([stream])
