"""What the TUI draws, without a terminal: wrapped rows, menus, state reports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from hybridmux.agents.demo.evidence import BLOCKED, IDLE, WORKING, Evidence
from hybridmux.agents.demo.menu import Menu, Picked
from hybridmux.agents.demo.transcript import Block, Transcript, clean, wrap

WIDE = st.text(alphabet="ab 漢é🙂\u0301", max_size=60)


@given(WIDE, st.integers(min_value=2, max_value=20))
def test_wrapped_rows_fit_and_lose_only_blanks(text, width):
    rows = wrap(text, width)
    assert all(get_cwidth(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_wraps_between_words():
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert wrap("abcdefghijkl mn", 5) == ["abcde", "fghij", "kl mn"]


@given(
    st.lists(st.text(alphabet="ab \n漢", max_size=12), max_size=12), st.integers(min_value=3, max_value=12)
)
def test_growing_gives_the_same_rows_as_the_whole_text(pieces, width):
    growing = Block("agent")
    for piece in pieces:
        growing.append(piece)
        growing.rows(width)
    assert growing.rows(width) == Block("agent", "".join(pieces)).rows(width)


def test_control_characters_do_not_reach_the_screen():
    assert clean("a\x1b[31mb\tc\r\nd\x07\x1bM") == "ab  c\nd··M"


def user(text):
    return {"type": "user", "messageId": text, "blocks": [{"type": "text", "text": text}]}


def conversation(turns):
    transcript = Transcript()
    for number in range(turns):
        transcript.apply(user(f"question {number}"))
        transcript.apply({"type": "agent", "messageId": f"a{number}", "text": f"answer {number}"})
    return transcript


def test_the_end_is_shown_and_one_can_scroll_back_to_the_beginning():
    transcript = conversation(10)
    assert [text for _, text in transcript.view(40, 2, 0).rows] == ["❯ question 9", "● answer 9"]
    view = transcript.view(40, 4, 1000)
    assert [text for _, text in view.rows][:2] == ["❯ question 0", "● answer 0"]
    assert view.back == 29 - 4


@pytest.mark.parametrize(
    ("reason", "row"),
    [
        ("cancelled", ("notice", "· Interrupted")),
        ("refusal", ("error", "✗ The model refused.")),
        ("error", ("error", "✗ Error: model answered 500")),
        ("end_turn", ("agent", "● answer 0")),
    ],
)
def test_endings(reason, row):
    transcript = conversation(1)
    transcript.apply({"type": "end", "stopReason": reason, "error": "model answered 500"})
    assert transcript.view(60, 20, 0).rows[-1] == row


def test_a_tool_shows_its_newest_state():
    transcript = conversation(0)
    transcript.apply({"type": "tool", "toolCallId": "c", "title": "ls", "status": "pending"})
    block = {"type": "content", "content": {"type": "text", "text": "a\nb\n"}}
    transcript.apply({"type": "tool", "toolCallId": "c", "status": "completed", "content": [block]})
    assert [text for _, text in transcript.view(40, 9, 0).rows] == ["$ ls ✓", "  a", "  b"]


def menu(count=3):
    options = [(number, f"option {number}") for number in range(count)]
    return Menu("Which one?", options, escape="none", body="a body", hint="esc goes")


def test_menu_keys():
    assert menu().key("enter") == Picked(0)
    assert menu().key("3") == Picked(2)
    assert menu().key("escape") == Picked("none")
    assert [menu().key(key) for key in ("4", "0", "x", "²", "paste of text")] == [None] * 5
    walked = menu()
    assert [walked.key(key) for key in ("down", "down", "down", "up", "enter")] == [None] * 4 + [Picked(1)]


@given(st.integers(1, 30), st.integers(2, 60), st.integers(1, 20), st.integers(0, 29))
def test_a_menu_fits_and_shows_what_is_chosen(count, width, height, moves):
    walked = menu(count)
    for _ in range(moves):
        walked.key("down")
    rows = walked.rows(width, height)
    assert len(rows) <= height
    assert [style for style, _ in rows].count("menu.chosen") == 1


def test_reports():
    idle = Evidence(IDLE, "demo_0", "a\x07 title", draft=False, stored=True)
    assert idle.osc_title() == "\x1b]0;Demo · a title\x07"
    assert idle.report() == "\x1b]7501;state=idle:app=hybridmux-demo:session=demo_0:draft=0:stored=1\x1b\\"
    assert idle._replace(state=WORKING).osc_title().startswith("\x1b]0;Demo ⠿ ")
    assert idle._replace(state=BLOCKED, draft=True).report().startswith("\x1b]7501;state=blocked:")
