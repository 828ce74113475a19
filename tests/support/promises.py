"""What a server has promised about its records, to be held against what is there after it was killed; pure.

Each field of a record has a set of values that it may have: one while nothing is under way, more from the
moment a change is asked for until it is answered.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

FIELDS = ("name", "state", "side", "activity", "exists")
Record = Mapping[str, Any]


@define(eq=False)
class Promise:
    """One record. `state` is the one after the next start, where nothing is active."""

    id: str
    may: dict[str, set[Any]]
    story: deque[str] = field(factory=lambda: deque(maxlen=12))
    """The last requests, for a failure."""

    def widen(self, **values: Any) -> None:
        """These are possible too from now on."""
        for name, value in values.items():
            self.may[name].add(value)

    def settle(self, **values: Any) -> None:
        """These are certain."""
        for name, value in values.items():
            self.may[name] = {value}

    def copy(self) -> dict[str, set[Any]]:
        """To go back to when a request was refused."""
        return {name: set(values) for name, values in self.may.items()}

    def only(self, name: str) -> Any:
        """The value of a field that is certain."""
        (value,) = self.may[name]
        return value


def _shown(record: Record) -> dict[str, Any]:
    state = "interrupted" if record["state"] == "active" else record["state"]
    return {
        "name": record["name"],
        "state": state,
        "side": record["side"],
        "activity": record.get("activity", "idle"),
        "exists": True,
    }


@define
class Promises:
    """All records of one data folder."""

    known: dict[str, Promise] = field(factory=dict)
    hoped: dict[str, str] = field(factory=dict)
    """Name → side of records that were asked for and not acknowledged."""

    def created(self, record_id: str, name: str, side: str) -> Promise:
        """A creation was acknowledged (or has turned out to have happened)."""
        self.hoped.pop(name, None)
        fields = {"name": name, "state": "interrupted", "side": side, "activity": "idle", "exists": True}
        self.known[record_id] = Promise(record_id, {key: {value} for key, value in fields.items()})
        return self.known[record_id]

    def broken_by(self, records: Iterable[Record]) -> list[str]:
        """What in a list of records was promised otherwise."""
        there = {record["id"]: _shown(record) for record in records}
        wrong = [
            f"unexpected record: {shown}"
            for key, shown in there.items()
            if key not in self.known and self.hoped.get(shown["name"]) != shown["side"]
        ]
        for key, promise in self.known.items():
            shown = there.get(key, {"exists": False})
            wrong += [
                f"{key}: {name} is {value!r}, possible are {promise.may[name]}; {list(promise.story)}"
                for name, value in shown.items()
                # What was under way matters to an interrupted session only.
                if value not in promise.may[name] and not (name == "activity" and shown["state"] == "closed")
            ]
        return wrong

    def now_certain(self, records: Iterable[Record]) -> None:
        """After a start: what is there is what is promised from now on."""
        there = {record["id"]: _shown(record) for record in records}
        for key, shown in there.items():
            promise = self.known.get(key) or self.created(key, shown["name"], shown["side"])
            promise.settle(**shown)
            promise.story.append(f"there after a start: {shown}")
        self.known = {key: promise for key, promise in self.known.items() if key in there}
        self.hoped.clear()
