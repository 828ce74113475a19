"""Records: what survives of a hybrid session. No message, environment value or PID is in one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from hybridmux.budgets import HISTORY_IDS, RECORDS, STORE_FULL
from hybridmux.errors import Conflict
from hybridmux.store import atomic
from hybridmux.store.document import Document, Write
from hybridmux.wire.convert import maybe
from hybridmux.wire.sessions import HybridRecord
from hybridmux.wire.types import PermissionMode, Place, StateName, utc_now

VERSION = 1


@frozen(kw_only=True)
class Record:
    """One hybrid session on disk."""

    id: str
    name: str
    named: bool = False
    """A person gave the name: it wins over titles."""
    title: str = ""
    config_id: str
    agent: str
    cwd: str
    cmd: list[str]
    side: Place
    agent_session_id: str | None = None
    agent_session_history: list[str] = field(factory=list)
    unprompted: bool = False
    """The agent session has no prompt yet; some agents cannot open it again."""
    state: StateName = "active"
    activity: str = "idle"
    queued: int = 0
    """How many messages wait; what is lost if the server dies."""
    permission_mode: PermissionMode | None = maybe()
    config_values: dict[str, Any] = field(factory=dict)
    created_at: str
    updated_at: str

    def moved(self, new: str | None, *, forget: bool = False) -> dict[str, Any]:
        """What changes with another agent session (None: not known); the old id moves into the history.

        `forget`: it does not, as there never was anything to open under it.
        """
        if new == self.agent_session_id:
            return {}
        old = [self.agent_session_id] if self.agent_session_id and not forget else []
        history = [*old, *(i for i in self.agent_session_history if i not in (new, *old))][:HISTORY_IDS]
        return {"agent_session_id": new, "agent_session_history": history, "unprompted": False}

    def shown(self, *, config_missing: bool) -> HybridRecord:
        """The record as clients see it."""
        interrupted = self.state == "interrupted"
        return HybridRecord(
            id=self.id,
            name=self.name,
            title=self.name if self.named else self.title or self.name,
            config_id=self.config_id,
            config_missing=config_missing,
            agent=self.agent,
            cwd=self.cwd,
            cmd=self.cmd,
            side=self.side,
            agent_session_id=self.agent_session_id,
            agent_session_history=self.agent_session_history,
            state=self.state,
            activity=self.activity if interrupted else None,  # type: ignore[arg-type]  # one of three words
            lost_queued=self.queued if self.state != "active" and self.queued else None,
            permission_mode="ask" if self.permission_mode == "ask" else None,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class RecordStore:
    """All records, in `<data>/hybrid-sessions.json`."""

    def __init__(self, folder: Path, write: Write = atomic.replace) -> None:
        self._document = Document(
            folder / "hybrid-sessions.json", Record, key="records", version=VERSION, write=write
        )

    @property
    def path(self) -> Path:
        """The file."""
        return self._document.path

    def load(self) -> None:
        """Reads the file; what is unusable about it is raised at use."""
        self._document.load()

    async def interrupt_active(self) -> None:
        """At a start: what was active when the last server ended is interrupted now."""
        if any(record.state == "active" for record in self._document.items):
            await self._document.update(
                lambda items: [evolve(r, state="interrupted") if r.state == "active" else r for r in items],
                keep=True,  # so it is, whether the disk has room for it or not
            )

    def check(self) -> None:
        """Raises `StoreUnusable`."""
        self._document.check()

    def all(self) -> Sequence[Record]:
        """Every record, newest first; raises `StoreUnusable`."""
        return sorted(self._document.items, key=lambda record: record.updated_at, reverse=True)

    def get(self, record_id: str) -> Record | None:
        """One record; raises `StoreUnusable`."""
        return next((record for record in self._document.items if record.id == record_id), None)

    async def put(self, record: Record, *, new: bool = False, keep: bool = False) -> Record:
        """Replaces a record, or adds a `new` one, and returns it as stored; one that was removed stays away.

        Raises `Conflict` (limit), `StoreUnusable`.

        `keep`: the record tells of something that cannot be undone: it counts here even if it is not on disk.
        """
        stored = evolve(record, updated_at=utc_now())

        def change(items: list[Record]) -> list[Record]:
            rest = [each for each in items if each.id != record.id]
            if not new and len(rest) == len(items):
                return items
            if new and len(rest) >= RECORDS:
                raise Conflict(f"there are {RECORDS} records already; remove some first", "limit")
            if new and self._document.size > STORE_FULL:
                raise Conflict("the records fill their file; remove some first", "limit")
            return [*rest, stored]

        await self._document.update(change, keep=keep)
        return stored

    async def catch_up(self) -> None:
        """Writes what could not be written before. Raises `StoreUnusable` if that is not possible yet."""
        await self._document.catch_up()

    async def remove(self, record_id: str) -> None:
        """Forgets a record; the agent's own store is never touched."""
        await self._document.update(lambda items: [each for each in items if each.id != record_id])
