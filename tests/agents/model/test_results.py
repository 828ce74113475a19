"""The table of results in docs/agents.md."""

import json

import pytest

from tests.agents.results import BEGIN, DOCS, END, KEPT, drawn, into, joined, result_of, words

LINES = """\
{"test": "test_a.py::test_it_works[acp]", "outcome": "passed", "seconds": 2.4}
{"test": "test_a.py::test_it_ends", "outcome": "passed", "seconds": 1.0}
{"test": "test_a.py::test_it_ends", "outcome": "failed", "seconds": 0.5}
{"test": "test_a.py::test_locks", "outcome": "skipped", "seconds": 0.0}
"""


def test_a_row_for_each_test_and_the_worst_of_its_outcomes():
    results = {
        "one": result_of(LINES, "one@1.2 helper@3", "2026-01-02", 2),
        "other": result_of("", "other@9", "2026-01-03", 4),
    }
    assert drawn(results).splitlines() == [
        "* **one**: 1 ok, 1 failed, 1 n/a; 3 s on 2 cores, 2026-01-02; `one@1.2` `helper@3`",
        "* **other**: 0 ok, 0 failed, 0 n/a; 0 s on 4 cores, 2026-01-03; `other@9`",
        "",
        "| test | one | other |",
        "| --- | --- | --- |",
        "| a: it ends | **failed** 0 s | - |",
        "| a: it works, `acp` | ok 2 s | - |",
        "| a: locks | n/a | - |",
    ]


def test_a_run_of_some_tests_keeps_the_others_of_the_same_versions():
    old = result_of(LINES, "one@1", "2026-01-02", 2)
    line = '{"test": "test_a.py::test_it_ends", "outcome": "passed", "seconds": 3.0}'
    new = result_of(line, "one@1", "2026-01-03", 2)
    both = joined(old, new)
    assert both["tests"] == {**old["tests"], "test_a.py::test_it_ends": ["passed", 3.0]}
    assert both["on"] == "2026-01-03"
    assert joined(old, new | {"packages": ["one@2"]})["tests"] == new["tests"]


def test_words_of_a_test():
    assert words("test_turns.py::test_the_chat_asks") == "turns: the chat asks"


def test_a_table_is_put_between_the_markers():
    assert into(f"a\n{BEGIN}old\n{END}\nb\n", "new\n") == f"a\n{BEGIN}new\n{END}\nb\n"
    with pytest.raises(ValueError, match="not found"):
        into("no markers", "new\n")


def test_the_document_has_the_table_of_the_kept_figures():
    kept = json.loads(KEPT.read_text())
    text = DOCS.read_text()
    assert into(text, drawn(kept)) == text
