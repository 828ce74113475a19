"""The recordings of real agents in `fixtures/pty`, in asciicast v2."""

import json
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures" / "pty"
NAMES = sorted(str(file.relative_to(FIXTURES)) for file in FIXTURES.rglob("*.cast"))


def output(name: str) -> list[bytes]:
    """The pieces of output."""
    lines = (FIXTURES / name).read_text(encoding="utf-8").splitlines()
    return [data.encode() for _, kind, data in map(json.loads, lines[1:]) if kind == "o"]


def size(name: str) -> tuple[int, int]:
    """Columns and rows."""
    with (FIXTURES / name).open(encoding="utf-8") as file:
        head = json.loads(file.readline())
    return head["width"], head["height"]
