"""What nests deeper than we could send on."""

import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.budgets import JSON_DEPTH
from hybridmux.errors import BadRequest
from hybridmux.wire.chat_commands import RequestAnswer
from hybridmux.wire.convert import read_bytes
from hybridmux.wire.nesting import may_be_deep, prune

ANY = st.recursive(
    st.integers(0, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


def nested(levels: int, inner: object = 1) -> object:
    for number in range(levels):
        inner = [inner, "beside"] if number % 2 else {"a": inner, "b": "beside"}
    return inner


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@given(ANY, st.integers(1, 6))
def test_what_is_deeper_is_emptied_and_all_else_stays(value, levels):
    before = orjson.dumps(value)
    deep = _full_at(value, levels)
    assert prune(value, levels) == deep
    assert depth(value) <= levels + 1
    if not deep:
        assert orjson.dumps(value) == before


def _full_at(value: object, levels: int) -> bool:
    """Whether something stands below so many levels."""
    if levels == 0:
        return bool(value) and isinstance(value, (dict, list))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_full_at(one, levels - 1) for one in inner)


def test_what_a_message_mostly_holds_costs_no_call_each():
    many = [[], {}, 1, "text", None, [2]] * 10_000
    calls = 0

    def count(_frame, event, _arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        deep = prune({"params": many, "more": dict.fromkeys(range(10_000))})
    finally:
        sys.setprofile(before)
    assert not deep
    assert calls < 30_000


@pytest.mark.parametrize("levels", [JSON_DEPTH, JSON_DEPTH + 1, 1000])
def test_the_quick_look_misses_nothing(levels):
    text = orjson.dumps("{[" * 3)[:-1] + b'"'
    assert not may_be_deep(text)
    deep = "[" * levels + "]" * levels
    assert may_be_deep(deep) == may_be_deep(deep.encode()) == (levels > JSON_DEPTH)


def test_what_is_left_can_be_sent_on_within_something_else():
    value = orjson.loads("[" * 1000 + "]" * 1000)
    assert prune(value)
    assert orjson.dumps(nested(50, value))


def test_a_body_that_nests_too_deep_is_refused():
    def body(levels: int) -> bytes:
        content = b'{"a":' * levels + b"1" + b"}" * levels
        return b'{"outcome":"accept","clientRequestId":"request-1","content":' + content + b"}"

    assert read_bytes(body(JSON_DEPTH - 1), RequestAnswer).outcome == "accept"
    with pytest.raises(BadRequest, match=f"deeper than {JSON_DEPTH}"):
        read_bytes(body(JSON_DEPTH + 1), RequestAnswer)
