import pytest
from attrs import evolve

from hybridmux.budgets import Budgets
from hybridmux.proc.mark import new_run
from hybridmux.terminal.terminal import open_terminal
from tests.support.processes import env, mark, nothing_left, until

__all__ = ["env", "mark", "nothing_left", "until"]


@pytest.fixture
def terminal(env, mark, until):
    """`async with terminal(script) as t`: a shell script on a PTY of 80 by 24."""

    def make(script, *, cols=80, rows=24, budgets=None, **more):
        budgets = budgets or evolve(Budgets(), stopping_step=5.0)
        return open_terminal(
            ["sh", "-c", script], cwd="/", env={**env, "TERM": "xterm-256color"},
            mark=evolve(mark, run=new_run()),  # as in use: whoever has a run's mark ends with that run
            cols=cols, rows=rows, budgets=budgets, **more,
        )  # fmt: skip

    return make


@pytest.fixture
def shows(until):
    """`await shows(t, text)`: waits until the screen has it."""

    async def wait(t, text):
        return await until(lambda: text in t.screen.text())

    return wait
