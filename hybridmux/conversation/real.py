"""Sides over real processes."""

from contextlib import AbstractAsyncContextManager

from hybridmux.budgets import Budgets
from hybridmux.conversation.acp_side import open_chat
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import ChatSide, Plan, TuiSide
from hybridmux.conversation.tui import open_tui, program_missing


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
        """The TUI's program if it is not on the machine."""
        return _missing(plan, plan.launch.program)

    def missing_connector(self, plan: Plan) -> str | None:
        """The ACP program if it is not on the machine."""
        return _missing(plan, plan.profile.acp_argv(plan.launch)[0])


def _missing(plan: Plan, program: str) -> str | None:
    return program if program_missing(program, plan.env) else None
