"""The nursery of one session: what fails in it stays in it."""

import pytest
import trio

from hybridmux.conversation.supervised import supervised


@pytest.fixture
def ends() -> list[str]:
    return []


@pytest.fixture
def failed(ends):
    async def note() -> None:
        ends.append("failed")

    return note


async def fails() -> None:
    raise ZeroDivisionError


async def fails_when_cancelled() -> None:
    try:
        await trio.sleep_forever()
    finally:
        raise ZeroDivisionError


async def test_a_fault_ends_the_session_and_nothing_else(ends, failed, caplog):
    async with supervised("s1", failed) as nursery:
        nursery.start_soon(fails)
    assert ends == ["failed"]
    assert [one.session for one in caplog.records] == ["s1"]


async def test_a_session_that_ends_well_has_not_failed(ends, failed):
    async with supervised("s1", failed) as nursery:
        nursery.start_soon(trio.sleep_forever)
        nursery.cancel_scope.cancel()
    assert ends == []


async def test_a_fault_under_the_servers_stop_stays_in_it_too(ends, failed):
    with trio.CancelScope() as stop:
        async with supervised("s1", failed) as nursery:
            nursery.start_soon(fails_when_cancelled)
            await trio.lowlevel.checkpoint()
            stop.cancel()
            await trio.sleep_forever()
    assert stop.cancelled_caught
    assert ends == ["failed"]
