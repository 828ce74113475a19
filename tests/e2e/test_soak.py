"""A hundred random switches with random faults; `scripts/soak` runs as many as one likes."""

import os

import pytest

from tests.soak.run import Options, soak

SWITCHES = int(os.environ.get("HYBRIDMUX_SWITCHES", "100"))
SEED = int(os.environ.get("HYBRIDMUX_SEED", "20261130"))


@pytest.mark.timeout(1800)
async def test_random_operations_with_faults_keep_every_invariant(tmp_path):
    figures = await soak(tmp_path, Options(switches=SWITCHES, seed=SEED, faults=True))
    print(figures.report())
    assert figures.broken == []
    assert (figures.lost, figures.doubled) == ([], [])
    assert figures.switches >= SWITCHES - SWITCHES % 3
    assert figures.messages > figures.uncertain > 0
    assert figures.faults.total() > SWITCHES / 5
