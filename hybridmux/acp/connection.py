"""A connection to a running connector: what the agent sends goes to the handler, and its end is told once."""

import os
from collections import Counter
from collections.abc import Callable
from signal import Signals
from typing import Any, Protocol

import trio

from hybridmux.acp.calls import INVALID_PARAMS, AgentTimeout, PeerClosed, RpcError
from hybridmux.acp.jsonrpc import Peer, Requested
from hybridmux.acp.program import Tail
from hybridmux.acp.reading import Json
from hybridmux.acp.streams import ByteStream
from hybridmux.budgets import EXIT_GRACE, Budgets
from hybridmux.proc.family import EndReport

UPDATE = "session/update"
KINDS_COUNTED = 64


class Handler(Protocol):
    """Who takes what the agent sends."""

    def on_update(self, params: Json) -> None:
        """A `session/update`, in order; every session's."""

    async def on_permission(self, params: Json) -> Json:
        """`session/request_permission`: the outcome, or the whole answer `{outcome: {…}}`."""

    async def on_elicitation(self, params: Json) -> Json:
        """`elicitation/create` in form mode: `{action, content?}`."""


class Running(Protocol):
    """The program behind a connector: a real one is `program.Program`."""

    name: str
    stream: ByteStream
    stderr: Tail

    @property
    def exit_code(self) -> int | None: ...
    async def wait(self) -> int: ...
    def look(self) -> None: ...
    async def end(self) -> EndReport: ...
    async def kill(self) -> EndReport: ...
    def strike(self) -> None: ...
    def pids(self) -> frozenset[int]: ...


class Connection:
    """The half of a connector that listens."""

    def __init__(self, program: Running, cwd: str, handler: Handler, budgets: Budgets) -> None:
        self.closed = trio.Event()
        self.reason: str | None = None
        """Why it is closed, as a sentence for a person; see `wait_closed`."""
        self.ignored: Counter[str] = Counter()
        """Notifications of other kinds than `session/update`."""
        self.peer: Peer
        self._program = program
        self._cwd = os.path.realpath(cwd)
        self._handler = handler
        self._budgets = budgets
        self._loading: trio.CancelScope | None = None
        self._stopping = trio.Lock()

    async def _call(
        self,
        method: str,
        params: Json,
        seconds: float | None = None,
        at_once: Callable[[Any], None] | None = None,
    ) -> Any:
        seconds = self._budgets.rpc if seconds is None else seconds
        try:
            with trio.fail_after(seconds):
                return await self.peer.request(method, params, at_once=at_once)
        except trio.TooSlowError:
            raise AgentTimeout(f"{self._program.name} did not answer {method} within {seconds:g} s") from None
        except PeerClosed as error:
            raise await self._closed_error(error) from error

    # --- what the agent sends ---

    def notified(self, method: str, params: Any) -> None:
        """Takes a notification."""
        if method != UPDATE or not isinstance(params, dict):
            known = method in self.ignored or len(self.ignored) < KINDS_COUNTED
            self.ignored[method if known else "?"] += 1
            return
        if self._loading is not None:
            self._loading.deadline = trio.current_time() + self._budgets.loading_idle
        self._handler.on_update(params)

    async def _permission(self, params: Any) -> Json:
        answer = await self._handler.on_permission(_params(params))
        return answer if isinstance(answer.get("outcome"), dict) else {"outcome": answer}

    async def _elicitation(self, params: Any) -> Json:
        if _params(params).get("mode", "form") != "form":
            raise RpcError(INVALID_PARAMS, "Only forms are supported")
        return await self._handler.on_elicitation(params)

    @property
    def requests(self) -> dict[str, Requested]:
        """The methods the agent may call; all others are answered -32601."""
        return {"session/request_permission": self._permission, "elicitation/create": self._elicitation}

    # --- the end ---

    async def wait_closed(self) -> str:
        """Waits for the end of the connector and says why it ended."""
        await self.closed.wait()
        return self.reason or ""

    async def stop(self) -> EndReport:
        """Closes its input, gives it a step to end, then ends all it started. May be repeated."""
        async with self._stopping:
            self._program.look()
            with trio.move_on_after(self._budgets.stopping_step):
                await self.peer.close_output()
                await self._program.wait()
            return await self._program.end()

    async def kill(self) -> EndReport:
        """Ends it and all it started at once."""
        return await self._program.kill()

    @property
    def ended(self) -> bool:
        """Whether its program, its output or its input has ended: it is of no use any more."""
        gone = self.closed.is_set() or self.peer.closed.is_set() or self._program.exit_code is not None
        return gone or self.peer.deaf

    def pids(self) -> frozenset[int]:
        """It and everything it started."""
        return self._program.pids()

    def strike(self) -> None:
        """SIGKILL to it and all it started; nothing is waited for."""
        self._program.strike()

    async def run(self) -> None:
        """Watches for the end of the program or of its output, and gives the other one a moment."""
        async with trio.open_nursery() as nursery:

            async def first(wait: Any) -> None:
                await wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(first, self.peer.closed.wait)
            nursery.start_soon(first, self._program.wait)
        with trio.move_on_after(EXIT_GRACE):
            await self._program.wait()
            # A process it left behind may hold its output open for ever.
            await self.peer.closed.wait()
        self.reason = self._why()
        self.peer.close(self.reason)
        self.closed.set()

    def _why(self) -> str:
        name, code = self._program.name, self._program.exit_code
        if self.peer.reason is not None and not self.peer.ended_cleanly:
            return f"{name}: {self.peer.reason}"
        said = [f": {line}" for line in self._program.stderr.lines()[-1:]]
        if code is None:
            return f"{name} closed its output{''.join(said)}"
        how = f"exit status {code}" if code >= 0 else f"{Signals(-code).name}"
        return f"{name} ended with {how}{''.join(said)}"

    async def _closed_error(self, error: PeerClosed) -> PeerClosed:
        """The same with what is known a moment later: the exit status and the last words."""
        with trio.move_on_after(2 * EXIT_GRACE):
            await self.closed.wait()
        return PeerClosed(self.reason or error.reason)


def _params(params: Any) -> Json:
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "Params must be an object")
    return params
