"""Every 409, 502 and 503 of the table, provoked over HTTP: the whole body is what the table says.

A row is one request in one scene; a scene is one server. What a row is checked against comes from the table
(`hybridmux/problems.py`), from its wire type, and from what the server's own document says of the route.
"""

import builtins
import json
import re
from typing import Any

import pytest
from attrs import field, frozen

from hybridmux.errors import HybridmuxError
from hybridmux.problems import ELIGIBILITY, PROBLEMS, find
from hybridmux.wire.convert import read
from hybridmux.wire.problems import BODIES
from tests.e2e import outside
from tests.e2e import stage as scenes
from tests.e2e.conftest import SHORT
from tests.e2e.stage import LAST_WORDS, Names, Scene, Stage
from tests.support.client import Client

CHAT, TUI = {"to": "acp"}, {"to": "tui"}
START_CHAT = {"configId": "{config}", "startSide": "acp"}
MESSAGE = {"text": "hi", "mode": "auto"}
RECORDS, CONFIGS = "hybrid-sessions.json", "launch-configs.json"


@frozen
class Row:
    """One request that is refused."""

    operation: str
    """As in the server's document."""
    at: str
    """Names of the scene for the path's variables, or words of its own."""
    body: Any
    says: str
    """A regular expression over `error`."""
    status: int = 409
    reason: str | None = None
    word: str | None = None
    """`eligibility`."""
    fault: str = ""
    """How the demo agent breaks from now on."""
    path: str = ""
    """The store file that `path` names."""
    choices: int | None = None
    """How many candidates there are."""
    earlier: bool = False
    """The request was made in the scene."""


def switching(operation: str, at: str, body: Any = None) -> Row:
    """A request to a session that moves."""
    return Row(operation, at, body, "switch|busy|remove", reason="switching")


def failed(operation: str, at: str, body: Any, fault: str, says: str) -> Row:
    """The agent's fault."""
    return Row(operation, at, body, says, status=502, fault=fault)


def unusable(operation: str, at: str, body: Any = None, path: str = RECORDS, says: str = "") -> Row:
    """The store's fault."""
    return Row(operation, at, body, says or "It is left as it is; repair or move it", status=503, path=path)


MOVING = (
    switching("sessions.switch", "moving", TUI),
    switching("sessions.close", "moving"),
    switching("sessions.resume", "moving", {}),
    switching("records.remove", "moving"),
    switching("chat.prompt", "moving", MESSAGE),
    switching("chat.cancel", "moving"),
    switching("chat.permission_mode", "moving", {"mode": "ask"}),
)
RESTING = (
    Row("sessions.switch", "terminal", CHAT, "send a first message", 409, "not_eligible", "no_session_id"),
    Row("sessions.switch", "terminal", {**CHAT, "agentSessionId": "demo_none"}, "does not list", 409,
        "not_eligible", "not_listed"),
    Row("sessions.switch", "terminal", {**CHAT, "agentSessionId": "{open}"}, "another session", 409,
        "not_eligible", "occupied"),
    Row("sessions.switch", "terminal", {"choice": "force"}, "no switch waits", 409, "answered"),
    Row("sessions.resume", "terminal", {}, "active already"),
    Row("records.remove", "terminal", None, "close it first"),
    Row("chat.prompt", "terminal", MESSAGE, "other side", 409, "wrong_side"),
    Row("chat.prompt", "chat", {"text": "hi", "mode": "steer"}, "running turn", 409, "steering_unavailable"),
    Row("chat.answer", "chat none", {"outcome": "cancelled"}, "answered already", 409, "answered"),
    Row("chat.edit", "chat none", {"move": "up"}, "sent or removed", 409, "sent"),
    Row("chat.remove", "chat none", None, "sent or removed", 409, "sent"),
    Row("chat.send_now", "chat none", None, "sent or removed", 409, "sent"),
)  # fmt: skip
ENDED = (
    Row("sessions.resume", "folderless", {}, "folder .*gone is not there"),
    Row("sessions.resume", "configless", {}, "launch config is gone", 409, "config_missing"),
    Row("sessions.resume", "forgotten", {}, "does not have that", 409, "session_missing", choices=4),
    Row("sessions.resume", "forgotten", {"side": "acp"}, "does not have", 409, "session_missing", choices=4),
    Row("sessions.resume", "sound", {"agentSessionId": "{open}"}, "another session", 409, "not_eligible",
        "occupied"),
    Row("sessions.switch", "left", CHAT, "has ended", 409, "wrong_side"),
    Row("chat.prompt", "left", MESSAGE, "has ended", 409, "wrong_side"),
)  # fmt: skip
LONELY = tuple(
    Row(operation, at, body, "Demo ACP is not installed; install it with: npm", 409, "connector_missing")
    for operation, at, body in (
        ("sessions.create", "", START_CHAT),
        ("sessions.switch", "terminal", CHAT),
        ("sessions.resume", "record", {"side": "acp"}),
    )
)
AMBIGUOUS = (Row("sessions.switch", "terminal", CHAT, "cannot be told", 409, "session_ambiguous", choices=2),)
TALKING = (
    Row("sessions.switch", "terminal", CHAT, "open in another program", 409, "occupied_external",
        fault="acp.load:active_writer"),
    Row("sessions.resume", "record", {"side": "acp"}, "open in another program", 409, "occupied_external",
        fault="acp.load:active_writer"),
    failed("sessions.switch", "terminal", CHAT, "acp.load:exit", f"^loading: .*71.*{LAST_WORDS}"),
    failed("sessions.switch", "terminal", CHAT, "acp.load:error", "^loading: .*demo fault at load"),
    failed("sessions.switch", "terminal", CHAT, "acp.load:hang", "^loading: .*nothing for 1.5 s"),
    failed("sessions.switch", "terminal", CHAT, "acp.initialize:error", "cannot be started: .*at initialize"),
    failed("sessions.switch", "terminal", CHAT, "acp.list:exit", f"cannot be started: .*71.*{LAST_WORDS}"),
    failed("sessions.switch", "chat", TUI, "tui.start:error", "^starting: .*exit code 1.*fault at start"),
    failed("sessions.switch", "chat", TUI, "tui.start:exit", "^starting: .*exit code 71"),
    failed("sessions.switch", "chat", TUI, "tui.load:other", "^loading: .*another conversation .demo_"),
    failed("sessions.resume", "record", {"side": "acp"}, "acp.load:error", "not be resumed: .*fault at load"),
    failed("sessions.resume", "record", {"side": "acp"}, "acp.load:exit", f"resumed: .*71.*{LAST_WORDS}"),
    failed("sessions.resume", "record", {}, "tui.start:error", "resumed: .*exit code 1.*fault at start"),
    failed("sessions.create", "", START_CHAT, "acp.new:exit", f"71.*{LAST_WORDS}"),
    failed("sessions.create", "", START_CHAT, "acp.new:error", "fault at new"),
)  # fmt: skip
VISITED = tuple(
    Row(operation, at, body, "another program has that conversation open", 409, "occupied_external")
    for operation, at, body in (
        ("chat.prompt", "bereft", MESSAGE),
        ("chat.config", "bereft model", {"value": "large"}),
        ("chat.unpause", "chat", None),
        ("chat.send_now", "chat item", None),
        ("sessions.switch", "chat", TUI),
        ("sessions.switch", "bereft", TUI),
        ("sessions.resume", "record", {}),
        ("sessions.resume", "record", {"side": "acp"}),
    )
)
SEVERAL = (
    Row("sessions.switch", "terminal", CHAT, "not the terminal's own", 409, "not_eligible", "not_root"),
)
CHECKED = tuple(
    Row("sessions.switch", "moving", to, "another request checks", 409, "not_eligible", "checking")
    for to in (CHAT, TUI)
)
STRANGE = tuple(
    Row("sessions.resume", at, body, "knows no agent", 409, "not_eligible", "unknown_agent")
    for at in ("future", "plain", "other")
    for body in ({}, {"side": "acp"}, {"confirmWithoutEnv": True})
)
UNWRITABLE = tuple(
    unusable(operation, at, body, says=f"{RECORDS} cannot be written: .+")
    for operation, at, body in (
        ("sessions.create", "", {"configId": "{config}"}),
        ("sessions.switch", "terminal", CHAT),
        ("sessions.switch", "chat", TUI),
        ("sessions.resume", "record", {}),
        ("sessions.resume", "record", {"side": "acp"}),
        ("sessions.rename", "chat", {"name": "other"}),
        ("chat.permission_mode", "chat", {"mode": "ask"}),
        ("records.remove", "record", None),
        ("sessions.close", "terminal", None),
    )
)
STOPPING = tuple(
    Row(operation, at, body, "the server is stopping", 503, "server_stopping", earlier=not operation)
    for operation, at, body in (
        ("", "", None),
        ("sessions.create", "", {"cmd": ["cat"]}),
        ("sessions.close", "moving", None),
        ("sessions.switch", "moving", CHAT),
        ("sessions.resume", "moving", {}),
    )
)
NO_RECORDS = (
    unusable("records.list_records", ""),
    unusable("records.get", "r0"),
    unusable("records.remove", "r0"),
    unusable("sessions.resume", "r0", {}),
    unusable("sessions.create", "", {"configId": "{config}"}),
    unusable("sessions.create", "", START_CHAT),
)
CONFIG = {"name": "x", "cmd": ["cat"]}
NO_CONFIGS = (
    unusable("configs.list_configs", "", path=CONFIGS),
    unusable("configs.add", "", CONFIG, path=CONFIGS),
    unusable("configs.get", "c", path=CONFIGS),
    unusable("configs.put", "c", CONFIG, path=CONFIGS),
    unusable("configs.remove", "c", path=CONFIGS),
    unusable("sessions.create", "", {"configId": "c"}, path=CONFIGS),
    unusable("sessions.resume", "r0", {}, path=CONFIGS),
)
FULL = (
    Row("sessions.create", "", {"configId": "{config}"}, "200 records", 409, "limit"),
    Row("sessions.create", "", START_CHAT, "200 records", 409, "limit"),
)
FULL_QUEUE = (Row("chat.prompt", "chat", MESSAGE, "100 messages", 409, "limit"),)


@frozen
class Case:
    """A server, a scene on it, and what is refused there one after the other."""

    scene: Scene
    rows: tuple[Row, ...]
    files: dict[str, bytes] = field(factory=dict)
    """Store files that are there before the server starts, and as they were when it has ended."""
    config: str = SHORT


PATIENT = SHORT.replace("stopping_step = 2.0", "stopping_step = 30.0")
NEWER = b'{"version": 3, "configs": []}'
TABLE = {
    "resting": Case(scenes.resting, RESTING),
    "moving": Case(scenes.asking, MOVING),
    "stopping": Case(scenes.stopping, STOPPING, config=PATIENT),
    "ended": Case(scenes.ended, ENDED),
    "lonely": Case(scenes.lonely, LONELY),
    "ambiguous": Case(scenes.ambiguous, AMBIGUOUS),
    "agent": Case(scenes.talking, TALKING),
    "occupied": Case(outside.visited, VISITED),
    "several agents": Case(outside.several, SEVERAL),
    "checking": Case(outside.checked, CHECKED),
    "strange records": Case(scenes.nothing, STRANGE, {RECORDS: scenes.STRANGE}),
    "full queue": Case(scenes.full_queue, FULL_QUEUE),
    "full": Case(scenes.offered, FULL, {RECORDS: scenes.FULL}),
    "unwritable": Case(scenes.unwritable, UNWRITABLE),
    "corrupt records": Case(scenes.offered, NO_RECORDS, {RECORDS: b'{"version": 1, "records": [{'}),
    "newer records": Case(scenes.offered, NO_RECORDS, {RECORDS: scenes.records(1, version=2)}),
    "corrupt configs": Case(scenes.nothing, NO_CONFIGS, {CONFIGS: b"\x00\xff", RECORDS: scenes.records(1)}),
    "newer configs": Case(scenes.nothing, NO_CONFIGS, {CONFIGS: NEWER, RECORDS: scenes.records(1)}),
}


def _subclasses(kind: type) -> set[type]:
    return {kind}.union(*(_subclasses(each) for each in kind.__subclasses__()))


CLASS_NAMES = {each.__name__ for each in _subclasses(HybridmuxError)} | {
    name
    for name, each in vars(builtins).items()
    if isinstance(each, type) and issubclass(each, BaseException)
}


def assert_sentence(text: str) -> None:
    """Something that a person can read."""
    assert len(text.split()) >= 3
    assert text == text.strip()
    assert "\n" not in text
    assert not CLASS_NAMES & set(re.findall(r"\w+", text))
    assert not re.search(r"Traceback|<\w+ |\bobject at 0x|\bNone\b", text)


def _filled(body: Any, names: Names) -> Any:
    if not isinstance(body, dict):
        return body
    return {key: value.format_map(names) if isinstance(value, str) else value for key, value in body.items()}


async def refused(stage: Stage, row: Row, names: Names) -> tuple[int, Any]:
    """Makes the row's request; the agent breaks as the row says for as long as that takes."""
    if row.earlier:
        assert stage.earlier is not None
        return stage.earlier
    stage.fault.write_text(row.fault)
    at = tuple(names.get(word, word) for word in row.at.split())
    answer = await stage.ask(row.operation, at, _filled(row.body, names))
    stage.fault.write_text("")
    return answer


def assert_is(row: Row, body: Any, data: Any) -> None:
    """The whole body."""
    problem = find(row.status, row.reason)
    assert body.keys() == {"error", *problem.fields, *(["reason"] if row.reason else [])}
    read(body, BODIES[problem])
    assert_sentence(body["error"])
    assert re.search(row.says, body["error"])
    assert body.get("reason") == row.reason
    assert body.get("eligibility") == row.word
    if row.path:
        assert body["path"] == str(data / row.path)
    if row.choices is not None:
        ids = [each["agentSessionId"] for each in body["candidates"]]
        assert len(set(ids)) == len(ids) == row.choices


def described(stage: Stage, row: Row) -> str:
    """What the server's document says that the route may answer."""
    _, _, operation = stage.operations[row.operation]
    return str(operation["responses"][str(row.status)])


async def assert_ordinary_terminal(client: Client) -> None:
    """A terminal without an agent works."""
    sid = (await client.post("/api/sessions", {"cmd": ["cat"]}))["id"]
    async with client.terminal(sid) as term:
        await term.type("as ever")
        await term.until_text("as ever\nas ever")
    await client.delete(f"/api/sessions/{sid}")


async def assert_refused(stage: Stage, row: Row, names: Names) -> None:
    """Makes a row's request and compares its answer."""
    status, body = await refused(stage, row, names)
    try:
        assert status == row.status
        assert_is(row, body, stage.server.data)
        assert row.earlier or f"/{find(row.status, row.reason).name}'" in described(stage, row)
    except AssertionError as wrong:
        wrong.add_note(f"{row}\nanswered {status} {body}")
        raise


@pytest.mark.parametrize("name", TABLE)
async def test_refusals(server, tmp_path, fault, name):
    case = TABLE[name]
    (tmp_path / "data").mkdir(mode=0o700)
    for file, data in case.files.items():
        (tmp_path / "data" / file).write_bytes(data)
    async with server(config=case.config) as running:
        stage = Stage(running, tmp_path, fault)
        await stage.read_contract()
        async with case.scene(stage) as names:
            for row in case.rows:
                await assert_refused(stage, row, names)
        if any(row.path for row in case.rows):
            await assert_ordinary_terminal(running.client)
        assert "Traceback" not in running.log()
    unusable = {row.path for row in case.rows}
    for file, before in case.files.items():
        after = (tmp_path / "data" / file).read_bytes()
        assert after == before if file in unusable else json.loads(after) == json.loads(before)


def test_every_row_of_the_table_is_provoked():
    rows = [row for case in TABLE.values() for row in case.rows]
    assert {(row.status, row.reason) for row in rows} == {(each.status, each.reason) for each in PROBLEMS}
    assert {row.word for row in rows if row.word} == ELIGIBILITY.keys()
