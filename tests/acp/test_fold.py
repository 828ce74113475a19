"""The fold is held to the shared vectors, and to folding the same whenever somebody looks."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.acp.fold import Timeline, fold

VECTORS = sorted((Path(__file__).parents[2] / "fixtures/chat/fold").glob("*.json"))


def test_there_are_vectors():
    assert len(VECTORS) >= 10


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vector(path):
    vector = json.loads(path.read_text())
    timeline = fold(vector["events"])
    assert timeline.items() == vector["timeline"]
    assert timeline.state == vector["state"]


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_looking_after_every_event_changes_nothing(path):
    vector = json.loads(path.read_text())
    timeline = Timeline()
    for event in vector["events"]:
        timeline.apply(event)
        json.dumps(timeline.items())
    assert timeline.items() == vector["timeline"]


@given(st.lists(st.integers(1, 5), max_size=12))
def test_only_rising_sequence_numbers_are_applied(numbers):
    timeline = fold([{"type": "marker", "kind": str(n), "seq": n} for n in numbers])
    rising: list[int] = []
    for n in numbers:
        if not rising or n > rising[-1]:
            rising.append(n)
    assert [one["marker"] for one in timeline.items()] == [str(n) for n in rising]


ODD = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none(), max_size=1)
FIELDS = ("messageId", "toolCallId", "requestId", "id", "role", "content", "kind", "seq")
TYPES = [
    "message.append", "tool.upsert", "plan.set", "info.set", "compaction.upsert", "turn.start", "turn.end",
    "request.open", "request.close", "notice", "marker", "?",
]  # fmt: skip


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(TYPES) | ODD},
            optional=dict.fromkeys(FIELDS, ODD),
        ),
        max_size=8,
    )
)
def test_odd_events_do_not_break_the_fold(events):
    timeline = fold(events)
    assert len(timeline.items()) <= len(events)
    json.dumps([timeline.items(), timeline.state])
