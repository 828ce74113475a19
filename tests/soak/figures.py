"""What a soak counts, and the table it prints; pure."""

from collections import Counter, deque
from statistics import quantiles

from attrs import define, field


@define
class Figures:
    """The numbers of one run; `broken` is empty when every invariant held."""

    seed: int
    operations: Counter[str] = field(factory=Counter)
    outcomes: Counter[str] = field(factory=Counter)
    times: dict[str, list[float]] = field(factory=lambda: {"tui → acp": [], "acp → tui": []})
    """Seconds of the switches that nothing disturbed."""
    faults: Counter[str] = field(factory=Counter)
    questions: int = 0
    messages: int = 0
    uncertain: int = 0
    lost: list[str] = field(factory=list)
    doubled: list[str] = field(factory=list)
    leaked: Counter[str] = field(factory=Counter)
    broken: list[str] = field(factory=list)
    trace: deque[str] = field(factory=lambda: deque(maxlen=60))
    seconds: float = 0.0

    @property
    def switches(self) -> int:
        """Requests for another side."""
        return sum(self.outcomes.values())

    def table(self) -> str:
        """For people."""
        rows = [
            ("seed", str(self.seed)),
            ("operations", f"{self.operations.total()} ({_counts(self.operations)})"),
            ("switches", f"{self.switches} ({_counts(self.outcomes)})"),
            ("with a fault", f"{self.faults.total()}, {len(self.faults)} kinds"),
            ("questions asked", str(self.questions)),
            *((f"undisturbed {way}", _spread(times)) for way, times in self.times.items()),
            ("messages", f"{self.messages} certain, {self.uncertain} uncertain"),
            ("lost", _named(self.lost)),
            ("doubled", _named(self.doubled)),
            ("leaked", _counts(+self.leaked) or "0"),
            ("seconds", f"{self.seconds:.0f}"),
        ]
        return "\n".join(f"{name:<24}{value}" for name, value in rows)

    def report(self) -> str:
        """The table; if something broke, also what, and the last operations."""
        if not self.broken:
            return self.table()
        again = f"again with --seed {self.seed}"
        return "\n".join([*self.trace, "", self.table(), "", *(f"BROKEN: {b}" for b in self.broken), again])


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counter.most_common())


def _named(texts: list[str]) -> str:
    return f"{len(texts)}: {', '.join(texts)}" if texts else "0"


def _spread(times: list[float]) -> str:
    if len(times) < 2:
        return "-"
    cuts = quantiles(times, n=20, method="inclusive")
    return f"{len(times)}, p50 {cuts[9]:.2f} s, p95 {cuts[18]:.2f} s"
