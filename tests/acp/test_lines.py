"""Cutting a stream into lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.acp.lines import LineSplitter, LineTooLong


@given(st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\x07", b"\n")), max_size=12))
def test_any_pieces_give_the_lines_of_the_whole(pieces):
    splitter = LineSplitter(1000)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    assert [*lines, splitter.rest()] == b"".join(pieces).split(b"\n")


@pytest.mark.parametrize(
    "pieces", [[b"x" * 11], [b"x" * 6, b"x" * 5], [b"a\n" + b"x" * 11], [b"x" * 9, b"\n" + b"x" * 11]]
)
def test_an_unfinished_line_over_the_bound_is_dropped_and_what_came_before_it_kept(pieces):
    splitter = LineSplitter(10)
    *first, last = pieces
    for piece in first:
        splitter.feed(piece)
    with pytest.raises(LineTooLong, match="10 bytes") as caught:
        splitter.feed(last)
    whole = b"".join(pieces)
    assert caught.value.lines == whole.split(b"\n")[:-1]
    assert splitter.rest() == b""


def test_a_line_as_long_as_the_bound_is_fine():
    splitter = LineSplitter(10)
    assert splitter.feed(b"x" * 10) == []
    assert splitter.feed(b"\n") == [b"x" * 10]
