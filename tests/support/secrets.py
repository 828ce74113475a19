"""Everything a server lets out, and a search in it for what must stay inside.

    heard = Overheard(server)                   a client that keeps all that it is told
    async with heard.listening():               /ws/events too
        await heard.client.switch(…)
        await heard.look_around()               every GET without a body, the data folder, the log
    assert heard.find(secrets) == []

What is kept: answers (status line, headers and body), all frames of the event and chat sockets, text frames
of terminals, files of the data folder by name and content, and stderr. Terminal output is the agent's own.
"""

import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
import trio_websocket
from attrs import define, field, frozen

from hybridmux.proc import table
from hybridmux.wire.convert import camel
from tests.support.api import Client
from tests.support.leaks import processes
from tests.support.server import Server

_LOUDLY = (
    "import logging, sys; logging.basicConfig(level=logging.DEBUG, stream=sys.stderr); "
    "from hybridmux.cli import main; sys.exit(main())"
)
LOUD = (sys.executable, "-c", _LOUDLY)
"""The program with everything it could ever log; the log's lines have no times, which are numbers too."""

_NAMES = (
    "pid", "ppid", "file_pid", "start_ticks", "proc_start", "pid_domain", "messaging_socket_path",
    "peer_protocol", "peer_features", "name_source", "members", "survivors", "tty", "tty_name",
    "breadcrumb", "lock_file", "registry", "process", "process_id",
)  # fmt: skip
KEYS = frozenset(_NAMES) | {camel(name) for name in _NAMES}
"""Names of fields that nothing of ours may have."""
_COUNTING = (
    "seq", "from", "next", "offset", "cols", "rows", "exitCode", "port", "size", "used", "generation",
    "revision", "index", "line", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
    "default", "bytes", "version", "position",
)  # fmt: skip
COUNTERS = frozenset(_COUNTING)
"""Fields that count something: their numbers may be those of a process by chance."""
_HARMLESS = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:127\.0\.0\.1|localhost):\d+"
)
"""Times, UUIDs and addresses: digits that stand for something else."""


@frozen(kw_only=True)
class Secrets:
    """What must not get out."""

    words: frozenset[str] = frozenset()
    """Texts that occur nowhere else: start ticks of seven digits, names, folders."""
    pids: frozenset[int] = frozenset()


@frozen
class Said:
    """One thing that was let out."""

    where: str
    data: bytes


@define
class Overheard:
    """All that one server lets out."""

    server: Server
    said: list[Said] = field(factory=list)
    pids: set[int] = field(factory=set)
    """Every process of ours that was seen at a look around."""
    ticks: set[int] = field(factory=set)

    @property
    def client(self) -> "Listener":
        """A client whose answers and frames are kept."""
        plain = self.server.client
        return Listener(plain.host, plain.port, plain.token, self.said)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Reads /ws/events meanwhile."""
        failure: Exception | None = None
        async with self.client.socket("/ws/events") as ws, trio.open_nursery() as nursery:
            nursery.start_soon(_read_on, ws)
            try:  # what the body raises leaves as itself
                yield
            except Exception as exc:
                failure = exc
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def look_around(self) -> None:
        """Asks for all that can be asked for, and reads what lies on disk."""
        client = self.client
        document = await client.get("/api/openapi.json")
        ids = await _ids(client)
        asked = []
        for path, methods in document["paths"].items():
            if "get" in methods and "101" not in methods["get"]["responses"]:
                for each in _filled(path, ids):
                    await client.request("GET", each)
                    asked.append(each)
        assert {"/api/sessions", "/api/hybrid-sessions", "/api/launch-configs", "/metrics"} <= set(asked)
        self.note_processes()
        self.read_files()

    def note_processes(self) -> None:
        """Remembers who is there."""
        for pid in (*(one.pid for one in processes(self.server.data)), self.server.process.pid):
            if seen := table.entry(pid):
                self.pids.add(pid)
                self.ticks.add(seen.start_ticks)

    def read_files(self) -> None:
        """The data folder and the log as they are now."""
        for file in sorted(self.server.data.rglob("*")):
            with suppress(OSError):  # a temp file that has been renamed meanwhile
                self.said.append(Said(f"file {file.name}", file.read_bytes() if file.is_file() else b""))
        self.said.append(Said("log", self.server.log().encode()))

    def secrets(self, *words: str) -> Secrets:
        """What was noted of processes, and these words."""
        ticks = {str(one) for one in self.ticks if one >= 10**5}
        return Secrets(words=frozenset(words) | ticks, pids=frozenset(self.pids))

    def find(self, secrets: Secrets) -> list[str]:
        """What got out, each once: where, and what of it."""
        return sorted({f"{said.where}: {what}" for said in self.said for what in find(said, secrets)})


def find(said: Said, secrets: Secrets) -> Iterator[str]:
    """The secrets in one thing that was said, its name included."""
    text = f"{said.where}\n{said.data.decode('utf-8', 'replace')}"
    yield from (word for word in secrets.words if word in text or json.dumps(word)[1:-1] in text)
    if "/assets/" in said.where or "<html" in text.lower():
        return  # the page: a program, whose numbers and names are its own
    value = _parsed(said.data)
    if value is None:
        yield from _pids_in(text, secrets.pids)
        yield from (key for key in KEYS if f'"{key}"' in text)
    else:
        yield from _pids_in(said.where, secrets.pids)
        yield from _inside(value, secrets.pids, "")


def _parsed(data: bytes) -> Any:
    """JSON, or None."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def _inside(value: Any, pids: frozenset[int], key: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name in KEYS:
                yield name
            yield from _pids_in(name, pids)
            yield from _inside(each, pids, name)
    elif isinstance(value, list):
        for each in value:
            yield from _inside(each, pids, key)
    elif isinstance(value, str):
        yield from _pids_in(value, pids)
    elif isinstance(value, int) and value in pids and key not in COUNTERS:
        yield f"{key}: {value}"


def _pids_in(text: str, pids: Iterable[int]) -> Iterator[str]:
    """Those that stand in a text as words of their own."""
    numbers = set(re.findall(r"(?<![\w.])\d+(?![\w.])", _HARMLESS.sub("", text)))
    yield from (f"pid {pid}" for pid in pids if str(pid) in numbers)


async def _read_on(ws: trio_websocket.WebSocketConnection) -> None:
    with suppress(trio_websocket.ConnectionClosed):
        while True:
            await ws.get_message()


async def _ids(client: Client) -> dict[str, list[str]]:
    """The ids that paths may have, by the path's beginning."""
    found = {}
    for path in ("/api/sessions", "/api/hybrid-sessions", "/api/launch-configs"):
        found[path] = [one["id"] for one in await client.get(path)]
    return found


def _filled(path: str, ids: Mapping[str, list[str]]) -> list[str]:
    """The paths of a route: one for each id it may have."""
    head, brace, rest = path.partition("{")
    if not brace:
        return [path]
    tail = rest.partition("}")[2]
    return [f"{head}{each}{tail}" for each in ids.get(head.rstrip("/"), ["unknown"])]


@define
class Listener(Client):
    """A client that keeps what it is told."""

    said: list[Said]

    async def request(
        self, method: str, path: str, *args: Any, **kwargs: Any
    ) -> tuple[int, dict[str, str], bytes]:
        """As `Client.request`."""
        status, headers, body = await Client.request(self, method, path, *args, **kwargs)
        # A date and a length are numbers of their own.
        kept = {name: value for name, value in headers.items() if name not in ("date", "content-length")}
        self.said += [
            Said(f"{method} {path} headers", json.dumps(kept).encode()),
            Said(f"{method} {path}", body),
        ]
        return status, headers, body

    @asynccontextmanager
    async def socket(self, path: str, **kwargs: Any) -> AsyncIterator[Any]:
        """As `Client.socket`."""
        async with Client.socket(self, path, **kwargs) as ws:
            yield _Ear(ws, path, self.said)


class _Ear:
    """A WebSocket whose text frames are kept, and its close's reason."""

    def __init__(self, ws: trio_websocket.WebSocketConnection, path: str, said: list[Said]) -> None:
        self._ws, self._path, self._said = ws, path, said

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ws, name)

    async def get_message(self) -> str | bytes:
        try:
            message: str | bytes = await self._ws.get_message()
        except trio_websocket.ConnectionClosed as exc:
            reason = exc.reason.reason if exc.reason else ""
            self._said.append(Said(f"close of {self._path}", str(reason or "").encode()))
            raise
        if isinstance(message, str):
            self._said.append(Said(f"frame of {self._path}", message.encode()))
        return message


def paths_of(folder: Path) -> list[str]:
    """A folder as it may be written."""
    return list({str(folder), str(folder.resolve())})
