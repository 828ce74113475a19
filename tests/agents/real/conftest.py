"""Tests of real agents. They run in the sandbox only, where `HYBRIDMUX_BOX` names the agents: see docs/agents.md."""

import os

import pytest

BOX = "HYBRIDMUX_BOX"
collect_ignore_glob = [] if BOX in os.environ else ["test_*.py"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `agent` runs for each agent in the sandbox."""
    if "agent" in metafunc.fixturenames:
        metafunc.parametrize("agent", os.environ[BOX].split(","))
