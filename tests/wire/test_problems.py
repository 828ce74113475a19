"""The table of refusals: what is raised keeps to it, and what is made from it is current."""

from pathlib import Path

import pytest

from hybridmux.conversation.identity import not_eligible
from hybridmux.errors import BadRequest, Conflict, ServerStopping, StoreUnusable
from hybridmux.problems import ELIGIBILITY, PROBLEMS, WORDS, WrongProblem, said
from hybridmux.wire.chat import EligibilityReason
from hybridmux.wire.convert import read
from hybridmux.wire.problems import BODIES, FIELDS, markdown
from hybridmux.wire.types import ErrorBody

ROOT = Path(__file__).parents[2]
CONNECTOR = {
    "executable": "x",
    "title": "X",
    "installCommand": "get x",
    "docsUrl": "https://example.invalid/",
}
CANDIDATES = [{"agentSessionId": "s", "title": "", "updatedAt": None}]
GOOD = {"eligibility": "occupied", "connector": CONNECTOR, "candidates": CANDIDATES, "path": "/x"}
BAD = {"eligibility": "tired", "connector": {}, "candidates": [{}], "path": None}


def test_the_documentation_shows_the_table():
    assert f"<!-- problems -->\n{markdown()}<!-- /problems -->" in (ROOT / "docs/errors.md").read_text()


def test_every_row_says_one_thing_and_each_field_has_a_type():
    assert len({(row.status, row.reason, row.fields) for row in PROBLEMS}) == len(PROBLEMS)
    assert len({row.name for row in PROBLEMS}) == len(PROBLEMS)
    assert {name for row in PROBLEMS for name in row.fields} == FIELDS.keys()
    assert ELIGIBILITY.keys() < WORDS.keys() == set(EligibilityReason.__args__)


@pytest.mark.parametrize("reason", WORDS)
def test_each_reason_is_a_sentence_that_no_other_has(reason):
    text = said(reason, title="X", command="get x")
    assert len(text.split()) >= 3
    assert "{" not in text
    assert list(WORDS.values()).count(WORDS[reason]) == 1


@pytest.mark.parametrize(
    ("reason", "extra"),
    [
        ("tired", {}),
        ("server_stopping", {}),
        ("not_eligible", {}),
        ("not_eligible", {"eligibility": "tired"}),
        ("not_eligible", {"eligibility": None}),
        ("connector_missing", {"connector": None}),
        ("session_missing", {}),
        ("session_missing", {"candidates": None}),
        ("switching", {"candidates": CANDIDATES}),
        (None, {"path": "/x"}),
    ],
)
def test_a_conflict_that_is_not_in_the_table_cannot_be_raised(reason, extra):
    with pytest.raises(WrongProblem):
        Conflict("no", reason, **extra)


@pytest.mark.parametrize("row", PROBLEMS, ids=lambda row: row.name)
def test_a_body_has_all_its_fields_and_no_other(row):
    whole = {"error": "no", **({"reason": row.reason} if row.reason else {})}
    whole |= {name: GOOD[name] for name in row.fields}
    assert read(whole, BODIES[row]).error == "no"
    assert read(whole, ErrorBody).reason == row.reason
    for name in whole:
        with pytest.raises(BadRequest, match=f"missing field {name}"):
            read({key: value for key, value in whole.items() if key != name}, BODIES[row])
    for name in row.fields:
        with pytest.raises(BadRequest, match=name):
            read({**whole, name: BAD[name]}, BODIES[row])
    with pytest.raises(BadRequest, match="unknown field"):
        read({**whole, "further": 1}, BODIES[row])


def test_what_is_raised_is_what_the_body_has():
    assert not_eligible("occupied").body().keys() == {"error", "reason", "eligibility"}
    assert StoreUnusable("it is broken", "/x").body() == {"error": "it is broken", "path": "/x"}
    assert ServerStopping().body()["reason"] == "server_stopping"
    assert ServerStopping.status == StoreUnusable.status == 503
