"""The sides of one session that are open: at most one that has the conversation, and a connector in waiting.

Everything that was opened is known here until it is proved gone, so that whatever goes wrong in an
operation, `drop` ends all of it. It is also where what the machine refuses becomes a failure of a side.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from hybridmux.agents.installed import Obstacle
from hybridmux.agents.testimony import Openers
from hybridmux.conversation.held import Held
from hybridmux.conversation.partings import Partings
from hybridmux.conversation.sides import ChatSide, Plan, SideFailed, Sides, TuiSide, blamed
from hybridmux.errors import HybridmuxError
from hybridmux.wire.types import Outdated, Place

log = logging.getLogger(__name__)
_UNSEEN = "it cannot be seen who has the conversation open"


class OpenSides:
    """What is open now. The session gives its nursery and hears of what has been opened."""

    def __init__(
        self,
        programs: Sides,
        plan: Plan,
        nursery: Callable[[], trio.Nursery],
        *,
        tui_opened: Callable[[Held[TuiSide]], None],
        chat_adopted: Callable[[Held[ChatSide]], None],
        chat_closed: Callable[[], Awaitable[None]],
    ) -> None:
        self._programs, self._plan, self._nursery = programs, plan, nursery
        self._tui_opened, self._chat_adopted, self._chat_closed = tui_opened, chat_adopted, chat_closed
        self.tui: Held[TuiSide] | None = None
        self.chat: Held[ChatSide] | None = None
        self.last_tui: TuiSide | None = None
        """The TUI whose screen is still to be seen after its program ended."""
        self.size = (80, 24)
        """Columns and rows for the next TUI."""
        self.partings = Partings(plan)
        """What ended with sides, still to be told."""
        self._own = Openers()
        """Who was seen to have the conversation open and is one of ours."""
        self._waiting: Held[ChatSide] | None = None
        self._connecting: trio.CancelScope | None = None
        self._one_at_a_time = trio.Lock()

    # --- what is on the machine ---

    def missing_connector(self) -> str | None:
        """Says that the ACP program is not there; None if something is."""
        return self._programs.missing_connector(self._plan)

    async def obstacles(self, side: Place) -> list[Obstacle]:
        """Why a side cannot start here, as far as that is known without starting it. Raises `SideFailed`."""
        with blamed("it cannot be looked whether the agent can start"):
            return await self._programs.obstacles(self._plan, side)

    async def outdated(self, chat: ChatSide) -> list[Outdated]:
        """The programs that are older than what the profile was tried with. Raises `SideFailed`."""
        with blamed("it cannot be looked how old the agent is"):
            return await self._programs.outdated(self._plan, chat)

    def occupied(self, session_id: str) -> bool:
        """Whether a program that is none of ours has the agent session open, as far as can be seen.

        Raises `SideFailed` if nothing can be looked at.
        """
        # Twice: one of ours may have ended between the look at who has it and the look at who is ours.
        with blamed(_UNSEEN):
            return all(self._foreign(self._programs.openers(self._plan, session_id)) for _ in range(2))

    async def look(self, session_id: str) -> bool:
        """The same without holding anything up."""
        with blamed(_UNSEEN):
            found = await self._programs.openers_aside(self._plan, session_id)
            return self._foreign(found) and self.occupied(session_id)

    def _foreign(self, found: Openers) -> bool:
        """Whether one is none of ours; who is ours is looked up only for those that were not seen before."""
        if not found.without(self._own):
            return False
        ours = [held.value.pids() for held in (self.tui, self.chat, self._waiting) if held is not None]
        if found.any_but(frozenset().union(*ours)):
            return True
        self._own = found
        return False

    @property
    def _cannot_start(self) -> str:
        return f"{self._plan.profile.title} cannot be started"

    # --- the terminal side ---

    async def open_tui(self, session_id: str | None) -> TuiSide:
        """Starts the terminal side; raises `SideFailed`."""
        manager = self._programs.open_tui(self._plan, session_id, *self.size)
        with blamed(self._cannot_start):
            self.tui = held = await Held.open(self._nursery(), manager)
        self.last_tui = held.value
        self._tui_opened(held)
        return held.value

    async def close_tui(self, *, clean: bool) -> str:
        """Ends the terminal side; proved gone when it returns. Its last text. Raises `SideFailed`."""
        held = self.tui
        if held is None:
            return ""
        text = await held.value.stop(clean=clean)
        if self.tui is held:
            self.tui = None
            self.partings.note(held.value.report, "terminal")
        await held.release()
        return text

    # --- the chat side ---

    async def open_chat(self) -> ChatSide:
        """A connector in waiting: it is nobody's chat side yet. Raises `SideFailed`."""
        assert self._waiting is None, "there is a connector in waiting already"
        with blamed(self._cannot_start):
            self._waiting = await Held.open(self._nursery(), self._programs.open_chat(self._plan))
        return self._waiting.value

    @property
    def waiting(self) -> ChatSide:
        """The connector in waiting."""
        assert self._waiting is not None, "there is no connector in waiting"
        return self._waiting.value

    def adopt_chat(self) -> None:
        """The connector in waiting becomes the chat side."""
        held, self._waiting = self._waiting, None
        assert held is not None
        self.chat = held
        self._chat_adopted(held)

    async def discard(self) -> None:
        """Ends a connector in waiting; proved gone when it returns. Raises `SideFailed`."""
        held = self._waiting
        if held is None:
            return
        with trio.CancelScope(shield=True):  # it must not be forgotten half ended
            await held.value.stop()
            self._waiting = None
            await held.release()

    async def close_chat(self) -> None:
        """Ends the chat side; proved gone when it returns. Raises `SideFailed`."""
        if self._connecting is not None:
            self._connecting.cancel()
        async with self._one_at_a_time:
            await self._end_chat()
            await self._chat_closed()

    async def retire(self, held: Held[ChatSide]) -> None:
        """The chat side has ended by itself: nobody takes its place before its last process is gone."""
        async with self._one_at_a_time:
            if self.chat is held:
                await self._end_chat()

    async def _end_chat(self) -> None:
        held = self.chat
        if held is not None:
            await held.value.stop()
            self.chat = None
            self.partings.note(held.value.report, "chat's agent")
            await held.release()

    async def connected(self, connect: Callable[[], Awaitable[None]], stale: Callable[[], bool]) -> ChatSide:
        """The chat side; `connect` opens and adopts one if there is none, or one that is stale.

        Raises `SideFailed`.
        """
        async with self._one_at_a_time:
            if self.chat is not None and (self.chat.value.over or stale()):
                await self._end_chat()  # the one that is over before whoever watches it has come to it
            if self.chat is None:
                try:
                    with trio.CancelScope() as self._connecting:
                        await connect()
                finally:
                    self._connecting = None
            if self.chat is None:
                raise SideFailed("the session is moving")
            return self.chat.value

    def strike(self) -> None:
        """SIGKILL to every process of every side, at once; nothing is waited for."""
        for held in (self.tui, self.chat, self._waiting):
            if held is not None:
                held.value.strike()

    async def drop(self) -> None:
        """Ends all that is open, without ceremony. Raises `SideFailed` if something could not be ended."""
        failures = []
        for close in (self.close_chat, self.discard, partial(self.close_tui, clean=False)):
            try:
                await close()
            except HybridmuxError as exc:
                log.error("side not ended: %s", exc, extra={"session": self._plan.session})
                failures.append(str(exc))
        if failures:
            raise SideFailed("; ".join(failures))
