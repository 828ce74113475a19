"""The fake model's HTTP server, on 127.0.0.1: requests in any wire format it knows, one thread each."""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from attrs import asdict

from tests.agents.model.behaviour import Reply, reply_to
from tests.agents.model.completions import Completions
from tests.agents.model.protocol import Json, Wire

MODEL = "fake-model"
WIRES: tuple[Wire, ...] = (Completions(),)
_ERRORS = {401: "authentication_error", 429: "rate_limit_error"}


class ModelServer(ThreadingHTTPServer):
    """Port 0 takes a free one; `log`, if given, gets a line of JSON for each request."""

    daemon_threads = True

    def __init__(self, port: int, log: Path | None = None) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.port: int = self.server_address[1]
        self._log = log.open("a", encoding="utf-8") if log else None
        self._lock = threading.Lock()

    def note(self, **entry: Any) -> None:
        """One line for the log."""
        if self._log:
            with self._lock:
                self._log.write(json.dumps(entry, default=sorted) + "\n")
                self._log.flush()

    def server_close(self) -> None:
        super().server_close()
        if self._log:
            self._log.close()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Nothing on stderr: it would be on the agent's screen."""

    def do_GET(self) -> None:
        """`…/models`."""
        if self.path.split("?")[0].endswith("/models"):
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "fake"}
            self._json(200, {"object": "list", "data": [model]})
        else:
            self._error(404, f"nothing at {self.path}")

    def do_POST(self) -> None:
        """A prompt."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        wire = next((wire for wire in WIRES if path.endswith(wire.path)), None)
        if wire is None:
            self.server.note(path=path, unknown=True)
            self._error(404, f"nothing at {path}")
            return
        try:
            body = json.loads(raw)
            prompt = wire.read(body)
        except (ValueError, AttributeError, TypeError) as exc:
            self._error(400, f"not a request of {wire.path}: {exc}")
            return
        reply = reply_to(prompt)
        self.server.note(path=path, prompt=asdict(prompt), reply=asdict(reply))
        self._answer(wire, reply, body, hashlib.sha256(raw).hexdigest()[:16])

    def _answer(self, wire: Wire, reply: Reply, body: Json, key: str) -> None:
        if reply.status != 200:
            self._error(reply.status, f"fake failure {reply.status}")
        elif not body.get("stream"):
            self._json(200, wire.whole(reply, body, key))
        else:
            try:
                self._stream(wire, reply, body, key)
            except (BrokenPipeError, ConnectionResetError):
                self.server.note(path=wire.path, gone=True)

    def _stream(self, wire: Wire, reply: Reply, body: Json, key: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in wire.events(reply, body, key):
            if event.data is None:
                time.sleep(reply.pause)
                continue
            name = f"event: {event.name}\n" if event.name else ""
            data = event.data if isinstance(event.data, str) else json.dumps(event.data)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
            self.wfile.flush()

    def _error(self, status: int, message: str) -> None:
        kind = _ERRORS.get(status, "api_error")
        self._json(status, {"type": "error", "error": {"type": kind, "message": message}})

    def _json(self, status: int, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
