"""Sides over real processes."""

import os
from contextlib import AbstractAsyncContextManager
from functools import partial

import trio
from attrs import evolve

from hybridmux.agents.installed import apart_from_shared_server, obstacles, outdated_of
from hybridmux.agents.testimony import Openers, openers
from hybridmux.budgets import Budgets
from hybridmux.conversation.acp_side import open_chat
from hybridmux.conversation.run import Run
from hybridmux.conversation.sides import ChatSide, Plan, TuiSide
from hybridmux.conversation.tui import open_tui
from hybridmux.proc.spawn import SpawnFailed, search
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

    def missing_program(self, plan: Plan) -> str | None:
        """Why the TUI's program cannot be started; None if it can be."""
        return _missing(plan, plan.launch.program)

    def missing_connector(self, plan: Plan) -> str | None:
        """Why the ACP program cannot be started; None if it can be."""
        return _missing(plan, plan.profile.acp_argv(plan.launch)[0])

    async def obstacles(self, plan: Plan, side: Place) -> list[str]:
        """Sentences that say why a side cannot start here, as far as that is known without starting it."""
        launch, found = plan.launch, list[str]()
        if await plan.seen.look():
            launch = evolve(launch, wrapper=())  # its shell has been asked
            found = await obstacles(plan.profile, launch, plan.seen.env, plan.cwd, side=side)
        if side == "tui" and not found:
            apart = await apart_from_shared_server(plan.profile, launch, plan.seen.env, plan.cwd)
            found = [apart] if isinstance(apart, str) else []
        return found

    async def outdated(self, plan: Plan, chat: ChatSide) -> list[Outdated]:
        """The programs that are older than what the profile was tried with."""
        return await outdated_of(plan.profile, plan.launch, plan.env, plan.cwd, chat.version)

    def openers(self, plan: Plan, session_id: str) -> Openers:
        """Who has the agent session open, ours and others, as far as can be seen: some milliseconds."""
        return openers(plan.profile, session_id, plan.seen.env, plan.cwd)

    async def openers_aside(self, plan: Plan, session_id: str) -> Openers:
        """The same without holding anything up."""
        look = partial(openers, plan.profile, session_id, plan.seen.env, plan.cwd)
        return await trio.to_thread.run_sync(look, abandon_on_cancel=True)


def _missing(plan: Plan, program: str) -> str | None:
    try:
        search(program, plan.seen.env.get("PATH", os.defpath), plan.cwd)
    except SpawnFailed as exc:
        return f"{program} is not installed (not found on PATH)" if exc.missing else str(exc)
    return None
