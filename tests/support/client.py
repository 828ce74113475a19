"""A small Trio client of the contract, for every end-to-end test: demo and real agents alike.

    async with serving(tmp_path) as server:                 the real server in a process of its own
        client = server.client
        session = await client.post("/api/sessions", {"configId": …})
        async with client.terminal(session["id"]) as term:  a terminal viewer with a pyte screen
            await term.until("ready")
            await term.type("hello", enter=True)
        await client.switch(session["id"], "acp")
        async with client.chat(session["id"]) as chat:      state and events, kept in step
            await chat.until(lambda c: c.turn_ended)

Every wait has a deadline (`WAIT` seconds) and raises with what was there instead.
"""

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import h11
import pyte
import trio
import trio_websocket
from attrs import define, field

WAIT = 20.0
ROOT = Path(__file__).parents[2]
_READY = re.compile(r"hybridmux ready: (http://([^:/]+):(\d+))/#token=(\S+)")


class Unexpected(AssertionError):
    """An answer with another status than the test wants."""

    def __init__(self, status: int, body: Any, what: str) -> None:
        super().__init__(f"{what}: {status} {body}")
        self.status, self.body = status, body


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
        headers: dict[str, str | None] | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """One request on a connection of its own: (status, headers, body). Header None leaves one out."""
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        sent = {
            "Host": f"{self.host}:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Connection": "close",
        }
        if body is not None or raw is not None:
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        sent |= headers or {}
        conn = h11.Connection(h11.CLIENT)
        with trio.fail_after(120):
            async with await trio.open_tcp_stream(self.host, self.port) as stream:
                head = h11.Request(
                    method=method, target=path, headers=[(k, v) for k, v in sent.items() if v is not None]
                )
                await stream.send_all(
                    conn.send(head) + conn.send(h11.Data(data=data)) + conn.send(h11.EndOfMessage())
                )
                return await self._answer(conn, stream)

    @staticmethod
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

    async def call(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        """A request whose JSON answer is returned; raises `Unexpected` (any 2xx is fine by default)."""
        got, _, data = await self.request(method, path, body)
        value = json.loads(data) if data else None
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

    async def prompt(self, session: str, text: str, **kwargs: Any) -> Any:
        """Sends a chat message."""
        body = {"text": text, "mode": "auto"}
        return await self.command("POST", f"/api/sessions/{session}/chat/prompts", body, **kwargs)

    async def demo_session(self, side: str = "tui", **extra: Any) -> dict[str, Any]:
        """A session of the offered demo agent."""
        configs = await self.get("/api/launch-configs")
        (config,) = [each for each in configs if each["name"] == "Demo agent"]
        return await self.post("/api/sessions", {"configId": config["id"], "startSide": side, **extra})

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
        headers: dict[str, str | None] | None = None,
        subprotocols: list[str] | None = None,
    ) -> AsyncIterator[trio_websocket.WebSocketConnection]:
        """A WebSocket with the bearer header."""
        sent = {"Authorization": f"Bearer {self.token}"} | (headers or {})
        # The stream is ours, so that it is closed however the conversation on it ends.
        async with await trio.open_tcp_stream(self.host, self.port) as stream, trio.open_nursery() as nursery:
            ws = await trio_websocket.wrap_client_stream(
                nursery,
                stream,
                f"{self.host}:{self.port}",
                path,
                subprotocols=subprotocols,
                extra_headers=[(k, v.encode()) for k, v in sent.items() if v is not None],
                max_message_size=64 * 2**20,
                message_queue_size=16,
            )
            yield ws
            with trio.move_on_after(2):
                await ws.aclose()
            nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def terminal(
        self, session: str, query: str = "", cols: int = 100, rows: int = 30
    ) -> AsyncIterator["TerminalView"]:
        """A viewer of a terminal side."""
        async with self.socket(f"/ws/s/{session}{query}") as ws, trio.open_nursery() as nursery:
            view = TerminalView(ws, cols, rows)
            nursery.start_soon(view.run)
            await view.until_text_frame("live")
            await ws.send_message(json.dumps({"type": "resize", "cols": cols, "rows": rows, "own": True}))
            yield view
            nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def chat(self, session: str, query: str = "") -> AsyncIterator["ChatView"]:
        """A viewer of a chat side."""
        async with self.socket(f"/ws/s/{session}/chat{query}") as ws, trio.open_nursery() as nursery:
            view = ChatView(ws)
            nursery.start_soon(view.run)
            await view.until(lambda v: v.snapshot is not None and v.caught_up)
            yield view
            nursery.cancel_scope.cancel()


class _View:
    """Something that reads a socket and can be waited on."""

    def __init__(self, ws: trio_websocket.WebSocketConnection) -> None:
        self.ws = ws
        self.closed: tuple[int, str] | None = None
        """Close code and reason, once the server has closed it."""
        self._lot = trio.lowlevel.ParkingLot()

    async def run(self) -> None:
        """Reads until the end."""
        try:
            while True:
                self._take(await self.ws.get_message())
                self._lot.unpark_all()
        except trio_websocket.ConnectionClosed as exc:
            reason = exc.reason
            self.closed = (getattr(reason, "code", 1006), getattr(reason, "reason", None) or "")
            self._lot.unpark_all()

    def _take(self, message: str | bytes) -> None:
        raise NotImplementedError

    def describe(self) -> str:
        """What is there now, for a failing wait."""
        return ""

    async def until(self, want: Callable[[Any], Any], seconds: float = WAIT) -> Any:
        """Waits until `want(self)` is true and returns that."""
        with trio.move_on_after(seconds):
            while not (found := want(self)):
                await self._lot.park()
            return found
        raise AssertionError(f"not within {seconds} s; closed {self.closed}; there is:\n{self.describe()}")

    async def until_closed(self, seconds: float = WAIT) -> tuple[int, str]:
        """Waits for the server's close: (code, reason)."""
        return await self.until(lambda v: v.closed, seconds)


class TerminalView(_View):
    """A terminal's bytes, drawn by pyte."""

    def __init__(self, ws: trio_websocket.WebSocketConnection, cols: int, rows: int) -> None:
        super().__init__(ws)
        self.frames: list[dict[str, Any]] = []
        self.data = bytearray()
        self._screen = pyte.Screen(cols, rows)
        self._stream = pyte.ByteStream(self._screen)
        # What pyte would draw or choke on.
        self._skip = re.compile(
            rb"\x1b\[[<>=?][0-9;:]*[umqtsp]|\x1b\[[0-9;?]*\$[a-z]|\x1b[_P^][^\x1b]*\x1b\\"
        )

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self.frames.append(json.loads(message))
            return
        self.data += message
        self._stream.feed(self._skip.sub(b"", message))

    @property
    def hello(self) -> dict[str, Any]:
        """The first frame."""
        return self.frames[0]

    @property
    def offset(self) -> int:
        """The position after what has come."""
        return self.hello["offset"] + len(self.data)

    def text(self) -> str:
        """The screen."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def describe(self) -> str:
        """The screen and the frames."""
        return f"{self.text()}\n{self.frames[-3:]}"

    async def until_text(self, pattern: str, seconds: float = WAIT) -> None:
        """Waits until the screen matches."""
        await self.until(lambda v: re.search(pattern, v.text()), seconds)

    async def until_text_frame(self, kind: str) -> dict[str, Any]:
        """Waits for a text frame of that type."""
        return await self.until(lambda v: next((f for f in v.frames if f["type"] == kind), None))

    async def send(self, data: bytes) -> None:
        """Input."""
        await self.ws.send_message(data)

    async def type(self, text: str, *, enter: bool = True) -> None:
        """Types a text, and Enter as a second write."""
        await self.send(text.encode())
        if enter:
            await self.send(b"\r")


class ChatView(_View):
    """A chat's state and events."""

    def __init__(self, ws: trio_websocket.WebSocketConnection) -> None:
        super().__init__(ws)
        self.snapshot: dict[str, Any] | None = None
        self.state: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self.caught_up = False

    def _take(self, message: str | bytes) -> None:
        frame = json.loads(message)
        if frame["type"] == "snapshot":
            self.snapshot, self.state = frame, frame["state"]
        elif frame["type"] == "state":
            self.state = frame["state"]
        else:
            assert frame["from"] == (self.events[-1]["seq"] + 1 if self.events else frame["from"])
            self.events += frame["items"]
            self.caught_up = True

    def messages(self) -> list[tuple[str, str]]:
        """(role, text) of the timeline's messages in order of first sight, chunks joined."""
        found: dict[tuple[str, str], str] = {}
        for event in self.events:
            if event["type"] == "message.append":
                key = (event["role"], event["messageId"])
                found[key] = found.get(key, "") + (event["content"].get("text") or "")
        return [(role, text) for (role, _), text in found.items()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type."""
        return [event for event in self.events if event["type"] == kind]

    def describe(self) -> str:
        """The newest events and the state."""
        return f"{self.events[-5:]}\n{self.state}"

    async def until_turns_ended(self, count: int, seconds: float = WAIT) -> dict[str, Any]:
        """Waits for that many `turn.end`s and returns the last."""
        return (await self.until(lambda v: len(v.of("turn.end")) >= count and v.of("turn.end"), seconds))[-1]

    async def until_request(self) -> dict[str, Any]:
        """Waits for an open request."""
        return (await self.until(lambda v: v.state.get("requests")))[0]


@define
class Server:
    """A server process."""

    process: subprocess.Popen[str]
    client: Client
    data: Path
    home: Path
    stderr: Path
    extra: dict[str, Any] = field(factory=dict)

    def log(self) -> str:
        """What it wrote to stderr."""
        return self.stderr.read_text()

    async def stop(self, seconds: float = 15) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return await trio.to_thread.run_sync(lambda: self.process.wait(seconds))


@asynccontextmanager
async def serving(
    folder: Path, *, config: str = "", env: dict[str, str] | None = None, data: Path | None = None
) -> AsyncIterator[Server]:
    """The real server, with a HOME of its own below `folder`; stopped at the end."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    data = data or folder / "data"
    stderr = folder / "server.err"
    argv = [str(Path(sys.executable).parent / "hybridmux"), "serve", "--port", "0", "--data", str(data)]
    if config:
        file = folder / "config.toml"
        file.write_text(config)
        argv += ["--config", str(file)]
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    whole = {**kept, "HOME": str(home), "HYBRIDMUX_DEMO_HOME": str(home / "demo"), **(env or {})}
    with stderr.open("a") as err:
        process = subprocess.Popen(argv, env=whole, stdout=subprocess.PIPE, stderr=err, text=True)  # noqa: ASYNC220 - a test, and quick
    try:
        line = await trio.to_thread.run_sync(process.stdout.readline)
        found = _READY.match(line)
        assert found, f"no ready line: {line!r}\n{stderr.read_text()}"
        client = Client(host=found[2], port=int(found[3]), token=found[4])
        yield Server(process=process, client=client, data=data, home=home, stderr=stderr)
    finally:
        with trio.CancelScope(shield=True):
            if process.poll() is None:
                process.terminate()
            try:
                await trio.to_thread.run_sync(lambda: process.wait(20))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def marked(data: Path) -> list[str]:
    """Processes that carry the mark of a data folder: `pid command`."""
    from hybridmux.proc.mark import data_hash

    wanted = f"HYBRIDMUX_MARK={data_hash(data)}:".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if wanted in (folder / "environ").read_bytes():
                found.append(f"{folder.name} {(folder / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    return found
