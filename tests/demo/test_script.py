"""What each prompt makes the agent do, by table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.agents.demo import forms, history, limits, script
from hybridmux.agents.demo.script import (
    Ask,
    Auth,
    Big,
    Crash,
    Diff,
    Fail,
    Flood,
    Hang,
    Plan,
    Refuse,
    Run,
    Say,
    Slow,
    Think,
    Title,
    Usage,
)


def said(steps):
    return "".join(step.text for step in steps if isinstance(step, Say))


def others(steps):
    return [step for step in steps if not isinstance(step, Say)]


@pytest.mark.parametrize(
    ("prompt", "steps", "text"),
    [
        ("hello there", [], "echo: hello there"),
        ("two\nlines", [], "echo: two\nlines"),
        ("slow 3", [Slow(3.0)], "done."),
        ("slow 0.5 and a marker", [Slow(0.5)], "done."),
        ("slowly", [], "echo: slowly"),
        ("slow", [], "echo: slow"),
        ("run: ls -l; pwd", [Run("ls -l; pwd")], ""),
        ("run:ls\nps", [Run("ls\nps")], ""),
        ("run:", [], "echo: run:"),
        ("think: why", [Think("why", limits.WORD_PAUSE)], "echo: why"),
        ("plan", [Plan()], "The plan is done."),
        ("/plan", [Plan()], "The plan is done."),
        ("plan it", [], "echo: plan it"),
        ("diff", [Diff()], "Shown, not written."),
        ("ask", [Ask(full=False)], ""),
        ("ask all", [Ask(full=True)], ""),
        ("usage", [Usage()], ""),
        ("title: A name", [Title("A name")], "Renamed."),
        ("fail: 429", [Fail("429")], ""),
        ("refuse", [Refuse()], ""),
        ("auth", [Auth()], ""),
        ("crash", [Crash()], "going down "),
        ("hang", [Hang(hard=False)], "hanging "),
        ("hang hard", [Hang(hard=True)], "hanging "),
        ("flood 10000", [Flood(10000)], ""),
        ("big 64", [Big(64)], ""),
        ("/help", [], script.HELP),
        ("/unknown thing", [], "echo: /unknown thing"),
        ("  padded  ", [], "echo:   padded"),
    ],
)
def test_prompts(prompt, steps, text):
    found = script.steps(prompt)
    assert others(found) == steps
    assert said(found) == text


def test_attachments_are_named_and_switch_the_words_off():
    assert said(script.steps("plan", ("image/png 68 bytes",))) == "echo: plan [image/png 68 bytes]"
    assert (
        said(script.steps("", ("link a.md", "text/plain 3 bytes")))
        == "echo: [link a.md] [text/plain 3 bytes]"
    )


@given(st.text())
def test_chunks_lose_nothing(text):
    pieces = script.chunks(text)
    assert "".join(pieces) == text
    assert len(pieces) <= limits.STREAM_CHUNKS


def test_streams_word_by_word():
    assert script.chunks("one two  three\nfour") == ["one ", "two  ", "three\n", "four"]


@pytest.mark.parametrize(
    ("block", "label"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "AAEC"}, "image/png 3 bytes"),
        ({"type": "resource", "resource": {"mimeType": "text/plain", "text": "äh"}}, "text/plain 3 bytes"),
        (
            {"type": "resource", "resource": {"mimeType": "application/zip", "blob": "AAECAw=="}},
            "application/zip 4 bytes",
        ),
        ({"type": "resource", "resource": {"uri": "file:///x", "blob": "***"}}, "resource 0 bytes"),
        ({"type": "resource_link", "uri": "file:///a/b.md", "name": "b.md"}, "link b.md"),
        ({"type": "hologram"}, "hologram"),
    ],
)
def test_labels(block, label):
    blocks = [{"type": "text", "text": "see"}, block]
    assert history.labels_of(blocks) == (label,)
    assert history.shown(blocks) == f"see [{label}]"


def test_form_answers():
    fields = forms.schema(full=True)["properties"]
    assert forms.choices(fields["urgent"]) == [(True, "Yes"), (False, "No")]
    assert [value for value, _ in forms.choices(fields["color"])] == ["red", "green", "blue"]
    assert [value for value, _ in forms.choices(fields["size"])] == ["S", "M", "L"]
    assert forms.choices(fields["note"]) == []
    assert forms.value_of(fields["count"], " 4 ") == 4
    assert forms.value_of(fields["extras"], "lid, bag") == ["lid", "bag"]
    assert forms.value_of(fields["note"], "  ") is None


@pytest.mark.parametrize(
    ("field", "text"), [("count", "many"), ("count", "10"), ("count", "²"), ("extras", "gold")]
)
def test_form_answers_that_mean_nothing(field, text):
    with pytest.raises(ValueError, match="please"):
        forms.value_of(forms.schema(full=True)["properties"][field], text)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "This client cannot show forms."),
        ({"action": "decline"}, "The form was declined."),
        ({"action": "cancel"}, "The form was cancelled."),
        ({"action": "accept", "content": {"color": "red", "note": "x"}}, "You answered: color=red, note=x"),
        (
            {"action": "accept", "content": {"u": True, "e": ["a", "b"], "n": 1}},
            "You answered: u=yes, e=a+b, n=1",
        ),
        ({"action": "accept"}, "You answered: nothing"),
    ],
)
def test_described(answer, text):
    assert forms.describe(answer) == text
