"""The strict reader and the schema that the page's types come from."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.errors import BadRequest
from hybridmux.wire.chat import ChatState, ConfigOption, Eligibility
from hybridmux.wire.chat_commands import PromptBody
from hybridmux.wire.chat_events import ChatEvents
from hybridmux.wire.convert import dump, encode, read, read_bytes, write
from hybridmux.wire.launch import LaunchConfigBody
from hybridmux.wire.openapi import classes, document
from hybridmux.wire.sessions import SwitchRequest, SwitchResult

GOOD = {"clientRequestId": "a", "text": "t", "mode": "auto"}


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ({}, PromptBody, "missing field clientRequestId"),
        ({**GOOD, "text": 1}, PromptBody, "text must be a string"),
        ({**GOOD, "mode": "later"}, PromptBody, "mode must be one of"),
        ({**GOOD, "client_request_id": "a"}, PromptBody, "unknown field client_request_id"),
        ({**GOOD, "attachments": {}}, PromptBody, "attachments must be a list"),
        ({**GOOD, "attachments": [{"path": "a"}, {}]}, PromptBody, "missing field attachments[1].path"),
        ({**GOOD, "attachments": [{"path": "a", "b": 1}]}, PromptBody, "unknown field attachments[0].b"),
        ({"name": "n", "cmd": ["a", None]}, LaunchConfigBody, "cmd[1] must be a string"),
        ({"name": "n", "cmd": ["a"], "env": {"A": 1}}, LaunchConfigBody, "env.A must be a string"),
        ({"name": "n", "cmd": ["a"], "hybrid": 1}, LaunchConfigBody, "hybrid must be true or false"),
        ({"clientRequestId": "a", "to": "phone"}, SwitchRequest, "to must be one of 'tui', 'acp'"),
        (None, PromptBody, "the body must be an object"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(value, kind, words):
    with pytest.raises(BadRequest, match=r".*") as caught:
        read(value, kind)
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"nan", b'{"a":1}x'])
def test_what_is_no_json_is_said_to_be_none(data):
    with pytest.raises(BadRequest, match="not JSON"):
        read_bytes(data, PromptBody)


def test_optional_fields_are_left_out_and_nulls_are_kept():
    assert write(SwitchResult(side="tui")) == {"side": "tui", "dropped": [], "unsupported": []}
    state = write(ChatState(side="acp", eligibility=Eligibility(available=True), turn=None))
    assert state["turn"] is None
    assert "phase" not in state
    assert dump(Eligibility(available=True)) == b'{"available":true}'


def test_file_names_that_are_not_utf_8_are_told_as_well_as_can_be():
    value = {"a": ["/b_\udcff", {"\ud800": 1}], "b": ("é", None)}
    assert encode(value) == '{"a":["/b_?",{"?":1}],"b":["é",null]}'.encode()
    assert dump(Eligibility(available=False, text="/b_\udcff")) == b'{"available":false,"text":"/b_?"}'


@pytest.mark.parametrize("value", ["x", True, None])
def test_an_option_has_a_string_a_boolean_or_no_value(value):
    option = {"id": "o", "name": "O", "type": "select", "value": value}
    assert read(option, ConfigOption).value == value
    with pytest.raises(BadRequest, match="value"):
        read({**option, "value": 1}, ConfigOption)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.sampled_from([PromptBody, LaunchConfigBody, SwitchRequest]))
def test_any_json_is_read_or_refused(value, kind):
    sentence = ""
    try:
        sentence = str(read(value, kind))
    except BadRequest as exc:
        sentence = str(exc)
    assert sentence


def test_every_type_has_a_schema_and_every_reference_a_target():
    schemas = document()["components"]["schemas"]
    assert {cls.__name__ for cls in classes()} <= schemas.keys()
    text = dump(document()).decode()
    targets = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert targets <= schemas.keys()
    required = schemas["ChatEvents"]["required"]
    assert required == ["type", "generation", "from", "items"]
    assert len(attrs.fields(ChatEvents)) == 4
