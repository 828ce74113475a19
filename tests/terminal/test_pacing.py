import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.terminal.pacing import Pace

LEAD = 100
PATIENCE = 1.0


class Reader:
    """Reads 10 bytes whenever it may."""

    def __init__(self, pace):
        self.pace, self.end = pace, 0

    async def run(self, until=10_000):
        while self.end < until:
            await self.pace.wait(self.end)
            await trio.lowlevel.checkpoint()
            self.end += 10


async def test_with_nobody_watching_it_reads_on(autojump_clock):
    reader = Reader(Pace(PATIENCE, LEAD))
    await reader.run()
    assert trio.current_time() == 0 or reader.end == 10_000


async def test_never_further_ahead_than_the_lead(mock_clock, nursery):
    pace = Pace(PATIENCE, LEAD)
    reader = Reader(pace)
    with pace.viewer(0) as viewer:
        nursery.start_soon(reader.run)
        for position in (0, 10, 70, 500):
            viewer.position = position
            await wait_all_tasks_blocked()
            assert reader.end == position + LEAD + 10


async def test_the_fastest_decides(mock_clock, nursery):
    pace = Pace(PATIENCE, LEAD)
    reader = Reader(pace)
    with pace.viewer(0), pace.viewer(0) as fast:
        nursery.start_soon(reader.run)
        fast.position = 300
        await wait_all_tasks_blocked()
        assert reader.end == 300 + LEAD + 10


async def test_who_makes_no_progress_stops_counting(mock_clock, nursery):
    pace = Pace(PATIENCE, LEAD)
    reader = Reader(pace)
    mock_clock.jump(100)  # it has been quiet for long: that does not count against the viewer
    with pace.viewer(0) as viewer:
        mock_clock.jump(100)
        nursery.start_soon(reader.run)
        await wait_all_tasks_blocked()
        mock_clock.jump(PATIENCE * 0.9)
        await wait_all_tasks_blocked()
        assert (reader.end, viewer.stalled) == (LEAD + 10, False)
        mock_clock.jump(PATIENCE * 0.2)
        await wait_all_tasks_blocked()
        assert (reader.end, viewer.stalled) == (10_000, True)


async def test_progress_renews_the_patience(mock_clock, nursery):
    pace = Pace(PATIENCE, LEAD)
    reader = Reader(pace)
    with pace.viewer(0) as viewer:
        nursery.start_soon(reader.run)
        for turn in range(1, 20):
            await wait_all_tasks_blocked()
            mock_clock.jump(PATIENCE * 0.9)
            viewer.position = turn
        await wait_all_tasks_blocked()
        assert reader.end <= 19 + LEAD + 10
        assert not viewer.stalled


async def test_when_the_fastest_stalls_the_next_that_moves_decides(mock_clock, nursery):
    pace = Pace(PATIENCE, LEAD)
    reader = Reader(pace)
    with pace.viewer(0) as fast, pace.viewer(0) as slow:
        fast.position = 50
        nursery.start_soon(reader.run)
        await wait_all_tasks_blocked()
        assert reader.end == 50 + LEAD + 10
        mock_clock.jump(PATIENCE * 0.9)
        slow.position = 10
        await wait_all_tasks_blocked()
        mock_clock.jump(PATIENCE * 0.2)
        await wait_all_tasks_blocked()
        assert (fast.stalled, slow.stalled) == (True, False)
        assert reader.end == 50 + LEAD + 10
        slow.position = 60
        await wait_all_tasks_blocked()
        assert reader.end == 60 + LEAD + 10


async def test_it_counts_again_once_it_moves(mock_clock, nursery):
    pace = Pace(PATIENCE, LEAD)
    reader = Reader(pace)
    with pace.viewer(0) as viewer:
        nursery.start_soon(reader.run, 500)
        await wait_all_tasks_blocked()
        mock_clock.jump(PATIENCE)
        await wait_all_tasks_blocked()
        assert reader.end == 500
        viewer.position = 480
        nursery.start_soon(reader.run, 5000)
        await wait_all_tasks_blocked()
        assert reader.end == 480 + LEAD + 10


async def test_leaving_and_the_end_let_the_reader_go(mock_clock, nursery):
    for free in ("leaves", "off"):
        pace = Pace(PATIENCE, LEAD)
        reader = Reader(pace)
        with pace.viewer(0):
            nursery.start_soon(reader.run)
            await wait_all_tasks_blocked()
            assert reader.end == LEAD + 10
            if free == "off":
                pace.off()
                await wait_all_tasks_blocked()
                assert reader.end == 10_000
        await wait_all_tasks_blocked()
        assert reader.end == 10_000
