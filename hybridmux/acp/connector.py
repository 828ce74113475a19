"""One connector: an agent that speaks ACP version 1 over its standard input and output.

`open_connector` starts the program, and whoever leaves its block leaves nothing behind. The calls raise
`RpcError` (the agent's answer), `AgentTimeout` or `PeerClosed` (with the exit status and the last words on
stderr); all of them are `AgentFailed`. What the agent sends goes to the handler.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio
from attrs import field, frozen

from hybridmux.acp import messages
from hybridmux.acp.background import background
from hybridmux.acp.calls import AgentTimeout, Call, PeerClosed
from hybridmux.acp.connection import Connection, Handler, Running
from hybridmux.acp.jsonrpc import open_peer
from hybridmux.acp.metadata import legacy_ids
from hybridmux.acp.program import open_program
from hybridmux.acp.reading import Json, obj, text
from hybridmux.budgets import LIST_PAGES, Budgets
from hybridmux.errors import AgentFailed
from hybridmux.proc.mark import Mark
from hybridmux.proc.paths import real

__all__ = ["Connector", "ConnectorSpec", "Handler", "Running", "connect", "open_connector"]

Opened = Callable[[str, Json], None]
"""Gets a session's id and the agent's answer."""


@frozen(kw_only=True)
class ConnectorSpec:
    """What to start: a command, an absolute folder, the whole environment."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str] = field(repr=False)
    name: str = ""
    """For sentences; without one the name of the program's file."""


class Connector(Connection):
    """The agent; made by `open_connector`, or by `connect` over a program of another kind."""

    def __init__(self, program: Running, cwd: str, handler: Handler, budgets: Budgets) -> None:
        super().__init__(program, cwd, handler, budgets)
        self.session_id: str | None = None
        """The session opened last."""
        self._legacy: set[str] = set()
        self._prompts: list[Call] = []

    async def initialize(self) -> messages.InitializeResult:
        """Shakes hands. Raises `AgentFailed` if the agent speaks another version of the protocol."""
        answer = await self._call("initialize", messages.initialize_params(), self._budgets.starting)
        result = messages.read_initialize(answer)
        if result.protocol_version != messages.PROTOCOL_VERSION:
            theirs = result.protocol_version
            raise AgentFailed(
                f"{self._program.name} speaks ACP version {theirs}, not {messages.PROTOCOL_VERSION}"
            )
        return result

    async def list_sessions(self, until: str | None = None) -> list[messages.SessionSummary]:
        """Every session of the folder, newest first. Follows cursors to the end, also past empty pages.

        `until`: this one is looked for, and the rest may be missing once it is found. Raises `AgentFailed`
        when the list has no end.
        """
        found: dict[str, messages.SessionSummary] = {}
        cursor: str | None = None
        for _ in range(LIST_PAGES):
            page, following = messages.read_list(
                await self._call("session/list", messages.list_params(self._cwd, cursor))
            )
            # Agents filter by folder, but not all by the real path.
            found |= {one.session_id: one for one in page if one.cwd is None or self._is_here(one.cwd)}
            if following is None or following == cursor or until in found:
                break
            cursor = following
        else:
            raise AgentFailed(f"{self._program.name} lists more than {LIST_PAGES} pages of sessions")
        return sorted(found.values(), key=lambda one: one.updated_at or "", reverse=True)

    def _is_here(self, folder: str) -> bool:
        return folder == self._cwd or real(folder) == self._cwd

    async def new_session(self, opened: Opened | None = None) -> tuple[str, Json]:
        """Opens a new session: its id and the whole answer (`translate.config_from_result` reads it).

        Here and below `opened` gets both before anything that the agent sent after its answer is handled.
        """
        answer = await self._open("session/new", messages.new_params(self._cwd), self._budgets.rpc, opened)
        return self.session_id or "", answer

    async def load_session(self, session_id: str, opened: Opened | None = None) -> Json:
        """Opens a session with its history: all of it has been handled when this returns the answer.

        As long as updates come it may take `loading_total`; without any it fails after `loading_idle`.
        """
        budgets = self._budgets
        until = trio.current_time() + budgets.loading_total
        with trio.CancelScope(deadline=min(until, trio.current_time() + budgets.loading_idle)) as scope:
            self._loading = scope
            try:
                params = messages.load_params(session_id, self._cwd)
                return await self._open("session/load", params, budgets.loading_total, opened)
            finally:
                self._loading = None
        raise AgentTimeout(f"{self._program.name} sent nothing for {budgets.loading_idle:g} s while loading")

    async def resume_session(self, session_id: str, opened: Opened | None = None) -> Json:
        """Opens a session without its history; the answer."""
        params = messages.load_params(session_id, self._cwd)
        return await self._open("session/resume", params, self._budgets.loading_idle, opened)

    async def _open(self, method: str, params: Json, seconds: float, opened: Opened | None) -> Json:
        def answered(result: Any) -> None:
            answer = obj(result)
            session_id = params.get("sessionId") or text(answer.get("sessionId"))
            if not session_id:
                raise AgentFailed(f"{self._program.name} opened a session and gave no id for it")
            self.session_id, self._legacy = session_id, legacy_ids(answer)
            if opened is not None:
                opened(session_id, answer)

        return obj(await self._call(method, params, seconds, answered))

    def start_prompt(self, blocks: list[Json]) -> Call:
        """Sends a prompt; `call.sent` is set once it is written. For `prompt_outcome`."""
        call = self.peer.start("session/prompt", {"sessionId": self.session_id, "prompt": blocks})
        self._prompts = [one for one in (*self._prompts, call) if not one.done.is_set()]
        return call

    async def prompt_outcome(self, call: Call) -> messages.PromptResult:
        """How the turn ended; no deadline. Cancelling this does not cancel the turn: `cancel` does."""
        try:
            return messages.read_prompt(await call.result())
        except PeerClosed as error:
            raise await self._closed_error(error) from error

    async def prompt(self, blocks: list[Json]) -> messages.PromptResult:
        """Runs one turn. Agents differ in what two at once do: send one at a time."""
        return await self.prompt_outcome(self.start_prompt(blocks))

    @property
    def prompting(self) -> bool:
        """Whether a prompt is not answered yet."""
        return any(not one.done.is_set() for one in self._prompts)

    async def cancel(self) -> bool:
        """Asks for the end of the running turn; the prompt is then answered `cancelled`.

        Without an open prompt nothing is sent and this is False: a stray cancel makes the next prompt of
        Claude Code fail.
        """
        asked = self.prompting
        if asked:
            self.peer.notify("session/cancel", {"sessionId": self.session_id})
        await trio.lowlevel.checkpoint()
        return asked

    async def close_session(self) -> None:
        """`session/close`; only for agents that offer it."""
        await self._call("session/close", {"sessionId": self.session_id})

    async def set_config_option(
        self, option_id: str, value: str | bool, taken: Callable[[Json], None] | None = None
    ) -> Json:
        """Sets an option; the answer holds all options, and `taken` gets it before later updates are handled.

        Options made of the older `modes` and `models` have calls of their own, whose answers say nothing; the
        new value then comes as an update.
        """
        if option_id in self._legacy:
            return await self._set_legacy(option_id, value)

        def answered(result: Any) -> None:
            if taken is not None:
                taken(obj(result))

        params = messages.config_params(self.session_id or "", option_id, value)
        return obj(await self._call("session/set_config_option", params, at_once=answered))

    async def _set_legacy(self, option_id: str, value: str | bool) -> Json:
        session = {"sessionId": self.session_id}
        answer = obj(await self._call(f"session/set_{option_id}", {**session, f"{option_id}Id": value}))
        current = f"current{option_id.capitalize()}Id"
        update = {"sessionUpdate": f"current_{option_id}_update", current: value}
        self._handler.on_update({**session, "update": update})
        return answer

    async def steer(self, blocks: list[Json], *, idle_behavior: str | None = None) -> str:
        """Adds to the running turn: `injected`, or `promptRequired` where none runs."""
        params = messages.steering_params(self.session_id or "", blocks, idle_behavior)
        return text(obj(await self._call("_session/steering", params)).get("outcome")) or "injected"


@asynccontextmanager
async def connect(
    program: Running, *, cwd: str, handler: Handler, budgets: Budgets
) -> AsyncIterator[Connector]:
    """A connector over a program that runs already; it stays the caller's to end."""
    connector = Connector(program, cwd, handler, budgets)
    async with (
        open_peer(program.stream, notified=connector.notified, requests=connector.requests) as connector.peer,
        background() as nursery,
    ):
        nursery.start_soon(connector.run)
        yield connector


@asynccontextmanager
async def open_connector(
    spec: ConnectorSpec, *, mark: Mark, handler: Handler, budgets: Budgets
) -> AsyncIterator[Connector]:
    """Starts a connector; nothing is said to it yet. Leaving the block ends it. Raises `SpawnFailed`."""
    async with (
        open_program(
            spec.argv, cwd=spec.cwd, env=spec.env, mark=mark, budgets=budgets, name=spec.name
        ) as program,
        connect(program, cwd=spec.cwd, handler=handler, budgets=budgets) as connector,
    ):
        yield connector
