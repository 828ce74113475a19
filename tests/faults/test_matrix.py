"""The fault matrix is whole, its page is current, and each of its cells has its test."""

from collections import Counter
from pathlib import Path

import pytest

from tests.conversation import test_fault_playbook
from tests.faults import test_processes
from tests.faults.matrix import PHASES, PLAYBOOK, PROCESS, REASONS, ROWS, TESTS, cells
from tests.faults.page import page

ROOT = Path(__file__).parents[2]


def test_the_page_is_current():
    assert (ROOT / "docs/faults.md").read_text() == page()


def test_every_fault_has_a_name_of_its_own():
    assert [name for name, count in Counter(row.name for row in ROWS).items() if count > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_cell_is_neither_proved_nor_explained(row):
    assert {name: len(getattr(row, name)) for name in PHASES} == {n: len(p) for n, p in PHASES.items()}
    assert set(row.to_chat + row.to_terminal) <= {*TESTS, *REASONS}


def test_every_reason_is_needed():
    assert {cell.letter for cell in cells()} == {*TESTS, *REASONS}


def collected(module):
    """The ids of the module's tests of cells, as pytest makes them."""
    (mark,) = (mark for mark in module.test_fault.pytestmark if mark.name == "parametrize")
    return [param.id for param in mark.args[1]]


@pytest.mark.parametrize(
    ("letter", "module"),
    [(PROCESS, test_processes), (PLAYBOOK, test_fault_playbook)],
    ids=["process", "playbook"],
)
def test_the_cells_and_the_tests_are_the_same(letter, module):
    assert TESTS[letter] == f"{Path(module.__file__).relative_to(ROOT)}::test_fault"
    assert Counter(collected(module)) == Counter(cell.id for cell in cells(letter))
