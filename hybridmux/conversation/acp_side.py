"""The chat side over a real connector: its calls, with the agent's failures as `SideFailed`."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial

import trio

from hybridmux.acp.connector import Connector, ConnectorSpec, open_connector
from hybridmux.acp.messages import describe, is_active_writer, is_auth_required
from hybridmux.agents.executable import chat_environment, own_program
from hybridmux.budgets import EARLY_UPDATES, Budgets
from hybridmux.conversation.sides import (
    Abilities,
    Asker,
    AuthRequired,
    OccupiedElsewhere,
    Plan,
    PromptOutcome,
    SessionUnknown,
    SideFailed,
    Summary,
)
from hybridmux.conversation.tui import own_temp
from hybridmux.errors import HybridmuxError
from hybridmux.proc.family import EndReport
from hybridmux.proc.mark import Mark
from hybridmux.wire.chat import PromptCapabilities
from hybridmux.wire.convert import Json

_UNKNOWN = -32002


@contextmanager
def _blame() -> Iterator[None]:
    """The connector's errors as ours, by what they mean."""
    try:
        yield
    except SideFailed:
        raise
    except HybridmuxError as exc:
        kind: Callable[[str], SideFailed] = SideFailed
        if is_auth_required(exc):
            kind = AuthRequired
        elif is_active_writer(exc):
            kind = OccupiedElsewhere
        elif getattr(exc, "code", None) == _UNKNOWN:
            kind = SessionUnknown
        raise kind(describe(exc)) from exc


class AcpSide:
    """One connector; it is also the handler of what the agent sends."""

    def __init__(self, budgets: Budgets) -> None:
        self.abilities = Abilities()
        self.version = ""
        self.sink: Callable[[Json], None] = lambda _: None
        self.report: EndReport | None = None
        """How its processes ended, after `stop()`."""
        self._budgets = budgets
        self._connector: Connector | None = None
        self._session: str | None = None
        self._early: deque[Json] | None = None
        """What came while a new session was being opened, whose id is not known yet."""
        self._is_open = False
        self._asker: Asker | None = None
        self._adopted = trio.Event()

    # --- what the agent sends ---

    def on_update(self, params: Json) -> None:
        """A `session/update`; those of other sessions (sub-agents) have no place in this timeline."""
        if params.get("sessionId") in (self._session, None):
            self.sink(params)
        elif self._early is not None:
            self._early.append(params)

    async def on_permission(self, params: Json) -> Json:
        """`session/request_permission`, from this session or a sub-agent's."""
        asker = await self._whom_to_ask()
        return await asker.permission(params) if asker else {"outcome": {"outcome": "cancelled"}}

    async def on_elicitation(self, params: Json) -> Json:
        """`elicitation/create`."""
        asker = await self._whom_to_ask()
        return await asker.form(params) if asker else {"action": "cancel"}

    async def _whom_to_ask(self) -> Asker | None:
        """None: nothing is open yet, and the agent may wait for an answer before it opens anything."""
        if self._is_open:
            await self._adopted.wait()
        return self._asker

    @property
    def asker(self) -> Asker | None:
        """Answers the agent's requests; there is one as soon as this is the session's chat side."""
        return self._asker

    @asker.setter
    def asker(self, asker: Asker | None) -> None:
        self._asker = asker
        self._adopted.set()

    def pids(self) -> frozenset[int]:
        """The connector and everything it started."""
        return self._wire.pids()

    # --- what we ask ---

    async def begin(self, connector: Connector) -> None:
        """`initialize`."""
        self._connector = connector
        with _blame():
            result = await connector.initialize()
        self.version = result.version
        self.abilities = Abilities(
            load=result.can_load,
            resume=result.can_resume,
            close=result.can_close,
            steering=result.steering,
            prompt=PromptCapabilities(image=result.image, embedded_context=result.embedded_context),
        )

    @property
    def _wire(self) -> Connector:
        assert self._connector is not None
        return self._connector

    async def sessions(self, until: str | None = None) -> list[Summary]:
        """Every agent session of the folder; no more than are needed to find `until`."""
        with _blame():
            found = await self._wire.list_sessions(until)
        return [Summary(session_id=s.session_id, title=s.title or "", updated_at=s.updated_at) for s in found]

    async def new(self, opened: Callable[[Json], None]) -> str:
        """A new agent session."""
        self._early = deque(maxlen=EARLY_UPDATES)
        with _blame():
            session_id, _ = await self._wire.new_session(partial(self._opened, opened))
        return session_id

    async def load(self, session_id: str, opened: Callable[[Json], None]) -> None:
        """Opens an agent session with its history."""
        self._session = session_id
        with _blame():
            await self._wire.load_session(session_id, partial(self._opened, opened))

    async def resume(self, session_id: str, opened: Callable[[Json], None]) -> None:
        """Opens an agent session without its history."""
        self._session = session_id
        with _blame():
            await self._wire.resume_session(session_id, partial(self._opened, opened))

    def _opened(self, then: Callable[[Json], None], session_id: str, answer: Json) -> None:
        """The answer; what the agent sent before it goes first, what it sent after it comes later."""
        self._session, self._is_open = session_id, True
        early, self._early = self._early or (), None
        for params in early:
            self.on_update(params)
        then(answer)

    async def prompt(self, blocks: list[Json], sent: Callable[[], None]) -> PromptOutcome:
        """One turn."""
        with _blame():
            call = self._wire.start_prompt(blocks)
            try:
                await call.sent.wait()
            finally:  # one that is given up may have been written at this very moment
                if call.written:
                    sent()
            result = await self._wire.prompt_outcome(call)
        return PromptOutcome(stop_reason=result.stop_reason, usage=result.usage)

    async def cancel(self) -> None:
        """`session/cancel`."""
        with _blame():
            await self._wire.cancel()

    async def set_option(self, option_id: str, value: str | bool, taken: Callable[[Json], None]) -> None:
        """`session/set_config_option`."""
        with _blame():
            with trio.move_on_after(self._budgets.rpc):
                await self._wire.set_config_option(option_id, value, taken)
                return
            raise SideFailed("the agent did not answer in time")

    async def stop(self) -> None:
        """Closes and ends it; proved gone when this returns. Raises `SideFailed` if something survives."""
        if self._session is not None and self.abilities.close and not self._wire.closed.is_set():
            with trio.move_on_after(self._budgets.stopping_step), suppress(HybridmuxError):
                # it is about to end anyway
                await self._wire.close_session()
        report = self.report = await self._wire.stop()
        if report.survivors:
            raise SideFailed(f"these processes did not end: {', '.join(report.survivors)}")

    async def kill(self) -> None:
        """Ends it without ceremony."""
        await self._wire.kill()

    def strike(self) -> None:
        """SIGKILL to all its processes."""
        self._wire.strike()

    @property
    def over(self) -> bool:
        """Whether it has ended, as far as is known at this moment."""
        return self._wire.ended

    async def ended(self) -> str:
        """Waits for the connector's end and says why."""
        return await self._wire.wait_closed()


@asynccontextmanager
async def open_chat(plan: Plan, mark: Mark, budgets: Budgets) -> AsyncIterator[AcpSide]:
    """A connector that has answered `initialize`; raises `SideFailed`."""
    argv = plan.launch.wrapped(plan.profile.acp_argv(plan.launch))
    side = AcpSide(budgets)
    async with AsyncExitStack() as stack:
        env = await stack.enter_async_context(own_temp(plan))
        seen = await plan.seen.known()
        program = own_program(plan.launch, seen, plan.cwd)
        env = chat_environment(plan.profile, env, program, seen)
        spec = ConnectorSpec(argv=tuple(argv), cwd=plan.cwd, env=env)
        with _blame():
            connector = await stack.enter_async_context(
                open_connector(spec, mark=mark, handler=side, budgets=budgets)
            )
        await side.begin(connector)
        yield side
