"""The phase table: what it allows, and that the documentation shows it."""

from pathlib import Path

import pytest

from hybridmux.conversation.phases import RESTING, TABLES, UNTOUCHED, IllegalMove, Position, Step, mermaid

ROOT = Path(__file__).parents[2]


def test_the_documentation_shows_the_table():
    assert f"<!-- phases -->\n{mermaid()}<!-- /phases -->" in (ROOT / "docs/architecture.md").read_text()


@pytest.mark.parametrize("name", TABLES)
def test_every_phase_leads_to_a_place_to_rest(name):
    table = TABLES[name]
    for start in table:
        seen, todo = set(), [start]
        while todo:
            step = todo.pop()
            if step not in seen:
                seen.add(step)
                todo += table.get(step, [])
        assert seen & RESTING - {start}, start


@pytest.mark.parametrize("name", TABLES)
def test_what_was_not_touched_can_be_gone_back_to(name):
    origins = {"interrupting": Step.TUI, "awaiting_choice": Step.TUI, "cancelling": Step.ACP}
    for step in UNTOUCHED & TABLES[name].keys():
        assert origins[step] in TABLES[name][step], step


@pytest.mark.parametrize("name", TABLES)
def test_a_move_that_is_not_in_the_table_is_refused(name):
    table = TABLES[name]
    start = next(iter(table.keys() & RESTING))
    for step in set(Step) - table[start]:
        position = Position(start, "tui")
        position.begin(name)
        with pytest.raises(IllegalMove):
            position.move(step)


def test_nothing_moves_without_an_operation():
    with pytest.raises(IllegalMove):
        Position(Step.TUI, "tui").move(Step.STOPPING)


def test_what_clients_see():
    position = Position(Step.TUI, "tui")
    assert (position.side, position.phase) == ("tui", None)
    position.begin("to_chat")
    position.move(Step.STOPPING)
    assert (position.side, position.phase) == ("switching", "stopping")
    position.move(Step.ENDED)
    assert position.phase is None
