"""Reading what agents answer, and what their errors mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.acp import messages
from hybridmux.acp.jsonrpc import PeerClosed, RpcError
from hybridmux.acp.messages import describe, is_active_writer, is_auth_required, trouble
from hybridmux.budgets import FORM_NODES, FORM_TEXT

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    "protocolVersion",
    "agentCapabilities",
    "sessionCapabilities",
    "agentInfo",
    "authMethods",
    "name",
    "sessions",
    "nextCursor",
    "toolCall",
    "options",
    "optionId",
    "stopReason",
    "usage",
    "requestedSchema",
    "message",
    "mode",
    "_meta",
    "codex",
    "threadStatus",
    "steering",
    "list",
    "load",
)
DEEP = st.recursive(
    JSON,
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@given(DEEP)
def test_nothing_an_agent_answers_breaks_the_reading(value):
    result = messages.read_initialize(value)
    assert isinstance(result.name, str)
    found, cursor = messages.read_list(value)
    assert all(one.session_id for one in found)
    assert cursor is None or cursor
    assert messages.read_prompt(value).stop_reason
    assert all(one.option_id for one in messages.read_permission(value).options)
    assert isinstance(messages.read_form(value).schema, dict | None)
    assert trouble(value) is None or isinstance(trouble(value), str)


@pytest.mark.parametrize(
    ("meta", "supported"),
    [
        ({"_meta": {"steering": {"supported": True}}}, True),
        ({"agentCapabilities": {"_meta": {"steering": {"supported": True}}}}, True),
        ({"_meta": {"steering": {"supported": "yes"}}}, False),
        ({}, False),
    ],
)
def test_steering_counts_only_when_it_is_declared(meta, supported):
    assert messages.read_initialize(meta).steering is supported


@pytest.mark.parametrize(
    ("value", "can"), [({}, True), (True, True), (None, False), (False, False), ("x", False)]
)
def test_a_session_capability_is_offered_by_an_object_or_true(value, can):
    result = messages.read_initialize({"agentCapabilities": {"sessionCapabilities": {"list": value}}})
    assert result.can_list is can


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            RpcError(-32603, "Internal error", {"details": "No model selected.\n\nUse /login"}),
            "Internal error: No model selected. Use /login",
        ),
        (
            RpcError(-32603, "Internal error: API Error: 400", {"errorKind": "unknown"}),
            "Internal error: API Error: 400",
        ),
        (RpcError(-32603, "Internal error", "plain"), "Internal error: plain"),
        (RpcError(-32603, "Internal error", {"message": "m"}), "Internal error: m"),
        (RpcError(-32602, "Invalid params", {"_errors": []}), "Invalid params"),
        (RpcError(1, "x" * 100_000), "x" * messages.MESSAGE_CHARS),
        (PeerClosed("gone"), "gone"),
        (ValueError(), "ValueError"),
    ],
)
def test_describe(error, sentence):
    assert describe(error) == sentence


@pytest.mark.parametrize(
    ("error", "auth", "writer"),
    [
        (RpcError(-32000, "Authentication required"), True, False),
        (RpcError(-32600, "In use", {"reason": "thread_active_writer"}), False, True),
        (RpcError(-32600, "In use", {"reason": "active_writer"}), False, True),
        (RpcError(-32603, "thread 1 has an active writer"), False, True),
        (RpcError(-32603, "Internal error", {"reason": ["x"]}), False, False),
        (RpcError(-32603, "Internal error", [1]), False, False),
        (PeerClosed("active writer"), False, False),
    ],
)
def test_what_an_error_means(error, auth, writer):
    assert (is_auth_required(error), is_active_writer(error)) == (auth, writer)


def codex(**fields) -> dict:
    return {"sessionUpdate": "session_info_update", "_meta": {"codex": fields}}


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (codex(threadStatus={"type": "systemError"}), "the agent reports a system error"),
        (codex(threadStatus={"type": "systemError"}, error={"message": "boom"}), "boom"),
        (codex(threadStatus={"type": "active"}), None),
        (codex(error={"message": "Reconnecting... 1/5"}), None),
        ({}, None),
    ],
)
def test_trouble_of_a_turn_that_ends_without_an_error(update, words):
    assert trouble(update) == words


def test_permission_and_form_requests():
    request = messages.read_permission(
        {
            "sessionId": "s",
            "toolCall": {"toolCallId": "t", "title": "x"},
            "options": [
                {"optionId": "a", "name": "A", "kind": "allow_once"},
                {"optionId": "b"},
                {"name": "no id"},
                {"optionId": "c" * 513, "name": "an id that cannot be answered whole"},
                1,
            ],
        }
    )
    assert (request.tool_call_id, request.title, request.tool_call["title"]) == ("t", "x", "x")
    assert [(one.option_id, one.name, one.kind) for one in request.options] == [
        ("a", "A", "allow_once"),
        ("b", "b", ""),
    ]
    form = messages.read_form({"message": "?", "requestedSchema": {"type": "object"}, "toolCallId": None})
    assert (form.message, form.schema) == ("?", {"type": "object"})


@pytest.mark.parametrize(
    "schema",
    [{"a": "x" * (FORM_TEXT + 1)}, {"a": [0] * FORM_NODES}, {str(n): {} for n in range(FORM_NODES)}],
    ids=["text", "values", "fields"],
)
def test_a_form_that_is_too_large_is_not_cut_but_refused(schema):
    assert messages.read_form({"message": "?", "requestedSchema": schema}).schema is None
