"""The fault matrix over real processes: the server, the demo agent, one test a cell."""

import signal
import subprocess
from functools import partial

import pytest

from tests.faults import programs
from tests.faults.breaks import BREAKS, broken
from tests.faults.deeds import DEEDS
from tests.faults.endings import server_ends
from tests.faults.holds import HOLDS
from tests.faults.house import HASTY, HOPELESS, PATIENT, house
from tests.faults.matrix import PROCESS, Cell, cells
from tests.faults.outcomes import put_away
from tests.faults.stage import staged

ENDINGS = {"shutdown": signal.SIGTERM, "kill-9": signal.SIGKILL}
PROGRAMS = {
    **{name: partial(programs.unstartable, fault=name) for name in programs.INTERPRETERS},
    "deaf-interrupt": programs.deaf_to_interrupts,
    "deaf-quit": programs.deaf_to_the_end,
    "forks": programs.forking,
    "other-session": programs.another_conversation,
}
DEADLINES = {"hangs-initialize", "hangs-list", "hangs-load", "closed-stdout", "deaf-interrupt", "deaf-quit"}
"""Faults that only a deadline ends."""


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    """One server for all faults that it survives and that show by themselves."""
    with house(tmp_path_factory.mktemp("patient"), PATIENT) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """The same for those that only a deadline ends."""
    with house(tmp_path_factory.mktemp("hasty"), HASTY) as running:
        yield running


@pytest.fixture(scope="module")
def hopeless(tmp_path_factory):
    """The same for roll-backs that only a deadline ends."""
    with house(tmp_path_factory.mktemp("hopeless"), HOPELESS) as running:
        yield running


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server whose data is on a disk of its own, which is easily filled."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "data").mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder / "data"], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("a disk can be filled only by who may mount one")
    try:
        with house(folder, PATIENT) as running:
            yield running
    finally:
        subprocess.run(["umount", folder / "data"], check=True)


def server_for(cell: Cell) -> str:
    """The fixture with the deadlines, or the disk, that the cell needs."""
    if cell.fault == "disk-full":
        return "small"
    if cell.fault in DEADLINES and cell.fault != "deaf-quit" and cell.phase == "rolling_back":
        return "hopeless"
    return "hasty" if cell.fault in DEADLINES or cell.phase == "awaiting_choice" else "patient"


def params():
    """Every cell that is proved here."""
    for cell in cells(PROCESS):
        yield pytest.param(cell, id=cell.id)


@pytest.mark.parametrize("cell", list(params()))
async def test_fault(cell: Cell, request, tmp_path):
    if cell.fault in ENDINGS:
        await server_ends(tmp_path, cell.direction, cell.phase, by=ENDINGS[cell.fault])
        return
    running = request.getfixturevalue(server_for(cell))
    start = HOLDS[cell.direction, cell.phase].start if (cell.direction, cell.phase) in HOLDS else ""
    if cell.phase == "stopping":
        start = programs.STARTS.get((cell.fault, cell.direction), start)
    async with staged(running, tmp_path, cell.direction, start) as stage:
        if cell.fault in BREAKS:
            await broken(stage, cell.fault, cell.phase)
        elif cell.fault in PROGRAMS:
            await PROGRAMS[cell.fault](stage, cell.phase)
        elif cell.fault == "disk-full":
            await programs.unwritable(stage, cell.phase, *filling(running), "No space left on device")
        elif cell.fault == "unwritable":
            await programs.unwritable(stage, cell.phase, *in_the_way(running), "cannot be written")
        else:
            await DEEDS[cell.fault](stage, cell.phase)
        await put_away(stage)
    assert "Traceback" not in running.log()


def filling(running):
    """Fills the disk, and makes room again."""
    filler = running.data / "filler"

    def fill():
        with filler.open("wb", buffering=0) as file:
            while True:
                try:
                    file.write(b"\0" * 4096)
                except OSError:
                    break

    return fill, filler.unlink


def in_the_way(running):
    """Puts a folder where the store writes its next file; that stops root as well."""
    folder = running.data / f".hybrid-sessions.json.{running.server}.tmp"
    return folder.mkdir, folder.rmdir
