"""Sides over real processes."""

from contextlib import AbstractAsyncContextManager
from functools import partial

import trio

from hybridmux.agents.installed import Obstacle, apart_from_shared_server, obstacles, outdated_of
from hybridmux.agents.programs import locate
from hybridmux.agents.testimony import Openers, openers
from hybridmux.budgets import Budgets
from hybridmux.conversation.acp_side import open_chat
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import ChatSide, Plan, TuiSide
from hybridmux.conversation.tui import open_tui
from hybridmux.proc.spawn import SpawnFailed
from hybridmux.wire.types import Outdated, Place


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

    def missing_connector(self, plan: Plan) -> str | None:
        """Says that the ACP program is not there; None if something is."""
        try:
            locate(plan.profile.acp_argv(plan.launch)[0], plan.seen.env, plan.cwd)
        except SpawnFailed as exc:
            return str(exc) if exc.missing else None
        return None

    async def obstacles(self, plan: Plan, side: Place) -> list[Obstacle]:
        """Why a side cannot start here, as far as that is known without starting it: by a new look, or the
        last one that told something."""
        seen = await plan.seen.look()
        found = await obstacles(plan.profile, plan.launch, seen, plan.cwd, side=side)
        if side == "tui" and not found:
            apart = await apart_from_shared_server(plan.profile, plan.launch, seen, plan.cwd)
            found = [Obstacle(side="tui", text=apart)] if isinstance(apart, str) else []
        return found

    async def outdated(self, plan: Plan, chat: ChatSide) -> list[Outdated]:
        """The programs that are older than what the profile was tried with."""
        seen = await plan.seen.known()
        return await outdated_of(plan.profile, plan.launch, seen, plan.cwd, chat.version)

    def openers(self, plan: Plan, session_id: str) -> Openers:
        """Who has the agent session open, ours and others, as far as can be seen: some milliseconds."""
        return openers(plan.profile, session_id, plan.seen.env, plan.cwd)

    async def openers_aside(self, plan: Plan, session_id: str) -> Openers:
        """The same without holding anything up."""
        look = partial(openers, plan.profile, session_id, plan.seen.env, plan.cwd)
        return await trio.to_thread.run_sync(look, abandon_on_cancel=True)
