"""What agents say last, as recorded and as a conversation may quote it."""

import pytest

from hybridmux.agents.farewell import LINES, last_words, reason
from tests.profiles.test_evidence import PROFILES, RECORDINGS, film

UUID = "01a22a6a-70e8-7dc2-ad0c-b97e8b7be7a7"
HINT = "Resume this session with:\n"


@pytest.mark.parametrize("recording", RECORDINGS)
def test_a_recording_ends_with_a_farewell_that_names_the_session(recording):
    output = film(recording).text()
    session = PROFILES[recording.partition("/")[0]].farewell(last_words(output))
    assert session is not None
    assert output.count(session) >= 1
    assert len(session) >= 20


@pytest.mark.parametrize("recording", RECORDINGS)
def test_a_program_that_never_left_said_nothing_last(recording):
    """Killed in the middle, whatever it drew."""
    output = film(recording).text()
    taken = max(output.rfind("\x1b[?1049h"), output.rfind("\x1b[?2004h"))
    assert taken >= 0
    left = output.index("\x1b[?2004l", taken)
    assert last_words(output[: min(left, output.find("\x1b[?1049l") % len(output))]) == ""


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("\x1b[?1049hdrawn\x1b[?1049l\x1b[1mlast\x1b[0m\r\n", "last\n"),
        ("drawn long ago\x1b[?1049llast", "last"),
        ("\x1b[?1049ha\x1b[?1049lb\x1b[?1049hdrawn", ""),
        ("\x1b[?1049h\x1b[?2004hdrawn\x1b[?2004lstill drawn\x1b[?1049llast", "last"),
        ("\x1b[?2004hdrawn\x1b[?2004llast\x1b[?2004l words", "last words"),
        ("\x1b[?2004l\x1b[?2004hdrawn", ""),
        ("\x1b[?2004h\x1b[?1049hoverlay\x1b[?1049ldrawn\x1b[?2004llast", "last"),
        ("it took nothing", "it took nothing"),
        ("", ""),
    ],
)
def test_what_was_said_after_the_terminal_was_given_back(output, words):
    assert last_words(output) == words


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("\x1b[31mError: Session not found: ses_1\x1b[39m\r\n\r\n", "Error: Session not found: ses_1"),
        ("\x1b[31mNo conversation: x\x1b[39m\r\r\n\x1b[?25h\x1b(B\x0f\x1b7\x1b]0;\x07", "No conversation: x"),
        ('Error: Session "x" not found.\r\nRun `omp` to start a new one.', 'Error: Session "x" not found.'),
        ("error: one\nERROR: two\nmore", "ERROR: two"),
        ("error: one\n" + "more\n" * LINES, "more"),
        ("errors are none\nbye", "bye"),
        ("\n\n", ""),
    ],
)
def test_why_a_program_has_ended(output, line):
    """As recorded, and where an error is followed by advice."""
    assert reason(output) == line


@pytest.mark.parametrize(
    ("agent", "text", "session"),
    [
        ("claudecode", f"{HINT}claude --resume {UUID}\n", UUID),
        ("claudecode", f"{HINT}claude --model opus --dangerously-skip-permissions --resume {UUID}\n", UUID),
        ("claudecode", f'{HINT}claude --model opus --worktree "a b" --resume {UUID}\n', UUID),
        ("claudecode", f'{HINT}claude -w "feature" -r {UUID}\n', UUID),
        ("claudecode", f"{HINT}SOME_VARIABLE=1 claude --resume {UUID}\n", UUID),
        ("claudecode", f"{HINT}launcher --resume {UUID}\n", UUID),
        (
            "claudecode",
            f"Ran in a worktree\nIn its folder\n{HINT}claude --resume {UUID}\n^C",
            UUID,
        ),
        ("claudecode", f"{HINT}claude --resume\n", None),
        ("claudecode", f"{HINT}claude --resume auth-refactor\n", None),
        ("claudecode", f"  Use claude --resume {UUID} to come back.\n", None),
        ("claudecode", f"claude --resume {UUID}\n", None),
        (
            "codex",
            f"To go on, run:\n  codex resume {UUID}\nOr run codex resume and select x.",
            UUID,
        ),
        (
            "codex",
            f"To reconnect, run:\n  codex resume {UUID}\nStop: run codex agents\n",
            UUID,
        ),
        ("codex", f"  codex resume --no-daemon -m x {UUID}\n", UUID),
        ("codex", f"Session ID: {UUID}", UUID),
        ("codex", "Disconnected from this task. Any running work continues.", None),
        ("codex", f"• It said codex resume {UUID}", None),
        ("codex", "  codex resume my-name\n", None),
        ("omp", f"Resume this session with omp --resume {UUID}\n", UUID),
        ("omp", f"Resume this session with omp --model a/b --resume {UUID}\n", UUID),
        ("omp", "Resume this session with omp --resume 019a0000\n", None),
        ("omp", f" omp --resume {UUID}\n", None),
        ("opencode", "  Session   fix it\n  Continue  opencode -s ses_1x\n\n", "ses_1x"),
        ("opencode", "     Continue with opencode -s ses_1x\n", None),
        ("opencode", "     opencode -s ses_1x\n", None),
        ("opencode", "nothing of the kind", None),
    ],
)
def test_a_line_of_its_own_names_the_session(agent, text, session):
    assert PROFILES[agent].farewell(text) == session
    assert PROFILES[agent].farewell(text + "more\n" * LINES) is None
