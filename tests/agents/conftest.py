"""Real agents are tested only inside the sandbox: `scripts/agents test` (docs/agents.md)."""

import os

import pytest

if "HYBRIDMUX_SANDBOX" not in os.environ:
    collect_ignore_glob = ["test_*.py"]


def pytest_configure(config):
    if fd := os.environ.get("HYBRIDMUX_RESULTS"):
        from tests.agents.results import Collector

        config.pluginmanager.register(Collector(int(fd)))


@pytest.fixture
def clock(capsys):
    """Takes the times of named steps; prints its table at the end."""
    from tests.agents.use import AGENT, Clock

    clock = Clock()
    yield clock
    with capsys.disabled():
        print(f"\n{AGENT.name}\n{clock.table()}")
