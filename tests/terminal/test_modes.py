"""What a killed program has left on, and what switches it off: by table, over recordings, on real PTYs."""

import re
import signal

import pytest
import trio
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.budgets import SCREEN_BEHIND, Budgets
from hybridmux.journal import ByteJournal
from hybridmux.terminal.emulator import Emulator
from hybridmux.terminal.markers import Scanner
from hybridmux.terminal.modes import Keys, Modes, killed, repair, setup
from hybridmux.terminal.screen import Screen
from tests.support import casts

RESET = b"\x1b[m"
START = frozenset({7, 25})
PLAIN = {False: Keys(), True: Keys()}


def keys(main=0, alternate=0):
    return {False: Keys(pushed=main), True: Keys(pushed=alternate)}


@pytest.mark.parametrize(
    ("modes", "back"),
    [
        (Modes(), b""),
        (Modes(private=START | {2, 3, 12, 1007, 1048, 4242}), b""),
        (Modes(private=START | {1049}), b""),
        (Modes(private=START | {1049}, alternate=True), b"\x1b[?1049l"),
        (Modes(private=START | {47}, alternate=True), b"\x1b[?47l"),
        (Modes(private=START | {1047}, alternate=True), b"\x1b[?1047l"),
        (Modes(private=START, alternate=True), b"\x1b[?1049l"),
        (Modes(private=START | {2004}), b"\x1b[?2004l"),
        (Modes(private=START | {1004, 1000, 1006}), b"\x1b[?1000l\x1b[?1006l\x1b[?1004l"),
        (Modes(private=START | {2026, 1}), b"\x1b[?2026l\x1b[?1l"),
        (Modes(private=frozenset({7})), b"\x1b[?25h"),
        (Modes(private=frozenset({25})), b"\x1b[?7h"),
        (Modes(ansi=frozenset({4, 20, 2})), b"\x1b[4l\x1b[20l"),
        (Modes(keys=keys(main=2)), b"\x1b[<2u"),
        (Modes(keys=keys(alternate=1)), b""),
        (
            Modes(private=START | {1049}, alternate=True, keys=keys(1, 3)),
            b"\x1b[<3u\x1b[?1049l\x1b[<1u",
        ),
        (Modes(keys=PLAIN | {False: Keys(set=True)}), b"\x1b[=0u"),
        (Modes(modified=1), b"\x1b[>4m"),
        (Modes(keypad=True), b"\x1b>"),
        (Modes(margins=(2, 3)), b"\x1b7\x1b[r\x1b8"),
        (Modes(margins=(2, 3), alternate=True), b"\x1b[r\x1b[?1049l"),
        (Modes(shape=2), b"\x1b[0 q"),
        (Modes(charset="\x1b(0"), b"\x0f\x1b(B"),
    ],
)
def test_what_is_taken_back(modes, back):
    assert repair(modes) == (back + RESET if back else b"")


def test_colours_alone_are_taken_back_too():
    assert repair(Modes(graphics=True)) == RESET


@pytest.mark.parametrize(
    ("output", "back"),
    [
        ("\x1b[?2004h\x1b[?2004l", ""),
        ("\x1b[?1000;1006h", "\x1b[?1000l\x1b[?1006l"),
        ("\x1b[>7u\x1b[?1049h\x1b[>5u\x1b[>1u", "\x1b[<2u\x1b[?1049l\x1b[<1u"),
        ("\x1b[>7u\x1b[>7u\x1b[<u", "\x1b[<1u"),
        ("\x1b[>7u\x1b[>7u\x1b[<2u", ""),
        ("\x1b[>7u\x1b[<9u", ""),
        ("\x1b[?u", ""),
        ("\x1b[=5u", "\x1b[=0u"),
        ("\x1b[=5;2u\x1b[=0u", ""),
        ("\x1b[=5u\x1b[=1;3u", "\x1b[=0u"),
        ("\x1b[>4;2m", "\x1b[>4m"),
        ("\x1b[>4;2m\x1b[>4;0m", ""),
        ("\x1b[>4;1m\x1b[>4m", ""),
        ("\x1b[>4;1m\x1b[>4n", ""),
        ("\x1b[>4;1m\x1b[>1;2m", "\x1b[>4m"),
        ("\x1b=", "\x1b>"),
        ("\x1b=\x1b>", ""),
        ("\x1b[2 q", "\x1b[0 q"),
        ("\x1b[2 q\x1b[ q", ""),
        ("\x1b[2;3r", "\x1b7\x1b[r\x1b8"),
        ("\x1b[2;3r\x1b[r", ""),
        ("\x1b(0", "\x0f\x1b(B"),
        ("\x1b(0\x1b(B", ""),
        ("\x0e", "\x0f\x1b(B"),
        ("\x1b[4h", "\x1b[4l"),
        ("\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h"),
        ("\x1b[?1049h\x1b[?25l\x1b[?2004h\x1bc", ""),
        ("\x1b[?2004h\x1b[?1h\x1b=\x1b[!p", "\x1b[?2004l"),
    ],
)
def test_what_is_known_to_be_on(output, back):
    emulator = Emulator(20, 4)
    emulator.feed(output.encode())
    assert repair(emulator.display.modes()).decode() == (back + RESET.decode() if back else "")


SEQUENCES = [
    *(f"\x1b[?{mode}{end}" for mode in (1, 5, 7, 25, 47, 66, 1000, 1047, 1049, 2004, 2026) for end in "hl"),
    "\x1b[>5u", "\x1b[<u", "\x1b[=3u", "\x1b[>4;2m", "\x1b=", "\x1b[3 q", "\x1b[2;3r", "\x1b(0", "\x0e",
    "\x1b[4h", "\x1b[31m", "\x1b[!p", "\x1bc", "text", "\r\n\n\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(SEQUENCES), max_size=30))
def test_after_it_nothing_is_left_on_and_the_main_screen_is_back(output):
    emulator = Emulator(20, 4)
    emulator.feed("".join(output).encode())
    cursor = emulator.display.cursor.x, emulator.display.cursor.y
    alternate = emulator.display.alternate
    emulator.feed(repair(emulator.display.modes()))
    assert repair(emulator.display.modes()) == b""
    assert not emulator.display.alternate
    if not alternate:
        assert (emulator.display.cursor.x, emulator.display.cursor.y) == cursor


def lasting(modes):
    """Without what the output that follows sets by itself, and what is left alone."""
    private = modes.private - {3, 12, 47, 1007, 1047, 1048, 1049, 2026}
    return evolve(modes, private=private, keys=PLAIN, graphics=False)


@pytest.mark.parametrize(
    ("output", "on"),
    [
        ("", ""),
        ("text\x1b[31m", ""),
        ("\x1b[?1049h", "\x1b[?1049h"),
        ("\x1b[?47h\x1b[2;3r", "\x1b[?47h\x1b[2;3r"),
        ("\x1b[?1049h\x1b[?1049l", ""),
        ("\x1b[?2026h\x1b[>5u\x1b[=1u\x1b[?1007h", ""),
        ("\x1b[?1006h\x1b[?1000h", "\x1b[?1000h\x1b[?1006h"),
        ("\x1b[?25l\x1b[?7l", "\x1b[?7l\x1b[?25l"),
        ("\x1b[4h", "\x1b[4h"),
        ("\x1b=\x1b[?1h", "\x1b[?1h\x1b="),
        ("\x1b[>4;2m", "\x1b[>4;2m\x1b[m"),
        ("\x1b[5 q", "\x1b[5 q"),
        ("\x1b(0", "\x1b(0"),
        ("\x1b)0\x0e", "\x1b)0\x0e"),
        ("\x0e\x1b)B", "\x1b)B\x0e"),
        ("\x1b(0\x0e\x0f\x1b(B", ""),
    ],
)
def test_what_a_late_terminal_is_told(output, on):
    emulator = Emulator(20, 4)
    emulator.feed(output.encode())
    assert setup(emulator.display.modes()).decode() == on


@given(st.lists(st.sampled_from(SEQUENCES), max_size=30))
def test_a_late_terminal_has_the_modes_of_one_that_saw_everything(output):
    emulator, late = Emulator(20, 4), Emulator(20, 4)
    emulator.feed("".join(output).encode())
    late.feed(setup(emulator.display.modes()))
    assert lasting(late.display.modes()) == lasting(emulator.display.modes())


@pytest.mark.parametrize(
    ("lost", "rest", "on"),
    [
        ("\x1b[?1049h", "there\x1b[?1049lhere", "\x1b[?1049h"),
        ("\x1b[?1047h", "there\x1b[?7h\x1b[?7;1047;25lhere\x1b[?7h\x1b[?25h", "\x1b[?1047h"),
        ("\x1b[?1049h", "there\x1b[?1049l\x1b[?1049hthere", "\x1b[?1049h"),
        ("", "here\x1b[?1049hthere", ""),
        ("", "here\x1b[?47hthere\x1b[?47l", ""),
    ],
)
def test_it_begins_on_the_screen_on_which_the_rest_begins(lost, rest, on):
    emulator, late = Emulator(20, 4), Emulator(20, 4)
    emulator.feed((lost + rest).encode())
    told = setup(emulator.display.modes(), rest.encode())
    assert told.decode() == on
    late.feed(told + rest.encode())
    assert late.display.modes() == emulator.display.modes()
    assert late.display.rows_text() == emulator.display.rows_text()


TOLD = re.compile(r"\x1b\[(?:\?([0-9;]+)([hl])|([<>])[0-9]*(u))")
"""What a reader of escape sequences finds: modes, and keyboard modes that come and go."""


def left_on(text):
    """The modes a stream leaves other than it found them, by counting alone; synchronised output apart."""
    on, pushed = set(START), 0
    for numbers, end, way, is_keys in TOLD.findall(text):
        if is_keys:
            pushed = pushed + 1 if way == ">" else max(0, pushed - 1)
        for number in filter(None, numbers.split(";")):
            (on.add if end == "h" else on.discard)(int(number))
    return on ^ START, pushed


@pytest.mark.parametrize("name", casts.NAMES)
def test_a_recorded_agent_killed_anywhere_leaves_nothing_on(name):
    pieces = casts.output(name)
    emulator, so_far, met = Emulator(*casts.size(name)), "", set()
    for number, piece in enumerate(pieces):
        emulator.feed(piece)
        so_far += piece.decode("utf-8", "replace")
        if number % (len(pieces) // 12) == 0:
            back = repair(emulator.display.modes()).decode()
            met |= left_on(so_far)[0]
            # The number pushed is taken back at once, so one pop stands for all.
            on, _ = left_on(so_far + back)
            assert on <= {1007}
    assert 2004 in met


@pytest.mark.parametrize("name", casts.NAMES)
def test_a_recorded_agent_that_quits_has_little_to_take_back(name):
    emulator = Emulator(*casts.size(name))
    emulator.feed(b"".join(casts.output(name)))
    assert repair(emulator.display.modes()) in (b"", b"\x1b[?2027l" + RESET)


def test_what_is_on_is_known_after_a_flood():
    journal = ByteJournal(4 * SCREEN_BEHIND)
    scanner = Scanner(frozenset())
    screen = Screen(journal, 20, 4, scanner)
    on = b"\x1b[>5u\x1b[?1049h\x1b[>7u\x1b[?2004h\x1b[>4;2m\x1b[5 q\x1b="
    for piece in (on, *[b"\x1b[H\x1b[2J\x1b[31mframe" * 2000] * 60):
        journal.write(piece)
        scanner.feed(piece)
        screen.behind()
    assert screen.leaps > 1
    assert repair(screen.modes()) == (b"\x1b[?2004l\x1b>\x1b[>4m\x1b[<1u\x1b[?1049l\x1b[<1u\x1b[0 q" + RESET)


@pytest.mark.parametrize(
    ("code", "is_signal"),
    [(None, False), (0, False), (1, False), (70, False), (128, False), (-15, True), (143, True), (137, True),
     (-9, True), (255, False)],
)  # fmt: skip
def test_which_ends_are_a_signal_s(code, is_signal):
    assert killed(code) == is_signal


# --- on real PTYs ---

ON = r"\033[?1049h\033[?2004h\033[?1003h\033[>5u"
OFF = b"\x1b[?1003l\x1b[?2004l\x1b[<1u\x1b[?1049l" + RESET


def everything(t):
    return t.journal.read(t.journal.tail, 10**9)


async def closed(t):
    with trio.fail_after(10):
        while not t.journal.closed:
            await t.journal.wait(t.journal.end)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
async def test_killed_by_somebody(terminal, shows, number):
    async with terminal(f"printf '{ON}drawn'; exec sleep 100") as t:
        await shows(t, "drawn")
        t.family.signal(number)
        assert await t.wait_exited() == -number
        # It is there when the exit is told, and once.
        assert everything(t).endswith(b"drawn" + OFF)
        await closed(t)
        assert everything(t).endswith(b"drawn" + OFF)
        assert not t.screen.alternate
        assert t.safe_start() == 0


@pytest.mark.parametrize(
    ("trap", "step", "how"), [("", 5.0, "SIGTERM"), ("trap '' HUP TERM;", 0.2, "SIGKILL")]
)
async def test_killed_by_us(terminal, shows, trap, step, how):
    budgets = evolve(Budgets(), stopping_step=step)
    async with terminal(f"{trap} printf '{ON}drawn'; exec sleep 1000", budgets=budgets) as t:
        await shows(t, "drawn")
    assert t.end_report.how == how
    assert everything(t).endswith(b"drawn" + OFF)
    assert everything(t).count(OFF) == 1


async def test_killed_below_a_shell(terminal, shows):
    async with terminal(f"printf '{ON}'; sh -c 'echo drawn; kill -KILL $$'; exit $?") as t:
        assert await t.wait_exited() == 128 + signal.SIGKILL
        assert everything(t).endswith(b"drawn\r\nKilled\r\n" + OFF)


@pytest.mark.parametrize("end", ["exit 0", "exit 1"])
async def test_one_that_ends_by_itself_has_the_last_word(terminal, end):
    async with terminal(f"printf '{ON}drawn'; {end}") as t:
        await t.wait_exited()
        await closed(t)
        assert everything(t).endswith(b"drawn")


async def test_one_that_left_nothing_on_gets_nothing(terminal):
    async with terminal(r"printf '\033[?2004hdrawn\033[?2004l'; kill -KILL $$") as t:
        await t.wait_exited()
        await closed(t)
        assert everything(t) == b"\x1b[?2004hdrawn\x1b[?2004l"


@pytest.mark.parametrize("cut", [r"\033[1;3", r"\033]0;half a title", r"\033P1;2", r"\033"])
async def test_killed_within_a_sequence(terminal, cut):
    async with terminal(rf"printf '\033]0;whole\007\033[?2004hdrawn{cut}'; kill -KILL $$") as t:
        await t.wait_exited()
        assert everything(t).endswith(b"\x18\x1b[?2004l" + RESET)
        assert t.screen.text() == "drawn"
        assert t.title == "whole"
        assert not t.screen.bracketed_paste


async def test_those_who_live_on_and_draw(terminal, tmp_path):
    """What they switch on again after the program's end is taken back at theirs."""
    gate = tmp_path / "gate"
    later = rf"while [ ! -e {gate} ]; do sleep 0.01; done; printf '\033[?2004hLATE'"
    async with terminal(f"trap '' HUP; ({later}) & printf '{ON}drawn'; kill -KILL $$") as t:
        await t.wait_exited()
        assert OFF in everything(t)
        gate.touch()
        await closed(t)
        assert everything(t).endswith(b"\x1b[?2004hLATE\x1b[?2004l" + RESET)
