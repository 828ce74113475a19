"""Servers for end-to-end tests."""

from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.client import serving

SHORT = """
test_profiles = true
[budgets]
precheck = 5.0
interrupting = 1.5
choice = 20.0
cancelling = 1.5
stopping_step = 2.0
starting = 6.0
loading_idle = 1.5
loading_total = 8.0
retry = 2.0
rolling_back = 10.0
shutdown_grace = 8.0
"""


@pytest.fixture
def fault(tmp_path) -> Path:
    """A file that says how the demo agent breaks at its next start; empty: not at all."""
    file = tmp_path / "fault"
    file.write_text("")
    return file


@pytest.fixture
def server(tmp_path, fault):
    """Makes servers with short deadlines whose demo agent breaks on demand."""

    @asynccontextmanager
    async def make(**kwargs):
        env = {"HYBRIDMUX_DEMO_FAULT": f"@{fault}"} | kwargs.pop("env", {})
        async with serving(tmp_path, config=kwargs.pop("config", SHORT), env=env, **kwargs) as running:
            yield running

    return make
