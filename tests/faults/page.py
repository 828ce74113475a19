"""`docs/faults.md`, made of the matrix; pure. `python -m tests.faults.page` prints it."""

from tests.faults.matrix import PHASES, PLAYBOOK, PROCESS, REASONS, ROWS, TESTS, cells

TITLES = {"to_chat": "From the terminal to the chat", "to_terminal": "From the chat to the terminal"}

HEAD = """\
# Faults of the switch

What goes wrong in a switch, and in which phase it has been made to go wrong by a test. Made from
`tests/faults/matrix.py` by `scripts/faults`; do not edit.

* **P** ({processes}): over real processes, the server and the demo agent. The test brings a session into the
  phase, holds it there, lets the fault happen, and looks at the answer, the session, its processes, its
  record, the conversation and what viewers were told. `{process}[fault-direction-phase]`
* **S** ({playbooks}): a playbook over scripted sides on the mock clock.
  `{playbook}[fault-direction-phase]`
* a small letter ({empty}): nothing to prove; the reason is below.

Random switches with random faults are a test of their own (`scripts/soak`, `tests/e2e/test_soak.py`).
"""


def _table(direction: str) -> str:
    phases = PHASES[direction]
    lines = [
        f"| fault | {' | '.join(phase.replace('_', ' ') for phase in phases)} |",
        f"|---|{':-:|' * len(phases)}",
    ]
    lines += [f"| `{row.name}` | {' | '.join(getattr(row, direction))} |" for row in ROWS]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    count = {letter: len(list(cells(letter))) for letter in (PROCESS, PLAYBOOK)}
    empty = sum(1 for cell in cells() if cell.test is None)
    head = HEAD.format(
        processes=count[PROCESS],
        playbooks=count[PLAYBOOK],
        empty=empty,
        process=TESTS[PROCESS],
        playbook=TESTS[PLAYBOOK],
    )
    faults = "\n".join(f"* `{row.name}`: {row.sentence}" for row in ROWS)
    reasons = "\n".join(f"* {letter}: {reason}" for letter, reason in REASONS.items())
    tables = [f"## {title}\n\n{_table(direction)}\n" for direction, title in TITLES.items()]
    return "\n".join([head, *tables, f"## The faults\n\n{faults}\n", f"## Why not\n\n{reasons}\n"])


if __name__ == "__main__":
    print(page(), end="")
