"""The wire types of the table in `hybridmux/problems.py`, one a row, and the table as documentation."""

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, make_class

from hybridmux.problems import ELIGIBILITY, PROBLEMS, Problem
from hybridmux.wire.types import Candidate, ConnectorInfo

FIELDS: Mapping[str, Any] = {
    "eligibility": Literal.__getitem__(tuple(ELIGIBILITY)),
    "connector": ConnectorInfo,
    "candidates": list[Candidate],
    "path": str,
}
"""The further fields that a body may have, and their types."""

_SHOWN = {
    "eligibility": "a word of the next table",
    "connector": "`{executable, title, installCommand, docsUrl}`",
    "candidates": "`[{agentSessionId, title, updatedAt}]`, newest first, at most 20",
    "path": "a path on the server's machine",
}


def _body_type(problem: Problem) -> type:
    """A body that has everything that its row says, and nothing else."""
    reason = {} if problem.reason is None else {"reason": Literal.__getitem__(problem.reason)}
    types = {"error": str, **reason, **{name: FIELDS[name] for name in problem.fields}}
    made = make_class(
        problem.name, {name: field(type=kind) for name, kind in types.items()}, frozen=True, kw_only=True
    )
    made.__doc__ = problem.when
    return made


BODIES: Mapping[Problem, type] = {problem: _body_type(problem) for problem in PROBLEMS}
"""The wire type of each row."""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _head(*cells: str) -> str:
    return _row(*cells) + "|---" * len(cells) + "|\n"


def markdown() -> str:
    """The table for `docs/errors.md`."""
    text = _head("status", "`reason`", "further fields", "when", "what to do next")
    for problem in PROBLEMS:
        fields = "; ".join(f"`{name}`: {_SHOWN[name]}" for name in problem.fields)
        reason = f"`{problem.reason}`" if problem.reason else "none"
        text += _row(str(problem.status), reason, fields, problem.when, problem.then)
    text += "\n" + _head("`eligibility`", "meaning")
    return text + "".join(_row(f"`{word}`", meaning) for word, meaning in ELIGIBILITY.items())
