"""Session objects, made of requests, launch configs and records; nothing of them runs yet."""

import secrets
from collections.abc import Mapping

from hybridmux.agents.launch import Launch, Refusal
from hybridmux.agents.registry import Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.identity import not_eligible
from hybridmux.conversation.inputs import checked_name, clamped, folder
from hybridmux.conversation.moves import reconnect
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.shell import ShellSession
from hybridmux.conversation.sides import Plan, Sides
from hybridmux.errors import BadRequest
from hybridmux.proc.inherited import inherited
from hybridmux.proc.paths import real
from hybridmux.store.configs import Config, check_command
from hybridmux.store.records import Record, RecordStore
from hybridmux.wire.sessions import CreateSession
from hybridmux.wire.types import utc_now


class Maker:
    """What every session of one server is made with."""

    def __init__(
        self,
        *,
        sides: Sides,
        registry: Registry,
        records: RecordStore,
        budgets: Budgets,
        environ: Mapping[str, str],
        bell: Bell,
    ) -> None:
        self._sides, self._registry, self._records = sides, registry, records
        self._budgets, self._bell = budgets, bell
        self._environ = inherited(environ)

    def hybrid(self, record: Record, env: Mapping[str, str]) -> HybridSession:
        """A session for a record, with the environment of its launch config. Raises `Conflict`."""
        launch = self.launch_of(record)
        profile = self._registry.profiles[launch.agent]
        plan = Plan(
            profile=profile,
            launch=launch,
            session=record.id,
            cwd=real(record.cwd) or record.cwd,  # agents file their sessions under the real path
            env=profile.environment({**self._environ, **env}),
        )
        return HybridSession(
            record,
            plan,
            sides=self._sides,
            store=self._records,
            budgets=self._budgets,
            bell=self._bell,
            reconnect=reconnect,
        )

    def launch_of(self, record: Record) -> Launch:
        """How a record's command reads; raises `Conflict` (unknown_agent) if that is not its agent's now."""
        verdict = self._registry.read(record.cmd)
        if isinstance(verdict, Refusal) or verdict.agent != record.agent:
            raise not_eligible("unknown_agent")
        return verdict

    def new_record(self, wanted: CreateSession, config: Config) -> Record:
        """The record of a new hybrid session. Raises `BadRequest`."""
        now = utc_now()
        return Record(
            id=secrets.token_hex(6),
            name=checked_name(wanted.name or config.name),
            named=wanted.name is not None,
            config_id=config.id,
            agent=self._launch(config.cmd).agent,
            cwd=folder(config.cwd),
            cmd=config.cmd,
            side=wanted.start_side or "tui",
            created_at=now,
            updated_at=now,
        )

    def shell(self, wanted: CreateSession, config: Config | None) -> ShellSession:
        """An ordinary terminal, of a launch config or of the request's own command. Raises `BadRequest`."""
        if wanted.start_side is not None:
            raise BadRequest("startSide is for hybrid launch configs")
        if config is None:
            cmd, cwd, env = wanted.cmd or [], wanted.cwd or "", wanted.env or {}
        else:
            cmd, cwd, env = config.cmd, config.cwd, config.env
        check_command(cmd, env)
        return ShellSession(
            name=checked_name(wanted.name or (config.name if config else "")),
            cmd=cmd,
            cwd=folder(cwd),
            env={**self._environ, **env},
            bell=self._bell,
        )

    def _launch(self, cmd: list[str]) -> Launch:
        verdict = self._registry.read(cmd)
        if isinstance(verdict, Refusal):
            raise BadRequest(f"this command cannot be a hybrid session: {verdict.reason}")
        return verdict


def size_of(wanted: CreateSession) -> tuple[int, int]:
    """Columns and rows of a new terminal."""
    return clamped(wanted.cols, 80), clamped(wanted.rows, 24)
