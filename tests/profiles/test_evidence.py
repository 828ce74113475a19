"""What profiles read from recorded terminals (`moments.txt`), and from screens that were written for it."""

from itertools import groupby
from pathlib import Path

import pytest
from attrs import evolve

from hybridmux.agents import claudecode, codex, omp, opencode
from hybridmux.agents.evidence import FOOT, foot, observing, rule, trouble
from hybridmux.agents.profile import Look, TuiState
from tests.support.casts import Film

PROFILES = {one.PROFILE.name: one.PROFILE for one in (claudecode, codex, omp, opencode)}
MOMENTS = [
    line.split()
    for line in Path(__file__).with_name("moments.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
RECORDINGS = {name: list(rows) for name, rows in groupby(MOMENTS, lambda row: row[0])}
NOTHING = Look(screen="", title="", report=None)


def film(recording):
    return Film(f"{'pty' if recording == 'claudecode/status' else 'tui'}/{recording}.cast")


def observe(recording):
    return PROFILES[recording.partition("/")[0]].observe


def test_each_agent_is_seen_starting_working_asking_and_at_rest():
    for agent in PROFILES:
        seen = {turn for name, _, turn, _ in MOMENTS if name.startswith(agent)}
        assert seen == {"unknown", "idle", "running", "asking"}


@pytest.mark.parametrize("recording", RECORDINGS)
def test_a_recording_at_its_named_moments(recording):
    shown = film(recording)
    for _, moment, turn, name in RECORDINGS[recording]:
        state = observe(recording)(shown.until(float(moment)))
        assert (state.turn, state.rule or "-") == (turn, name), f"at {moment} s"
        assert state.ready is (name != "-"), f"at {moment} s"
        assert state.trouble is None


@pytest.mark.parametrize(
    ("recording", "settle"), [("claudecode/status", 0.5), ("codex/approval", 1.2), ("codex/interrupt", 0.7)]
)
def test_without_its_reports_the_rest_never_says_the_opposite(recording, settle):
    """Title and screen alone, at moments when the reported state is no longer new: the same, or not known."""
    look_at, since, last, agreed = observe(recording), 0.0, None, 0
    for moment, look in film(recording).frames(0.05):
        if look.report != last:
            last, since = look.report, moment
        if moment - since < settle or not last or "state=clear" in last:
            continue
        stated = look_at(look)
        alone = look_at(Look(screen=look.screen, title=look.title, report=None))
        assert alone.turn in (stated.turn, "unknown"), f"at {moment:.2f} s"
        agreed += alone.turn == stated.turn != "idle"
    assert agreed > 5


def lines(*rows):
    return Look(screen="\n".join(rows), title="", report=None, starting=True)


def test_a_menu_after_which_there_is_nothing_to_wait_for():
    row = "  Background server has incompatible feature settings"
    look = lines("", row, "\u203a 1. Run without daemon this time", "  2. Restart", "  3. Cancel")
    assert codex.PROFILE.observe(look) == TuiState(trouble=row.strip(), rule="server-mismatch")
    assert codex.PROFILE.observe(evolve(look, starting=False)).trouble is None


LOCKED = """\
\u203a hello

• echo: hello

  🔒  This conversation is open in another app            r to retry
      Close it there and press R to continue here.

   r retry   f fork   ←/esc command center   ^c/q exit   ^t transcript
"""


def test_a_conversation_that_another_codex_holds_is_occupied_whatever_it_reports():
    look = Look(screen=LOCKED, title="hello | proj", report="state=idle:app=codex", starting=True)
    state = codex.PROFILE.observe(look)
    assert state.occupied
    assert state.turn == "unknown"
    assert state.trouble.endswith("open in another app")
    later = codex.PROFILE.observe(evolve(look, starting=False))
    assert (later.trouble, later.occupied) == (None, False)


@pytest.mark.parametrize("agent", PROFILES)
def test_an_empty_screen_says_nothing(agent):
    assert PROFILES[agent].observe(NOTHING) == TuiState()


@pytest.mark.parametrize(
    ("report", "turn"),
    [
        ("state=idle:app=x", "idle"),
        ("state=done:app=x", "idle"),
        ("state=working:app=x", "running"),
        ("app=x:state=blocked:kind=permission", "asking"),
        ("state=blocked", "asking"),
        ("state=clear", "unknown"),
        ("state=workinghard", "unknown"),
        ("", "unknown"),
    ],
)
def test_reports(report, turn):
    look = Look(screen="", title="", report=report)
    for agent in ("claudecode", "codex"):
        assert PROFILES[agent].observe(look).turn == turn


def test_what_an_answer_quotes_does_not_count_once_it_has_moved_up():
    quoted = ["● It says: Esc to cancel", *["● more"] * FOOT, "❯ "]
    look = Look(screen="\n".join(quoted), title="✳ Claude Code", report=None)
    assert PROFILES["claudecode"].observe(look).rule == "title-idle"
    assert foot("a\n\n" + "b\n" * FOOT) == "\n".join("b" * FOOT)


def test_a_title_alone_does_not_make_a_screen_ready():
    assert PROFILES["claudecode"].observe(Look(screen="", title="✳ Claude Code", report=None)) == TuiState()


def test_rules_are_asked_in_order_and_trouble_is_one_short_line():
    watch = observing(
        [
            trouble("broken", r"^Broken:.*$", also="try again"),
            rule("one", "title", "a", "idle"),
            rule("two", "title", ".", "running"),
        ]
    )
    assert watch(Look(screen="x", title="a", report=None)).rule == "one"
    assert watch(Look(screen="x", title="b", report=None)).source == "title"
    assert watch(lines("Broken: so")) == TuiState()
    long = watch(lines("Broken:   so   " + "long " * 200, "try again"))
    assert long.trouble.startswith("Broken: so long long")
    assert len(long.trouble) <= 300
