"""What each route takes and answers, and from that the paths of the OpenAPI document.

The routes themselves come from the app's own table; one that is not described here is a KeyError in any test.
"""

import re
from collections.abc import Iterable
from typing import Any

from attrs import frozen
from werkzeug.routing import Rule

from hybridmux.faces.http.auth import is_open
from hybridmux.problems import find
from hybridmux.wire import chat_commands as chat
from hybridmux.wire.convert import Json, camel
from hybridmux.wire.launch import HybridSupport, LaunchConfig, LaunchConfigBody, SupportQuery
from hybridmux.wire.openapi import schema_of
from hybridmux.wire.problems import BODIES
from hybridmux.wire.sessions import (
    CreateSession,
    HybridRecord,
    RenameSession,
    ResumeRequest,
    SessionInfo,
    SwitchRequest,
    SwitchResult,
)
from hybridmux.wire.types import ErrorBody, LoginBody

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@frozen(kw_only=True)
class Described:
    """One route: what it is for, its request body, its answers, and the rows of `problems.py` it may give."""

    does: str
    takes: type | None = None
    status: int = 200
    gives: Any = None
    """The type of the success's JSON body; a media type for another kind of body; None for no body."""
    also: int | None = None
    """A second success, without a body."""
    query: tuple[str, ...] = ()
    conflicts: str = ""
    """The 409 reasons; `plain` is the one without a reason."""
    agent: bool = False
    """May be 502."""
    store: bool = False
    """May be 503 with a path."""
    runs: bool = False
    """Is carried out beside its request: may be 503 because the server stops."""
    limited: bool = False
    """Failed attempts are counted: may be 429."""

    def problems(self) -> dict[int, list[type]]:
        """The wire types of the refusals, by status."""
        rows = [find(409, None if word == "plain" else word) for word in self.conflicts.split()]
        rows += [find(502, None)] * self.agent + [find(503, None)] * self.store
        rows += [find(503, "server_stopping")] * self.runs
        return {s: [BODIES[row] for row in rows if row.status == s] for s in sorted({r.status for r in rows})}


_MOVING = "switching wrong_side"
_HTML = "text/html"


def _command(does: str, takes: type = chat.CommandBody, conflicts: str = "", **more: Any) -> Described:
    """A command of the chat."""
    common = {"status": 204, "conflicts": f"{_MOVING} {conflicts}", "runs": True}
    return Described(**{"does": does, "takes": takes, **common, **more})


def _config(does: str, **more: Any) -> Described:
    return Described(**{"does": does, "gives": LaunchConfig, "store": True, **more})


def _socket(does: str, *query: str) -> Described:
    return Described(does=does, status=101, query=query)


ROUTES: dict[str, Described] = {
    "sessions.list_sessions": Described(does="All sessions, oldest first.", gives=list[SessionInfo]),
    "sessions.create": Described(
        does="A session of a launch config, or an ordinary terminal.", takes=CreateSession, status=201,
        gives=SessionInfo, conflicts="connector_missing limit", agent=True, store=True, runs=True,
    ),
    "sessions.get": Described(does="One session.", gives=SessionInfo),
    "sessions.rename": Described(
        does="Another name.", takes=RenameSession, gives=SessionInfo, store=True, runs=True
    ),
    "sessions.close": Described(
        does="Ends it and takes it off the list.", status=204, conflicts="switching", agent=True, store=True,
        runs=True,
    ),
    "sessions.switch": Described(
        does="Moves it to the other side (200), or answers a switch that waits for a choice (204).",
        takes=SwitchRequest, gives=SwitchResult, also=204, agent=True, store=True, runs=True,
        conflicts=f"plain {_MOVING} not_eligible connector_missing session_ambiguous occupied_external "
        "answered",
    ),
    "sessions.resume": Described(
        does="Brings a closed or interrupted session back.", takes=ResumeRequest, gives=SessionInfo,
        conflicts="plain switching config_missing session_missing not_eligible connector_missing "
        "occupied_external", agent=True, store=True, runs=True,
    ),
    "chat.prompt": _command(
        "Sends a message, or queues it.", chat.PromptBody,
        "steering_unavailable limit occupied_external",
        status=200, gives=chat.PromptAnswer, store=True,
    ),
    "chat.cancel": _command("Stops the turn."),
    "chat.answer": _command("Answers a permission request or a form.", chat.RequestAnswer, "answered"),
    "chat.edit": _command("New text for a queued message, or one place up.", chat.QueueEdit, "sent"),
    "chat.remove": _command("Takes a message out of the queue.", conflicts="sent"),
    "chat.send_now": _command("Cancels the turn and sends this message.", conflicts="sent occupied_external"),
    "chat.unpause": _command("Goes on with a paused queue.", conflicts="occupied_external"),
    "chat.clear": _command("Empties the queue."),
    "chat.config": _command(
        "Sets an option of the agent.", chat.ConfigBody, "plain connector_missing occupied_external",
        agent=True,
    ),
    "chat.permission_mode": Described(
        does="Who answers permission requests.", takes=chat.PermissionModeBody, status=204,
        conflicts="switching", store=True, runs=True,
    ),
    "records.list_records": Described(
        does="All records, newest first; `state=recoverable`: closed and interrupted ones.",
        gives=list[HybridRecord], query=("state",), store=True,
    ),
    "records.get": Described(does="One record.", gives=HybridRecord, store=True),
    "records.remove": Described(
        does="Forgets a session; the agent's store is not touched.", status=204,
        conflicts="plain switching", store=True, runs=True,
    ),
    "configs.list_configs": _config("All launch configs.", gives=list[LaunchConfig]),
    "configs.add": _config("A new launch config.", takes=LaunchConfigBody, status=201, runs=True),
    "configs.support": Described(
        does="Whether a command can be a hybrid session.", takes=SupportQuery, gives=HybridSupport
    ),
    "configs.get": _config("One launch config."),
    "configs.put": _config("Replaces a launch config.", takes=LaunchConfigBody, runs=True),
    "configs.remove": _config("Removes a launch config.", status=204, gives=None, runs=True),
    "healthz": Described(does="Whether the server answers.", gives="text/plain"),
    "metrics": Described(does="Gauges in Prometheus' text form.", gives="text/plain"),
    "openapi": Described(does="This document.", gives=dict[str, Any]),
    "login": Described(
        does="The token, for a cookie that does instead of it.", takes=LoginBody, status=204, limited=True
    ),
    "logout": Described(does="Drops the cookie.", status=204),
    "index": Described(does="The page.", gives=_HTML),
    "session_page": Described(does="The page, at a session.", gives=_HTML),
    "asset": Described(does="A file of the page.", gives="application/octet-stream"),
    "terminal": _socket("WebSocket of a terminal.", "epoch", "offset", "flow"),
    "chat": _socket("WebSocket of a chat.", "generation", "seq"),
    "events": _socket("WebSocket of the lists of sessions and records."),
}  # fmt: skip


def _parameter(name: str, place: str) -> Json:
    needed = place == "path"
    return {"name": _shown(name), "in": place, "required": needed, "schema": {"type": "string"}}


def _shown(name: str) -> str:
    return camel(name.lstrip("_"))


def _content(kind: Any) -> Json:
    """A body: JSON of a type, or another media type."""
    if kind is None:
        return {}
    if isinstance(kind, str):
        return {"content": {kind: {}}}
    return {"content": {"application/json": {"schema": schema_of(kind)}}}


def _error_statuses(path: str, route: Described) -> list[int]:
    """What any such route may answer; its body is an `ErrorBody`."""
    statuses = {400, 403} | ({404} if _PARAMETER.search(path) else set())
    statuses |= {413, 415} if route.takes else set()
    statuses |= {401, 429} if route.limited else set() if is_open(path) else {401}
    return sorted(statuses)


def _refused(types: list[type]) -> Json:
    schemas = [schema_of(each) for each in types]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    return {"description": "Refused.", "content": {"application/json": {"schema": schema}}}


def _operation(path: str, endpoint: str) -> Json:
    route = ROUTES[endpoint]
    names = [*((name, "path") for name in _PARAMETER.findall(path)), *((n, "query") for n in route.query)]
    answers = {route.status: {"description": route.does, **_content(route.gives)}}
    if route.also:
        answers[route.also] = {"description": "Done."}
    for status in _error_statuses(path, route):
        answers[status] = {"description": "An error.", **_content(ErrorBody)}
    answers |= {status: _refused(types) for status, types in route.problems().items()}
    return {
        "summary": route.does,
        "operationId": endpoint,
        "parameters": [_parameter(name, place) for name, place in names],
        **({"requestBody": {"required": True, **_content(route.takes)}} if route.takes else {}),
        "responses": {str(status): answer for status, answer in answers.items()},
        **({"security": []} if is_open(path) else {}),
    }


def paths(rules: Iterable[Rule]) -> Json:
    """The `paths` of the document from the app's routes. A WebSocket is a GET that answers 101."""
    found: Json = {}
    for rule in rules:
        where = _PARAMETER.sub(lambda match: f"{{{_shown(match[1])}}}", rule.rule)
        for method in sorted(rule.methods or ()):
            if method not in ("HEAD", "OPTIONS"):
                found.setdefault(where, {})[method.lower()] = _operation(rule.rule, str(rule.endpoint))
    return found
