"""What an agent's own files say: which session a running TUI has open, and whether somebody else has it.

One door to `claude_registry`, `codex_locks` and `omp_breadcrumb`. A look reads small files and a little of
/proc, in about a millisecond. It may be repeated with the observation beat; that is how `/new`, `/clear` and
`/resume` are followed. Pids, start times, paths and the files' text are for decisions only and go no further
than this room.
"""

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from hybridmux.agents import claude_registry, codex_locks, omp_breadcrumb
from hybridmux.agents.profile import Profile, TurnState
from hybridmux.proc import table


@frozen(kw_only=True)
class Subject:
    """A running TUI."""

    pid: int = field(repr=False)
    start_ticks: int = field(repr=False)
    by_engine: bool
    """It was started by its engine (node): the agent itself may be a child."""
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


def testimony(profile: Profile, subject: Subject) -> Testimony:
    """What the files of this profile's kind say of a TUI; nothing where they are missing or in doubt."""
    match profile.evidence:
        case "registry":
            return _registered(subject)
        case "locks":
            return _locked(subject)
        case "breadcrumb":
            return _dropped(subject)
    return Testimony()


def occupied(profile: Profile, session_id: str, ours: frozenset[int], env: Mapping[str, str]) -> bool:
    """Whether a program that is not ours has the session open, as far as files can tell."""
    match profile.evidence:
        case "registry":
            return _registered_elsewhere(session_id, ours, env)
        case "locks":
            return codex_locks.locked_elsewhere(session_id, ours, env)
    return False


def _registered(subject: Subject) -> Testimony:
    pid, ticks = subject.pid, subject.start_ticks
    if subject.by_engine:
        known = ((one, table.entry(one)) for one in (pid, *table.children(pid)))
        processes = {one: entry for one, entry in known if entry is not None}
        found = claude_registry.claude_pid(pid, True, processes)
        if found is None or found not in processes:
            return Testimony()
        pid, ticks = found, processes[found].start_ticks
    domain = claude_registry.this_domain()
    if domain is None:
        return Testimony()
    facts = claude_registry.Facts(pid=pid, start_ticks=ticks, cwd=subject.cwd, pid_domain=domain)
    record = claude_registry.record_of(claude_registry.folder(subject.env), facts)
    return Testimony(session_id=record.session_id, turn=record.turn) if record else Testimony()


def _locked(subject: Subject) -> Testimony:
    """The program's own locks; where it has none it is a launcher, and what it started counts."""

    def held(pids: Iterable[int]) -> list[str]:
        return codex_locks.held_threads(pids, subject.env)

    pid = subject.pid
    threads = (
        held([pid]) or held(table.children(pid)) or held(table.descendants(pid, table.entries()))  # slow
    )
    return Testimony(session_id=threads[-1] if threads else None)


def _dropped(subject: Subject) -> Testimony:
    crumb = omp_breadcrumb.breadcrumb_of(
        omp_breadcrumb.folder(subject.env), subject.tty, cwd=subject.cwd, started_at=subject.started_at
    )
    return Testimony(session_id=crumb.session_id, stored=crumb.stored) if crumb else Testimony()


def _registered_elsewhere(session_id: str, ours: frozenset[int], env: Mapping[str, str]) -> bool:
    domain = claude_registry.this_domain()
    records = claude_registry.read_records(claude_registry.folder(env))
    if domain is None or not records:
        return False
    alive = {one.pid: one.start_ticks for one in table.entries().values() if one.alive}
    return claude_registry.foreign_writer(records, session_id, alive=alive, ours=ours, domain=domain)
