"""All sessions of one server: making, finding and ending them, and the live list."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial

import trio
from attrs import evolve

from hybridmux.agents.registry import Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation import lifecycle, resuming
from hybridmux.conversation.barrier import Known
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.inputs import checked_name
from hybridmux.conversation.making import Maker, size_of
from hybridmux.conversation.operations import Stopping
from hybridmux.conversation.phases import Step
from hybridmux.conversation.run import Run
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.shell import ShellSession
from hybridmux.conversation.sides import Sides
from hybridmux.conversation.taken import taken, tell_of_changes
from hybridmux.conversation.view import session_info, shown_title
from hybridmux.errors import BadRequest, Conflict, HybridmuxError, NotFound, StoreUnusable
from hybridmux.store.configs import Config, ConfigStore
from hybridmux.store.records import Record, RecordStore
from hybridmux.wire.sessions import (
    CreateSession,
    HybridRecord,
    ResumeRequest,
    SessionInfo,
)

Session = HybridSession | ShellSession


class Hub:
    """The sessions. One nursery carries them all; each ends for itself."""

    def __init__(
        self,
        *,
        sides: Sides,
        registry: Registry,
        records: RecordStore,
        configs: ConfigStore,
        budgets: Budgets,
        run: Run,
        environ: Mapping[str, str],
    ) -> None:
        self.registry, self.records, self.configs = registry, records, configs
        self.budgets = budgets
        self.bell = Bell()
        self._run = run
        self._maker = Maker(
            sides=sides, registry=registry, records=records, budgets=budgets, environ=environ, bell=self.bell
        )
        self._sessions: dict[str, Session] = {}
        self._nursery: trio.Nursery | None = None
        self._busy: set[str] = set()
        """Records that are being resumed or removed."""
        self.closing = False
        self._known: dict[str, Known] = {}
        """What closed sessions knew of their conversations, by record."""
        self._creating: dict[HybridSession, lifecycle.Creation] = {}

    async def serve(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Carries the sessions until cancelled."""
        async with trio.open_nursery() as self._nursery:
            self._nursery.start_soon(tell_of_changes, self.bell, self._hybrids)
            task_status.started()
            while True:
                await trio.sleep(self.budgets.catch_up)
                with suppress(StoreUnusable):  # said where it was first noticed; the disk may still be full
                    await self.records.catch_up()

    async def shut_down(self) -> None:
        """Ends every session within the grace period; what is left then goes with the nursery."""
        self.closing = True
        with trio.move_on_after(self.budgets.shutdown_grace):
            async with trio.open_nursery() as nursery:
                for unseen, creation in self._creating.items():
                    nursery.start_soon(lifecycle.give_up, unseen, creation)
                for session in self._sessions.values():
                    if isinstance(session, HybridSession):
                        nursery.start_soon(lifecycle.shut_down, session)
                    else:
                        session.over.set()

    # --- finding ---

    def all(self) -> list[Session]:
        """Every session of the list, oldest first."""
        return list(self._sessions.values())

    def get(self, session_id: str) -> Session:
        """One session; raises `NotFound`."""
        try:
            return self._sessions[session_id]
        except KeyError:
            raise NotFound(f"there is no session {session_id}") from None

    def hybrid(self, session_id: str) -> HybridSession:
        """One hybrid session; raises `NotFound`."""
        session = self.get(session_id)
        if not isinstance(session, HybridSession):
            raise NotFound(f"session {session_id} is an ordinary terminal")
        return session

    def infos(self) -> list[SessionInfo]:
        """The list as clients see it."""
        return [info(session) for session in self._sessions.values()]

    def record(self, record_id: str) -> Record:
        """One record; raises `NotFound`, `StoreUnusable`."""
        record = self.records.get(record_id)
        if record is None:
            raise NotFound(f"there is no record {record_id}")
        return record

    def shown_records(self) -> list[HybridRecord]:
        """Every record as clients see it, newest first; raises `StoreUnusable`."""
        return [self.shown(record) for record in self.records.all()]

    def shown(self, record: Record) -> HybridRecord:
        """One record as clients see it; a running session's title is the one it shows."""
        shown = record.shown(config_missing=not self.configs.has(record.config_id))
        session = self._sessions.get(record.id)
        if record.state != "active" or not isinstance(session, HybridSession):
            return shown
        return evolve(shown, title=shown_title(session))

    def _hybrids(self) -> list[HybridSession]:
        return [s for s in self._sessions.values() if isinstance(s, HybridSession)]

    # --- making ---

    async def create(self, wanted: CreateSession) -> Session:
        """A new session from a launch config, or an ordinary terminal from a command."""
        if (wanted.config_id is None) == (wanted.cmd is None):
            raise BadRequest("give either configId or cmd")
        if self.closing:
            raise Stopping("the server is stopping")
        if wanted.config_id is None:
            return await self._create_shell(wanted, None)
        if wanted.cwd is not None or wanted.env is not None:
            raise BadRequest("cwd and env come from the launch config")
        config = self.configs.get(wanted.config_id)
        return await (self._create_hybrid if config.hybrid else self._create_shell)(wanted, config)

    async def _create_shell(self, wanted: CreateSession, config: Config | None) -> ShellSession:
        session = self._maker.shell(wanted, config)
        await self._begin(partial(session.run, self._run.mark(session.id), size_of(wanted), self.budgets))
        self._list(session)
        return session

    async def _create_hybrid(self, wanted: CreateSession, config: Config) -> HybridSession:
        self.records.check()
        session = self._made(self._maker.new_record(wanted, config), config.env)
        session.sides.size = size_of(wanted)
        await self._begin(session.run)
        creation = self._creating[session] = lifecycle.Creation()
        if self.closing:  # it began to while the supervisor started
            creation.scope.cancel()
        try:
            await creation.run(session)
        finally:
            del self._creating[session]
        self._list(session)
        return session

    def _made(self, record: Record, env: Mapping[str, str]) -> HybridSession:
        session = self._maker.hybrid(record, env)
        session.taken = lambda: taken(self._hybrids(), besides=record.id)
        return session

    async def _begin(self, run: Callable[..., Awaitable[None]]) -> None:
        """Starts a session's supervisor; what it raises before it is up is raised here."""
        assert self._nursery is not None, "the hub is not being served"
        await self._nursery.start(run)

    def _list(self, session: Session) -> None:
        self._sessions[session.id] = session
        self.bell.ring()

    def _unlist(self, session_id: str) -> None:
        session = self._sessions.pop(session_id, None)
        if isinstance(session, HybridSession):
            self._known[session_id] = session.known
        self.bell.ring()

    # --- operations ---

    async def resume(self, record_id: str, wanted: ResumeRequest) -> HybridSession:
        """Brings a closed or interrupted session back under its own id."""
        if self.closing:
            raise Stopping("the server is stopping")
        record = self.record(record_id)
        old = self._sessions.get(record_id)
        if record_id in self._busy or (isinstance(old, HybridSession) and old.operations.current):
            raise Conflict("the session is being switched, resumed or removed", "switching")
        if record.state == "active":
            raise Conflict("the session is active already")
        self._maker.launch_of(record)
        try:
            env = self.configs.get(record.config_id).env
        except NotFound:
            if not wanted.confirm_without_env:
                raise Conflict(
                    "its launch config is gone; confirm to resume without that environment", "config_missing"
                ) from None
            env = {}
        session = self._made(record, env)
        session.known = old.known if isinstance(old, HybridSession) else self._known.get(record_id, Known())
        self._busy.add(record_id)
        try:
            await self._begin(session.run)
            self._list(session)
            work = partial(resuming.resume, session, wanted.side or record.side, wanted.agent_session_id)
            await session.operate("resume", work)
        except BaseException:
            session.over.set()
            if old is None:
                self._unlist(record_id)
            else:
                self._list(old)
            raise
        finally:
            self._busy.discard(record_id)
        if old is not None:
            old.over.set()
        return session

    async def close(self, session_id: str) -> None:
        """Ends a session and takes it off the list."""
        session = self.get(session_id)
        if isinstance(session, HybridSession):
            session.operations.check_free()
            if session.position.step is not Step.ENDED:
                try:
                    await session.operate("close", partial(lifecycle.close, session))
                except HybridmuxError:
                    if session.over.is_set():  # it did end; the answer says what went wrong with it
                        self._unlist(session_id)
                    raise
        session.over.set()
        self._unlist(session_id)

    async def rename(self, session_id: str, name: str) -> Session:
        """Gives a session another name."""
        session = self.get(session_id)
        name = checked_name(name)
        if not name:
            raise BadRequest("name must not be empty")
        if isinstance(session, HybridSession):
            await session.save(name=name, named=True)
        else:
            session.name = name
        session.changed()
        return session

    async def remove_record(self, record_id: str) -> None:
        """Forgets a closed or interrupted session; the agent's own store is never touched."""
        record = self.record(record_id)
        session = self._sessions.get(record_id)
        if record_id in self._busy or (isinstance(session, HybridSession) and session.operations.current):
            raise Conflict("the session is switching", "switching")
        if record.state == "active":
            raise Conflict("the session is active; close it first")
        self._busy.add(record_id)
        try:
            await self.records.remove(record_id)
        finally:
            self._busy.discard(record_id)
        if session is not None:
            session.over.set()
        self._unlist(record_id)
        self._known.pop(record_id, None)


def info(session: Session) -> SessionInfo:
    """One session as clients see it."""
    return session_info(session) if isinstance(session, HybridSession) else session.info()
