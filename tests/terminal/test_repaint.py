"""A program is asked to draw everything again: how often, and what it is told. On autojump's clock."""

import fcntl
import struct
import termios

import pytest
import trio

from hybridmux.budgets import REPAINT_PAUSE, REPAINT_REST
from hybridmux.journal import ByteJournal
from hybridmux.terminal.pty import Pty
from hybridmux.terminal.repaint import Repainter


class Told(Pty):
    """Notes the sizes the program is told, and when."""

    def tell(self, cols, rows):
        super().tell(cols, rows)
        if hasattr(self, "sizes"):
            self.sizes.append((trio.current_time() - self.began, (cols, rows)))

    def actual(self):
        """(columns, rows) that the kernel has."""
        rows, cols, _, _ = struct.unpack("HHHH", fcntl.ioctl(self.master, termios.TIOCGWINSZ, bytes(8)))
        return cols, rows


@pytest.fixture
async def pty():
    made = Told.open(80, 24)
    made.sizes, made.began = [], trio.current_time()
    yield made
    made.close()


@pytest.fixture
def journal():
    made = ByteJournal(1000)
    made.write(b"x" * 500)
    return made


@pytest.fixture
async def repainter(pty, journal, nursery):
    made = Repainter(pty, journal, runs=lambda: pty.master >= 0 and not journal.closed)
    nursery.start_soon(made.keep)
    return made


async def test_a_row_less_and_back(pty, repainter, autojump_clock):
    repainter.want(100)
    await trio.sleep(10)
    assert [size for _, size in pty.sizes] == [(80, 23), (80, 24)]
    assert [when for when, _ in pty.sizes] == pytest.approx([0, REPAINT_PAUSE])
    assert pty.actual() == (80, 24)
    assert (pty.cols, pty.rows) == (80, 24)


async def test_the_smallest_becomes_larger(pty, repainter, autojump_clock):
    pty.resize(80, 2)
    pty.sizes.clear()
    repainter.want(100)
    await trio.sleep(10)
    assert [size for _, size in pty.sizes] == [(80, 3), (80, 2)]


async def test_a_resize_in_between_stays(pty, repainter, autojump_clock):
    repainter.want(100)
    await trio.sleep(REPAINT_PAUSE / 2)
    pty.resize(100, 30)
    await trio.sleep(10)
    assert pty.actual() == (100, 30)


async def test_a_storm_is_one(pty, repainter, autojump_clock):
    for _ in range(100):
        repainter.want(100)
        await trio.sleep(0.1)
    assert len(pty.sizes) == 2


async def test_who_begins_after_it_has_it_done_again_after_a_rest(pty, journal, repainter, autojump_clock):
    repainter.want(100)
    await trio.sleep(1)
    journal.write(b"y" * 500)
    for _ in range(5):
        repainter.want(600)
    await trio.sleep(20)
    again = REPAINT_PAUSE + REPAINT_REST
    assert [when for when, _ in pty.sizes] == pytest.approx([0, REPAINT_PAUSE, again, again + REPAINT_PAUSE])


async def test_one_that_has_ended_is_not_asked(pty, journal, repainter, autojump_clock):
    journal.close()
    repainter.want(100)
    await trio.sleep(10)
    assert {size for _, size in pty.sizes} <= {(80, 24)}
