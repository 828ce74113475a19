"""The HTTP server around the dialects; `GET /requests` tells what was asked so far."""

import itertools
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents.model import chat
from tests.agents.model.behaviour import decide

DIALECTS = {"/chat/completions": chat}
"""How a path ends → the module that reads and writes what goes over it."""
_numbers = itertools.count(1)


class ModelServer(ThreadingHTTPServer):
    """Listens on loopback; every request gets a thread."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, Handler)
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: Any) -> None:
        """Nothing on the terminal that an agent draws on."""

    def do_GET(self) -> None:
        """Model lists, and the log of requests."""
        if self.path.endswith("/models"):
            model = {"id": "fake-model", "object": "model", "created": 0, "owned_by": "fake"}
            self._json(200, {"object": "list", "data": [model]})
        elif self.path == "/requests":
            self._json(200, self.server.asked)
        else:
            self._json(404, {"error": {"message": f"no such path: {self.path}"}})

    def do_POST(self) -> None:
        """A request to the model."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        path = self.path.partition("?")[0]
        dialect = next((module for end, module in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self._json(404, {"error": {"message": f"no such path: {path}"}})
            return
        turn = dialect.read(body)
        plan, number = decide(turn), next(_numbers)
        self.server.asked.append({"path": path, "users": turn.users, "tools": sorted(turn.tools)})
        if plan.status != 200:
            error = {"type": "api_error", "message": f"fake failure {plan.status}"}
            self._json(plan.status, {"type": "error", "error": error})
        elif body.get("stream"):
            self._stream(dialect.stream(plan, body, number))
        else:
            self._json(200, dialect.whole(plan, body, number))

    def _stream(self, events: Any) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for data, pause in events:
                self.wfile.write(f"data: {data}\n\n".encode())
                self.wfile.flush()
                time.sleep(pause)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the agent was interrupted and hung up

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
