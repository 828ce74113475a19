"""Sides over real processes."""

import os
from contextlib import AbstractAsyncContextManager

from hybridmux.agents.testimony import occupied
from hybridmux.budgets import Budgets
from hybridmux.conversation.acp_side import open_chat
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import ChatSide, Plan, TuiSide
from hybridmux.conversation.tui import open_tui
from hybridmux.proc.spawn import SpawnFailed, search


class RealSides:
    """Every start gets a mark of its own."""

    def __init__(self, run: Run, budgets: Budgets) -> None:
        self._run, self._budgets = run, budgets

    def open_tui(
        self, plan: Plan, session_id: str | None, cols: int, rows: int
    ) -> AbstractAsyncContextManager[TuiSide]:
        """The TUI; with a session id it opens that conversation."""
        return open_tui(plan, self._run.mark(plan.session), session_id, cols, rows, self._budgets)

    def open_chat(self, plan: Plan) -> AbstractAsyncContextManager[ChatSide]:
        """A connector that has answered `initialize` and opened nothing."""
        return open_chat(plan, self._run.mark(plan.session), self._budgets)

    def missing_program(self, plan: Plan) -> str | None:
        """Why the TUI's program cannot be started; None if it can be."""
        return _missing(plan, plan.launch.program)

    def missing_connector(self, plan: Plan) -> str | None:
        """Why the ACP program cannot be started; None if it can be."""
        return _missing(plan, plan.profile.acp_argv(plan.launch)[0])

    def occupied(self, plan: Plan, session_id: str, ours: frozenset[int]) -> bool:
        """Whether a program without a pid in `ours` has the agent session open, as far as can be seen."""
        return occupied(plan.profile, session_id, ours, plan.env)


def _missing(plan: Plan, program: str) -> str | None:
    try:
        search(program, plan.env.get("PATH", os.defpath), plan.cwd)
    except SpawnFailed as exc:
        return f"{program} is not installed (not found on PATH)" if exc.missing else str(exc)
    return None
