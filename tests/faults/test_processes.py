"""The fault matrix over real processes: the server, the demo agent, one test a cell."""

import pytest

from tests.faults.breaks import BREAKS, broken
from tests.faults.deeds import DEEDS
from tests.faults.holds import HOLDS
from tests.faults.house import house
from tests.faults.matrix import PROCESS, Cell, cells
from tests.faults.outcomes import put_away
from tests.faults.stage import staged


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One server for all faults that it survives."""
    with house(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.mark.parametrize("cell", [pytest.param(c, id=c.id) for c in cells(PROCESS) if c.fault in BREAKS or c.fault in DEEDS])
async def test_fault(cell: Cell, shared, tmp_path):
    start = HOLDS[cell.direction, cell.phase].start
    async with staged(shared, tmp_path, cell.direction, start) as stage:
        if cell.fault in BREAKS:
            await broken(stage, cell.fault, cell.phase)
        else:
            await DEEDS[cell.fault](stage, cell.phase)
        await put_away(stage)
    assert "Traceback" not in shared.log()
