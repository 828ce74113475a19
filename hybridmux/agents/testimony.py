"""What an agent's own files say: which session a running TUI has open, and whether somebody else has it.

One door to `claude_registry`, `codex_locks` and `omp_breadcrumb`. A look reads small files and a little of
/proc, in about a millisecond. It may be repeated with the observation beat; that is how `/new`, `/clear` and
`/resume` are followed. Pids, start times, paths and the files' text are for decisions only and go no further
than this room.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from attrs import field, frozen

from hybridmux.agents import claude_registry, codex_locks, omp_breadcrumb
from hybridmux.agents.profile import Profile, TurnState
from hybridmux.proc import table
from hybridmux.proc.table import Entry


@frozen(kw_only=True)
class Subject:
    """A running TUI."""

    pid: int = field(repr=False)
    start_ticks: int = field(repr=False)
    tty: str = field(repr=False)
    """`/dev/pts/3`."""
    cwd: str = field(repr=False)
    """A real path."""
    env: Mapping[str, str] = field(repr=False)
    started_at: float = field(repr=False)
    """Seconds since the epoch."""


@frozen(kw_only=True)
class Testimony:
    """What is stated; None where the files do not say."""

    session_id: str | None = None
    stored: bool | None = None
    turn: TurnState = "unknown"
    not_root: bool = False
    """Several of the terminal's programs could be the agent's own."""


@frozen
class Openers:
    """The living programs that have one session open. For comparing only: it tells nothing of them."""

    _who: frozenset[tuple[int, int]] = field(factory=frozenset, repr=False)
    """Pid and start ticks (0 where they cannot be read)."""

    def __bool__(self) -> bool:
        return bool(self._who)

    def without(self, others: "Openers") -> "Openers":
        """Those that are not among the others."""
        return Openers(self._who - others._who)

    def any_but(self, ours: frozenset[int]) -> bool:
        """Whether one of them has none of these pids."""
        return any(pid not in ours for pid, _ in self._who)


def testimony(profile: Profile, subject: Subject) -> Testimony:
    """What the files of this profile's kind say of a TUI; nothing where they are missing, in doubt, or where
    there is no descriptor to read them."""
    with suppress(OSError):
        match profile.evidence:
            case "registry":
                return _registered(subject)
            case "locks":
                return _locked(subject)
            case "breadcrumb":
                return _dropped(subject)
    return Testimony()


def openers(profile: Profile, session_id: str, env: Mapping[str, str], cwd: str) -> Openers:
    """Who has the session open, as far as files can tell: ours and others'.

    `env`, `cwd`: those of a program of ours that would open it; they say where the files are. Raises OSError
    where nobody can be seen, whoever there is.
    """
    match profile.evidence:
        case "registry":
            return _registrants(session_id, env, cwd)
        case "locks":
            return _known(codex_locks.lockers(session_id, env, cwd))
    return Openers()


def _known(pids: Iterable[int]) -> Openers:
    found = ((pid, table.entry(pid)) for pid in pids)
    return Openers(frozenset((pid, one.start_ticks if one else 0) for pid, one in found))


def _registered(subject: Subject) -> Testimony:
    """The program's own record; where it has none it may be a launcher, and the only Claude that it started
    counts."""
    domain = claude_registry.this_domain()
    if domain is None:
        return Testimony()
    registry = claude_registry.folder(subject.env, subject.cwd)

    def said(pid: int, ticks: int) -> Testimony | None:
        facts = claude_registry.Facts(pid=pid, start_ticks=ticks, cwd=subject.cwd, pid_domain=domain)
        record = claude_registry.record_of(registry, facts)
        return Testimony(session_id=record.session_id, turn=record.turn) if record else None

    own = said(subject.pid, subject.start_ticks)
    if own is not None:
        return own
    claudes = _launched(subject.pid)
    if len(claudes) > 1:
        return Testimony(not_root=True)
    return next(filter(None, (said(one.pid, one.start_ticks) for one in claudes)), Testimony())


def _launched(pid: int) -> list[Entry]:
    root, below = table.find(pid), filter(None, map(table.find, table.children(pid)))
    return claude_registry.launched(root, below, table.program) if root else []


def _locked(subject: Subject) -> Testimony:
    """The program's own locks; where it has none it is a launcher, and what it started counts."""
    home = codex_locks.home(subject.env, subject.cwd)
    held = (codex_locks.held_threads(pids, home) for pids in _nearest(subject.pid)) if home else ()
    threads = next(filter(None, held), None)
    return Testimony(session_id=codex_locks.open_thread(threads, home) if threads and home else None)


def _nearest(pid: int) -> Iterator[Iterable[int]]:
    """A program, its children, everything below it: the last takes a look at every process there is."""
    yield (pid,)
    yield table.children(pid)
    yield table.descendants(pid, table.entries())


def _dropped(subject: Subject) -> Testimony:
    crumb = omp_breadcrumb.breadcrumb_of(
        omp_breadcrumb.folder(subject.env, subject.cwd),
        subject.tty,
        cwd=subject.cwd,
        started_at=subject.started_at,
    )
    return Testimony(session_id=crumb.session_id, stored=crumb.stored) if crumb else Testimony()


def _registrants(session_id: str, env: Mapping[str, str], cwd: str) -> Openers:
    domain = claude_registry.this_domain()
    if domain is None:
        return Openers()
    records = claude_registry.read_records(claude_registry.folder(env, cwd))
    named = claude_registry.claimants(records, session_id, domain=domain)
    found = {pid: table.find(pid) for pid in named}
    alive = {pid: one.start_ticks for pid, one in found.items() if one and one.alive}
    return Openers(frozenset((pid, ticks) for pid, ticks in named.items() if alive.get(pid) == ticks))
