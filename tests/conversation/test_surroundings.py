"""How often a person's own shell, with all its start files, runs for one session: as seldom as can be."""

from types import SimpleNamespace

import pytest

from hybridmux.agents.registry import Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation.real import RealSides
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import Plan, SideFailed
from tests.support.processes import nothing_left
from tests.support.programs import Programs

__all__ = ["nothing_left"]

COMMAND = ("bash", "-ic", 'exec -- "$@"', "hybridmux", "codex")


class Wrapped:
    """A Codex that only a start file finds; `shells` counts its runs."""

    def __init__(self, folder) -> None:
        self.programs = Programs.below(folder)
        self.programs.says("codex", "codex-cli 0.1.0  --no-daemon")
        self.programs.says("codex-acp", "2.6.0")
        self.start_file = folder / ".bashrc"
        self.writes(f"PATH={self.programs.bin}:$PATH")
        self.sides = RealSides(Run.of(folder), Budgets(starting=10, stopping_step=1))
        agents = Registry()
        env = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
        self.plan = Plan(
            profile=agents.profiles["codex"], launch=agents.read(COMMAND), session="s", cwd="/", env=env
        )

    def writes(self, more: str) -> None:
        """What the start file does besides."""
        self.start_file.write_text(f"echo x >>'{self.start_file.parent}/shell.runs'\n{more}\n")

    def shells(self) -> int:
        """How many have run since the last time this was asked."""
        runs = self.programs.runs("shell")
        (self.start_file.parent / "shell.runs").unlink(missing_ok=True)
        return runs


@pytest.fixture
def wrapped(tmp_path):
    return Wrapped(tmp_path)


async def test_a_side_s_opening_asks_once_and_each_switch_once_more(wrapped):
    sides, plan = wrapped.sides, wrapped.plan
    async with sides.open_tui(plan, None, 80, 24) as tui:
        assert await tui.ended() == 0
    assert wrapped.shells() == 1 + 1  # its own
    assert await sides.obstacles(plan, "acp") == []
    assert wrapped.shells() == 1
    assert sides.missing_connector(plan) is None
    (old,) = await sides.outdated(plan, SimpleNamespace(version="2.6.0"))
    assert old.version == "0.1.0"
    assert wrapped.shells() == 0
    assert await sides.obstacles(plan, "tui") == []
    assert wrapped.shells() == 1
    async with sides.open_tui(plan, "0f2b6c1e-8f0e-4d62-9a86-6d6a0f8ad8f5", 80, 24) as tui:
        await tui.ended()
    assert wrapped.shells() == 1


async def test_a_switch_goes_by_what_the_start_file_makes_now(wrapped):
    assert await wrapped.sides.obstacles(wrapped.plan, "acp") == []
    wrapped.writes("PATH=/usr/bin:/bin")
    (text,) = {one.text for one in await wrapped.sides.obstacles(wrapped.plan, "tui")}
    assert text.startswith("codex is not installed (not found on PATH)")
    assert wrapped.sides.missing_connector(wrapped.plan) == "codex-acp is not installed (not found on PATH)"


async def test_a_shell_that_ends_before_the_agent_is_not_asked_twice(wrapped):
    wrapped.writes("exit 3")
    with pytest.raises(SideFailed, match="its shell did not get so far"):
        async with wrapped.sides.open_tui(wrapped.plan, None, 80, 24):
            pytest.fail("it started")
    assert wrapped.shells() == 1
    assert await wrapped.sides.obstacles(wrapped.plan, "acp") == []


async def test_a_shell_that_fails_once_takes_back_nothing_of_what_it_told(wrapped):
    sides, plan, good = wrapped.sides, wrapped.plan, f"PATH={wrapped.programs.bin}:$PATH"
    wrapped.writes(f"{good}; export CODEX_HOME=/own")
    assert await sides.obstacles(plan, "acp") == []
    told = dict(plan.seen.env)
    assert told["CODEX_HOME"] == "/own"
    wrapped.writes("exit 3")
    (wrapped.programs.bin / "codex-acp").unlink()
    (missing,) = await sides.obstacles(plan, "acp")
    assert missing.text.startswith("codex-acp is not installed")
    assert plan.seen.env == await plan.seen.known() == told
    wrapped.writes(f"{good}; export CODEX_HOME=/other")
    await sides.obstacles(plan, "acp")
    assert plan.seen.env["CODEX_HOME"] == "/other"
