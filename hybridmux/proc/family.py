"""Everything one program has started, and its end.

Who belongs to it, by any of these (each alone has a hole, together they have not):

    tree     the program and what descends from it; an orphan hangs below us, its subreaper, from then on
    session  the same kernel session
    mark     the run's mark in the environment, which survives setsid and orphaning
    seen     pid and start time seen in the family before: holds after `env -i setsid` and orphaning
    files    an orphan of ours without any of these that holds the program's terminal or pipes open

`members()` remembers whom it saw: look once before asking a program to quit. Who has cut all these ties and
was never seen cannot be told from anybody else's: it is named (`detached`), never ended.

Without a descriptor to look with, nobody counts as gone, and who was seen before is told to end all the same.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from signal import SIGCONT, SIGHUP, SIGKILL, SIGTERM, Signals

import trio
from attrs import field, frozen

from hybridmux.proc import pidfd, spawn, table
from hybridmux.proc.spawn import Child
from hybridmux.proc.table import Entry

LADDER = (SIGTERM, SIGKILL)
UNSEEN = "(it cannot be seen who)"
"""Stands for the survivors where nothing can be looked at."""
LOOK_AGAIN = 0.25
"""Seconds between looks for newcomers while those that were told take their time."""
_PAUSE = 0.02


@frozen
class EndReport:
    """How a family ended."""

    how: str
    """`exited` (nothing was left to end), the name of the last signal that was needed, or `survived`."""
    survivors: list[str] = field(factory=list)
    """Names of what is still alive; without pids, as it is told to everybody."""
    spared: list[str] = field(factory=list)
    """Names of what was left alone because its command line is on the list of shared daemons."""
    along: list[str] = field(factory=list)
    """Names of the others that were there at the last `members()`, or were told to end, and have gone."""
    detached: list[str] = field(factory=list)
    """Names of orphans below us, younger than the program, that belong to nobody we know."""


class Family:
    """The child, its descendants and everything with its run's mark."""

    def __init__(self, child: Child, *, spare: Sequence[str] = ()) -> None:
        """`spare`: regular expressions; a process whose command line one of them finds is never ended."""
        self.child = child
        self._spare = [re.compile(one) for one in spare]
        self._seen: dict[int, Entry] = {}
        self._company: dict[tuple[int, int], str] = {}
        """Names of the others, by pid and start time."""
        self._files = _files_of(child)
        self._over = False
        self._ending = trio.Lock()

    def members(self) -> list[int]:
        """The pids of all that are alive, lowest first. Reads `/proc`: some milliseconds.

        Raises OSError without a descriptor to look with, as `pids` does.
        """
        found = self._scan()
        self._company = {}
        self._meet(found.values())
        return sorted(found)

    def look(self) -> None:
        """`members()` before a program is asked to quit, as far as it can be looked at."""
        with suppress(OSError):
            self.members()

    def pids(self) -> frozenset[int]:
        """The same for a passing look: what `end` will tell of is not changed by it."""
        return frozenset(self._scan())

    def _meet(self, members: Iterable[Entry]) -> None:
        others = [one for one in members if one.pid != self.child.pid]
        self._company |= {(one.pid, one.start_ticks): one.name for one in others}

    def signal(self, number: Signals) -> None:
        """Sends it to every member once."""
        for one in self._reached(number):
            pidfd.send(one.pid, one.start_ticks, number)

    def _reached(self, number: Signals) -> Iterable[Entry]:
        """Those who are to be told. Where nothing can be looked at its group is told here and now, which
        needs no descriptor, and the answer is who was seen last."""
        try:
            return self._scan().values()
        except OSError:
            if self.child.returncode is None:  # so its pid is still its own, and its group's
                with suppress(OSError):
                    os.killpg(self.child.pid, number)
            return self._seen.values()

    async def end(self, step_seconds: float, *, steps: Sequence[Signals] = LADDER) -> EndReport:
        """Ends all members, each step of the ladder at most `step_seconds`.

        Not cancellable, so it takes `len(steps) * step_seconds` at worst; may be called again.
        """
        with trio.CancelScope(shield=True):
            async with self._ending:
                report = await self._climb(step_seconds, steps)
        return report

    async def _climb(self, seconds: float, steps: Sequence[Signals]) -> EndReport:
        how = "exited"
        gone = await self._empty()
        for number in steps:
            if not gone:
                how = number.name
                gone = await self._step(number, seconds)
        self._over = gone
        spared: list[str] = []
        left = self._left(spared, gone=gone)
        return EndReport(
            how if gone else "survived",
            list(left.values()),
            spared,
            along=_names(name for (pid, _), name in self._company.items() if pid not in left),
            detached=self._detached(),
        )

    def _left(self, spared: list[str], *, gone: bool) -> dict[int, str]:
        """Pids and names of those who are still there."""
        if gone and not self._spare:
            return {}
        try:
            return {pid: one.name for pid, one in self._scan(spared).items()}
        except OSError:
            return {} if gone else {self.child.pid: UNSEEN}

    async def _step(self, number: Signals, seconds: float) -> bool:
        """Signals all, newcomers too, until none is left or the time is up; True if none is left."""
        until = trio.current_time() + seconds
        told: set[tuple[int, int, str]] = set()
        while not await self._empty():
            if trio.current_time() >= until:
                return False
            members = list(self._reached(number))
            self._meet(members)
            for one in members:
                # Between fork and exec a process has its parent's handler and may swallow the signal; a new
                # name shows that it has become a program since.
                if (key := (one.pid, one.start_ticks, one.name)) not in told:
                    told.add(key)
                    self._tell(one, number)
            with trio.move_on_at(min(until, trio.current_time() + LOOK_AGAIN)):
                await pidfd.all_gone({one.pid: one.start_ticks for one in members})
                if not members:  # nobody to wait for; they may not be seen now
                    await trio.sleep(_PAUSE)
        return True

    def _tell(self, one: Entry, number: Signals) -> None:
        pidfd.send(one.pid, one.start_ticks, number)
        if number == SIGTERM:
            if one.pid == self.child.pid and self.child.tty_name:
                # An interactive shell ignores SIGTERM; to a shell, losing its terminal is the word.
                pidfd.send(one.pid, one.start_ticks, SIGHUP)
            # A stopped program would sleep through its last chance.
            pidfd.send(one.pid, one.start_ticks, SIGCONT)

    async def _empty(self) -> bool:
        """Two passes in a row find nobody: one alone can miss a fork that is under way."""
        for _ in range(2):
            await trio.lowlevel.checkpoint()
            try:
                found = self._scan()
            except OSError:
                return False
            if found:
                return False
        return True

    def _scan(self, spared: list[str] | None = None) -> dict[int, Entry]:
        processes = table.entries()
        never = {os.getpid(), *table.ancestors(os.getpid(), processes)}
        found = table.below(self._roots(processes) - never, processes) - never
        found &= {pid for pid in found if processes[pid].alive}
        left_alone = [pid for pid in found if self._is_spared(pid)]
        if spared is not None:
            spared += [processes[pid].name for pid in left_alone]
        found -= table.below(left_alone, processes)
        self._seen = {pid: processes[pid] for pid in found}
        return self._seen

    def _roots(self, processes: dict[int, Entry]) -> set[int]:
        return {pid for pid, one in processes.items() if self._is_ours(one)}

    def _is_ours(self, one: Entry) -> bool:
        seen = self._seen.get(one.pid)
        if one.start_ticks in (seen and seen.start_ticks, self._leader_ticks(one.pid)):
            return True
        if one.sid == self.child.pid and self._session_is_ours(one):
            return True
        mark = table.environ_mark(one.pid)
        if mark is not None:
            return mark == self.child.mark
        return self._is_our_orphan(one)

    def _leader_ticks(self, pid: int) -> int | None:
        return self.child.start_ticks if pid == self.child.pid else None

    def _session_is_ours(self, one: Entry) -> bool:
        """A session's number is not given away before its last process is gone, but then it is."""
        return not self._over and one.start_ticks >= self.child.start_ticks and one.pid != self.child.pid

    def _is_our_orphan(self, one: Entry) -> bool:
        return _is_orphan(one, spawn.owned()) and bool(self._files & table.open_files(one.pid))

    def _detached(self) -> list[str]:
        """Those that have nothing of ours but us as the parent they were given."""
        owned = spawn.owned() or {}
        try:
            orphans = [one for one in table.entries().values() if _is_orphan(one, spawn.owned())]
        except OSError:
            return []
        return _names(
            one.name
            for one in orphans
            if one.start_ticks >= self.child.start_ticks
            and one.sid not in owned
            and one.pid not in self._seen
            and table.environ_mark(one.pid) is None
            and not self._is_spared(one.pid)
        )

    def _is_spared(self, pid: int) -> bool:
        if not self._spare:
            return False
        text = table.command_line(pid)
        return any(one.search(text) for one in self._spare)


def _files_of(child: Child) -> set[str]:
    """The names under which somebody who has the child's terminal or pipes open shows them."""
    files = {child.tty_name} if child.tty_name else set()
    for fd in (child.stdin, child.stdout, child.stderr):
        if fd is not None:
            files.add(os.readlink(f"/proc/self/fd/{fd}"))  # noqa: PTH115
    return files


def _is_orphan(one: Entry, owned: Mapping[int, int] | None) -> bool:
    """Below us and nobody's child; False as long as a child of ours is starting and has no pid yet."""
    return one.ppid == os.getpid() and one.alive and owned is not None and one.pid not in owned


def _names(names: Iterable[str]) -> list[str]:
    """Each once, in order."""
    return sorted(set(names))
