"""Requests and sockets of one server; see `client`."""

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import h11
import trio
import trio_websocket
from attrs import define

from tests.support.views import ChatView, TerminalView

LARGEST_FRAME = 64 * 2**20
SLOWEST = 150.0
"""Seconds one request may take: longer than a whole switch."""
HANDSHAKE = 20.0
"""Seconds a WebSocket may take to open; the library waits for ever when the server dies meanwhile."""


class Unexpected(AssertionError):
    """An answer with another status than the test wants."""

    def __init__(self, status: int, body: Any, what: str) -> None:
        super().__init__(f"{what}: {status} {body}")
        self.status, self.body = status, body

    @property
    def reason(self) -> str | None:
        """The machine word of an error, if it has one."""
        return self.body.get("reason") if isinstance(self.body, dict) else None


def request_id() -> str:
    """A fresh `clientRequestId`."""
    return secrets.token_hex(8)


@define
class Client:
    """Requests and sockets of one server."""

    host: str
    port: int
    token: str

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """One request on a connection of its own: (status, headers, body). Header None leaves one out."""
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        sent: dict[str, str | None] = {
            "Host": f"{self.host}:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Connection": "close",
        }
        if body is not None or raw is not None:
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        sent |= headers or {}
        head = h11.Request(
            method=method, target=path, headers=[(k, v) for k, v in sent.items() if v is not None]
        )
        conn = h11.Connection(h11.CLIENT)
        whole = b"".join(conn.send(each) or b"" for each in (head, h11.Data(data=data), h11.EndOfMessage()))
        with trio.fail_after(SLOWEST):
            async with await trio.open_tcp_stream(self.host, self.port) as stream:
                await stream.send_all(whole)
                return await _answer(conn, stream)

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """A request's status, whatever it is, and its JSON."""
        got, _, data = await self.request(method, path, body)
        return got, _json(data)

    async def call(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        """A request whose JSON answer is returned; raises `Unexpected` (any 2xx is fine by default)."""
        got, value = await self.ask(method, path, body)
        if got != status if status is not None else not 200 <= got < 300:
            raise Unexpected(got, value, f"{method} {path}")
        return value

    async def get(self, path: str, **kwargs: Any) -> Any:
        """GET."""
        return await self.call("GET", path, **kwargs)

    async def post(self, path: str, body: Any, **kwargs: Any) -> Any:
        """POST."""
        return await self.call("POST", path, body, **kwargs)

    async def delete(self, path: str, **kwargs: Any) -> Any:
        """DELETE."""
        return await self.call("DELETE", path, **kwargs)

    async def command(self, method: str, path: str, body: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """A request with a fresh `clientRequestId`."""
        return await self.call(method, path, {"clientRequestId": request_id(), **(body or {})}, **kwargs)

    async def switch(self, session: str, to: str, **kwargs: Any) -> Any:
        """Moves a session."""
        return await self.command("POST", f"/api/sessions/{session}/switch", {"to": to}, **kwargs)

    async def switch_to(self, session: str, agent_session: str, **kwargs: Any) -> Any:
        """Moves a session to the chat, on a conversation that was chosen."""
        body = {"to": "acp", "agentSessionId": agent_session}
        return await self.command("POST", f"/api/sessions/{session}/switch", body, **kwargs)

    async def resume(self, session: str, body: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """Brings a closed or interrupted session back."""
        return await self.command("POST", f"/api/sessions/{session}/resume", body, **kwargs)

    async def prompt(self, session: str, text: str, **kwargs: Any) -> Any:
        """Sends a chat message."""
        body = {"text": text, "mode": "auto"}
        return await self.command("POST", f"/api/sessions/{session}/chat/prompts", body, **kwargs)

    async def cancel(self, session: str, **kwargs: Any) -> Any:
        """Stops the chat turn."""
        return await self.command("POST", f"/api/sessions/{session}/chat/cancel", **kwargs)

    async def permission_mode(self, session: str, mode: str, **kwargs: Any) -> Any:
        """Who answers permission requests: `ask` or `auto`."""
        path = f"/api/sessions/{session}/chat/permission-mode"
        return await self.command("PUT", path, {"mode": mode}, **kwargs)

    async def answer(self, session: str, request: str, body: dict[str, Any], **kwargs: Any) -> Any:
        """Answers a permission request or a form: `{outcome, optionId?}` or `{outcome, content?}`."""
        return await self.command("POST", f"/api/sessions/{session}/chat/requests/{request}", body, **kwargs)

    async def hybrid_session(self, cmd: list[str], cwd: str, **extra: Any) -> dict[str, Any]:
        """A session of a new launch config for that command."""
        config = {"name": cmd[0], "cmd": cmd, "cwd": cwd, "env": {}, "hybrid": True}
        config_id = (await self.post("/api/launch-configs", config))["id"]
        session: dict[str, Any] = await self.post("/api/sessions", {"configId": config_id, **extra})
        return session

    async def demo_session(self, side: str = "tui", **extra: Any) -> dict[str, Any]:
        """A session of the offered demo agent."""
        configs = await self.get("/api/launch-configs")
        (config,) = [each for each in configs if each["name"] == "Demo agent"]
        body = {"configId": config["id"], "startSide": side, **extra}
        session: dict[str, Any] = await self.post("/api/sessions", body)
        return session

    async def metrics(self) -> dict[str, int]:
        """The gauges."""
        _, _, data = await self.request("GET", "/metrics")
        lines = [line.split() for line in data.decode().splitlines() if not line.startswith("#")]
        return {name: int(float(value)) for name, value in lines}

    @asynccontextmanager
    async def socket(
        self,
        path: str,
        *,
        headers: Mapping[str, str | None] | None = None,
        subprotocols: list[str] | None = None,
    ) -> AsyncIterator[trio_websocket.WebSocketConnection]:
        """A WebSocket with the bearer header; raises `trio_websocket.ConnectionRejected`."""
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        failure: Exception | None = None
        # The stream is ours, so that it is closed however the conversation on it ends.
        async with await trio.open_tcp_stream(self.host, self.port) as stream, trio.open_nursery() as nursery:
            try:  # what is raised in here leaves as itself, not in the nursery's group
                with trio.fail_after(HANDSHAKE):
                    ws = await trio_websocket.wrap_client_stream(
                        nursery,
                        stream,
                        f"{self.host}:{self.port}",
                        path,
                        subprotocols=subprotocols,
                        extra_headers=[(k.encode(), v.encode()) for k, v in sent.items() if v is not None],
                        max_message_size=LARGEST_FRAME,
                        message_queue_size=16,
                    )
                yield ws
                with trio.move_on_after(2):
                    await ws.aclose()
            except Exception as exc:
                failure = exc
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    @asynccontextmanager
    async def terminal(
        self, session: str, query: str = "", cols: int = 100, rows: int = 30
    ) -> AsyncIterator[TerminalView]:
        """A viewer of a terminal side that owns its size; entered when the scrollback is complete."""
        async with (
            self.socket(f"/ws/s/{session}{query}") as ws,
            TerminalView(ws).reading() as view,
        ):
            await view.until_text_frame("live")
            await view.resize(cols, rows, own=True)
            yield view

    @asynccontextmanager
    async def chat(self, session: str, query: str = "") -> AsyncIterator[ChatView]:
        """A viewer of a chat side; entered when the events that the snapshot promised are here."""
        async with (
            self.socket(f"/ws/s/{session}/chat{query}") as ws,
            ChatView(ws).reading() as view,
        ):
            await view.until(lambda v: v.caught_up)
            yield view


async def _answer(conn: h11.Connection, stream: trio.SocketStream) -> tuple[int, dict[str, str], bytes]:
    status, headers, body = 0, {}, b""
    while True:
        event = conn.next_event()
        if event is h11.NEED_DATA:
            conn.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Response):
            status = event.status_code
            headers = {k.decode(): v.decode() for k, v in event.headers}
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        else:
            return status, headers, body


def _json(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return data.decode(errors="replace")
