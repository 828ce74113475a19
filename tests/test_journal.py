"""The journals against plain models, and who is woken when."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from hybridmux.journal import ByteJournal, FellBehind, ItemJournal


@pytest.mark.parametrize(
    ("chunks", "limit", "tail", "rest"),
    [
        ([], 10, 0, b""),
        ([b""], 10, 0, b""),
        ([b"abc"], 10, 0, b"abc"),
        ([b"abc", b"defg"], 7, 0, b"abcdefg"),
        ([b"abc", b"defg"], 6, 3, b"defg"),
        ([b"a", b"b", b"c", b"d"], 2, 2, b"cd"),
        ([b"abc", b"0123456789"], 5, 3, b"0123456789"),  # one chunk is always kept
    ],
)
def test_what_is_kept(chunks, limit, tail, rest):
    journal = ByteJournal(limit)
    for chunk in chunks:
        journal.write(chunk)
    assert journal.tail == tail
    assert journal.end == sum(map(len, chunks))
    assert journal.read(tail, 1000) == rest
    assert journal.cost == len(rest)


@given(st.lists(st.binary(max_size=9)), st.integers(1, 30), st.data())
def test_bytes_read_as_from_one_long_string(chunks, limit, data):
    journal = ByteJournal(limit)
    for chunk in chunks:
        journal.write(chunk)
    whole = b"".join(chunks)
    position = data.draw(st.integers(-1, len(whole) + 1))
    at_most = data.draw(st.integers(0, 40))
    if journal.tail <= position <= journal.end:
        assert journal.read(position, at_most) == whole[position : position + at_most]
    else:
        with pytest.raises(FellBehind) as caught:
            journal.read(position, at_most)
        assert (caught.value.tail, caught.value.end) == (journal.tail, len(whole))
    kept = len(whole) - journal.tail
    assert kept <= limit or kept == len([c for c in chunks if c][-1])


@given(st.lists(st.integers(1, 9)), st.integers(1, 30), st.data())
def test_items_read_as_from_one_long_list(costs, limit, data):
    journal = ItemJournal(limit, first=5)
    positions = [journal.write(f"item {n}", cost) for n, cost in enumerate(costs)]
    assert positions == list(range(5, 5 + len(costs)))
    position = data.draw(st.integers(journal.tail, journal.end))
    at_most = data.draw(st.integers(1, 40))
    items = journal.read(position, at_most)
    first = position - 5
    assert items == [f"item {n}" for n in range(first, first + len(items))]
    taken = costs[first : first + len(items)]
    assert sum(taken[:-1]) < at_most
    assert sum(taken) >= at_most or position + len(items) == journal.end


def test_the_oldest_go_for_thousands_of_entries():
    journal = ItemJournal(100)
    for n in range(5000):
        journal.write(n, 1)
    assert journal.tail == 4901
    assert journal.read(4901, 1000) == list(range(4900, 5000))
    assert journal.read(4950, 1) == [4949]
    with pytest.raises(FellBehind):
        journal.read(4900, 1)


async def test_waiting_ends_with_a_write():
    journal = ByteJournal(100)
    seen = []

    async def watch():
        seen.append(await journal.wait(0))
        seen.append(await journal.wait(3))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        await wait_all_tasks_blocked()
        assert seen == []
        journal.write(b"abc")
        await wait_all_tasks_blocked()
        assert seen == [True]
        journal.write(b"d")
    assert seen == [True, True]


async def test_waiting_ends_with_the_close():
    journal = ByteJournal(100)
    journal.write(b"abc")
    seen = []

    async def watch(position):
        seen.append((position, await journal.wait(position)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch, 3)
        await wait_all_tasks_blocked()
        journal.close()
    await watch(0)
    assert seen == [(3, False), (0, True)]
    assert journal.read(0, 10) == b"abc"


async def test_waiting_for_what_is_there_is_a_checkpoint():
    journal = ByteJournal(100)
    journal.write(b"abc")
    with trio.testing.assert_checkpoints():
        assert await journal.wait(0)
