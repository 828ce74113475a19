"""What a long run came to, drawn into docs/agents.md; the figures are kept in `results.json`.

python -m tests.agents.results AGENT "PACKAGES" FILE      FILE: lines of JSON that the sandboxed run wrote
"""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("results.json")
DOCS = Path(__file__).parents[2] / "docs" / "agents.md"
BEGIN, END = "<!-- results -->\n", "<!-- /results -->"
_WORDS = {"passed": "ok", "failed": "**failed**", "skipped": "n/a"}
Results = dict[str, dict[str, Any]]


class Collector:
    """A pytest plugin: a line of JSON for each test on a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Each phase of a test; a skip is told by the setup, all else by the call, trouble by any."""
        if "/model/" in report.nodeid or not (report.when == "call" or report.outcome != "passed"):
            return
        file, _, test = report.nodeid.partition("::")
        name = f"{file.rpartition('/')[2]}::{test}"
        line = {"test": name, "outcome": report.outcome, "seconds": round(report.duration, 1)}
        os.write(self._fd, (json.dumps(line) + "\n").encode())


def words(node: str) -> str:
    """`test_turns.py::test_the_chat_asks[acp]` → `turns: the chat asks, acp`."""
    file, _, test = node.partition("::")
    name, _, variant = test.partition("[")
    told = name.removeprefix("test_").replace("_", " ")
    return f"{file.removeprefix('test_').removesuffix('.py')}: {told}" + (
        f", `{variant.rstrip(']')}`" if variant else ""
    )


def result_of(lines: str, packages: str, on: str, cpus: int) -> dict[str, Any]:
    """One agent's part of the kept figures; of several lines about a test the worst counts."""
    tests: dict[str, list[Any]] = {}
    for line in map(json.loads, lines.splitlines()):
        if tests.get(line["test"], ["passed"])[0] != "failed":
            tests[line["test"]] = [line["outcome"], line["seconds"]]
    return {"packages": packages.split(), "on": on, "cpus": cpus, "tests": tests}


def joined(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """A run of some tests leaves what is kept of the others, as long as it was of the same versions."""
    if old is None or old["packages"] != new["packages"]:
        return new
    return new | {"tests": old["tests"] | new["tests"]}


def drawn(results: Results) -> str:
    """The table: tests down, agents across."""
    agents = sorted(results)
    names = {test for agent in agents for test in results[agent]["tests"]}
    rows = [
        ["test", *agents],
        ["---"] * (len(agents) + 1),
        *(
            [words(name), *(_cell(results[agent]["tests"].get(name)) for agent in agents)]
            for name in sorted(names)
        ),
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    told = [_told(agent, results[agent]) for agent in agents]
    return "\n".join([*told, "", *lines, ""])


def _cell(result: list[Any] | None) -> str:
    if result is None:
        return "-"
    outcome, seconds = result
    return _WORDS[outcome] if outcome == "skipped" else f"{_WORDS[outcome]} {seconds:.0f} s"


def _told(agent: str, result: dict[str, Any]) -> str:
    outcomes = [outcome for outcome, _ in result["tests"].values()]
    counts = ", ".join(f"{outcomes.count(each)} {_WORDS[each].strip('*')}" for each in _WORDS)
    seconds = sum(seconds for _, seconds in result["tests"].values())
    packages = " ".join(f"`{each}`" for each in result["packages"])
    return f"* **{agent}**: {counts}; {seconds:.0f} s on {result['cpus']} cores, {result['on']}; {packages}"


def into(text: str, table: str) -> str:
    """The document with that table between its markers. Raises ValueError without them."""
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:before] + table + text[after:]


def main(agent: str, packages: str, file: str) -> None:
    """Takes one agent's run in."""
    today = datetime.now(UTC).date().isoformat()
    kept: Results = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept[agent] = joined(
        kept.get(agent), result_of(Path(file).read_text(), packages, today, os.cpu_count() or 1)
    )
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    DOCS.write_text(into(DOCS.read_text(), drawn(kept)))


if __name__ == "__main__":
    main(*sys.argv[1:])
