"""What a look may cost, whatever a program draws: the server does nothing else meanwhile.

A pattern that goes over the rest of the screen again from each line, or from each blank, takes minutes for
one of these screens; all of them together take a few seconds otherwise.
"""

import pytest

from hybridmux.agents.evidence import FOOT
from hybridmux.agents.farewell import last_words, reason
from hybridmux.agents.profile import Look
from hybridmux.agents.registry import BUILT_IN

SIZE = 1000
"""Rows and columns of the largest terminal."""
TEXT = 300_000
PIECES = {
    "opencode": ("  ╹▀", "  ┃  △ Permission required", "  ┃", " esc interrupt", " ctrl+p", " esc again to"),
    "claudecode": ("─" * 10, "❯ ", "Esc to cancel ", "esc to interrupt "),
    "codex": (
        " esc to interrupt",
        " esc again to edit",
        " Press enter to confirm or esc to cancel",
        " \U0001f512  This conversation is open in another app ",
        " Background server has incompatible feature settings ",
        " r retry   f fork ",
        "\u203a 1. Run without daemon this time ",
    ),
    "omp": ("│ enter select  esc cancel ", "│", "╰─", " ⎋ Working… ", " ⠇ 0s ", " π "),
    "demo": (" ",),
}
"""What the rules of each agent look for."""
FAREWELLS = {
    "opencode": ("Continue opencode", " -s ses_1"),
    "claudecode": ("Resume this session with:\nA=1 claude", " --resume 01a22a6a-70e8-7dc2"),
    "codex": ("codex", " resume"),
    "omp": ("Resume this session with omp", " --resume 01a22a6a"),
    "demo": ("hybridmux-demo tui", " --resume demo_1"),
}


def screens(pieces):
    """Full screens: a piece everywhere, in front of blanks, behind blanks, and above or among others."""
    text = "x" * SIZE
    for piece in ("x ", *pieces):
        row = (piece * SIZE)[:SIZE]
        blanks = " " * (SIZE - len(piece) - 1)
        yield [row] * SIZE
        yield [piece + blanks + "x"] * SIZE
        yield [blanks + piece.strip() + "x"] * SIZE
        for other in (text, *((one * SIZE)[:SIZE] for one in pieces if one != piece)):
            yield [row] * (SIZE - FOOT) + [other] * FOOT
        yield [row] * (SIZE // 2) + [text] * (SIZE // 2)
        yield [row, "\u3000" * SIZE] * (SIZE // 2)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("profile", BUILT_IN, ids=lambda one: one.name)
def test_every_rule_goes_over_the_screen_a_few_times_only(profile):
    presses = (*profile.interrupt, *profile.dismiss, *profile.quit, *profile.quit_command)
    patterns = {one for press in presses for one in (press.until, press.only_if) if one}
    for rows in screens(PIECES[profile.name]):
        screen = "\n".join(rows)
        state = profile.observe(Look(screen=screen, title="", report=None, starting=True))
        assert state.turn != "idle" or "ctrl+p" in screen
        for pattern in patterns:
            pattern.search(screen)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("profile", BUILT_IN, ids=lambda one: one.name)
def test_a_farewell_goes_over_its_text_a_few_times_only(profile):
    begin, piece = FAREWELLS[profile.name]
    for filling in (piece, piece + "  ", " "):
        assert profile.farewell(begin + filling * (TEXT // len(filling)) + " end") is None


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["\x1b[", "\x1b[1", "\x1b]", "\x1b]x", "\x1b ", "\x1b[?1049h", "error ", " \n"]
)
def test_so_does_the_way_to_the_last_words(piece):
    output = piece * (TEXT // len(piece))
    assert len(last_words(output)) <= TEXT
    assert "\n" not in reason(output + "1" * TEXT)
