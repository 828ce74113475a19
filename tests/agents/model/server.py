"""The HTTP server around the dialects; `GET /requests` tells what was asked so far."""

import itertools
import json
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents.model import chat, messages, responses
from tests.agents.model.behaviour import Plan, decide
from tests.agents.model.events import Timed, event

DIALECTS = {"/chat/completions": chat, "/responses": responses, "/messages": messages}
"""How a path ends → the module that reads and writes what goes over it."""
MODEL = {
    "id": "fake-model",
    "object": "model",
    "type": "model",
    "created": 0,
    "created_at": "2026-01-01T00:00:00Z",
    "owned_by": "fake",
    "display_name": "Fake Model",
}
"""In the words of OpenAI and of Anthropic."""
ERRORS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CHARS_A_TOKEN = 4
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

    @property
    def _where(self) -> str:
        return self.path.partition("?")[0].rstrip("/")

    def do_HEAD(self) -> None:
        """Some agents look whether there is anybody."""
        self._raw(200, "")

    def do_GET(self) -> None:
        """Model lists, and the log of requests."""
        if self._where == "/requests":
            self._json(200, self.server.asked)
        elif self._where.endswith("/models"):
            self._json(200, {"object": "list", "data": [MODEL], "models": [], "has_more": False})
        else:
            self._unknown()

    def do_POST(self) -> None:
        """A request to the model."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        dialect = next((module for end, module in DIALECTS.items() if self._where.endswith(end)), None)
        if self._where.endswith("/count_tokens"):
            self._json(200, {"input_tokens": max(1, len(raw) // _CHARS_A_TOKEN)})
        elif dialect is None:
            self._unknown()
        else:
            self._answer(dialect, json.loads(raw))

    def _answer(self, dialect: Any, body: dict[str, Any]) -> None:
        turn = dialect.read(body)
        plan, number = decide(turn), next(_numbers)
        self.server.asked.append({"path": self._where, "users": turn.users, "tools": sorted(turn.tools)})
        time.sleep(plan.wait)
        if plan.status != 200:
            kind = ERRORS.get(plan.status, "api_error")
            error = {"type": kind, "message": f"fake failure {plan.status}"}
            self._json(plan.status, {"type": "error", "error": error})
        elif body.get("stream"):
            self._stream(_spoiled(plan, dialect.stream(plan, body, number)))
        else:
            whole = json.dumps(dialect.whole(plan, body, number))
            self._raw(200, whole[: len(whole) // 2] if plan.broken else whole)

    def _stream(self, events: Iterable[Timed]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for frame, pause in events:
                self.wfile.write(frame.encode())
                self.wfile.flush()
                time.sleep(pause)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the agent was interrupted and hung up

    def _unknown(self) -> None:
        self.server.asked.append({"path": self._where, "unknown": self.command})
        self._json(404, {"error": {"message": f"no such path: {self.path}"}})

    def _json(self, status: int, value: Any) -> None:
        self._raw(status, json.dumps(value))

    def _raw(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _spoiled(plan: Plan, events: Iterable[Timed]) -> Iterable[Timed]:
    """The events as the plan wants them broken."""
    if plan.broken == "nonsense":
        return [event("{this is no JSON")]
    if plan.broken == "cut":
        whole = list(events)
        return whole[: len(whole) // 2]
    return events
