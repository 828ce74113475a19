"""Programs that are none of ours on a session's conversation: seen within seconds, and never written beside.

Agents differ in what they do about a second writer, and one of them loses turns without a word. So nothing
is sent to an agent before a look, and between these looks, for the chat state, there is one at each beat.
Only agents whose files name everybody who has a conversation open are looked at.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

import trio

from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import SideFailed
from hybridmux.errors import Conflict, HybridmuxError
from hybridmux.problems import said

if TYPE_CHECKING:  # the session has one of these
    from hybridmux.conversation.session import HybridSession


class Occupied(Conflict):
    """409 `occupied_external`: a program that is not the session's own has the conversation open."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or said("occupied_external"), "occupied_external")


class Outsiders:
    """What was last seen of them."""

    def __init__(self, session: "HybridSession") -> None:
        self._session = session
        self._seen_on: str | None = None
        """The conversation that one had open."""
        self.left_traces = False
        """One was seen since the session's own program read the conversation: it may hold more by now."""

    @property
    def present(self) -> bool:
        """Whether one had the session's conversation open when that was last looked at."""
        return self._seen_on is not None and self._seen_on == self._conversation()

    def check(self, session_id: str | None = None) -> None:
        """Looks now, at the session's own conversation or another one.

        Raises `Occupied`, also if nothing can be looked at: nobody is written beside unseen.
        """
        session_id = session_id or self._conversation()
        if session_id is None or not self._session.plan.profile.names_openers:
            return
        try:
            found = self._session.sides.occupied(session_id)
        except SideFailed as exc:
            raise Occupied(str(exc)) from exc
        self._note(session_id, found=found)
        if found:
            raise Occupied(said("occupied") if session_id in self._session.taken() else "")

    async def watch(self) -> None:
        """Looks at each beat while the session rests on a side, if its agent lets anything be seen."""
        s = self._session
        while s.plan.profile.names_openers:
            await trio.sleep(s.budgets.evidence_beat)
            session_id = self._at_rest()
            if session_id is not None:
                with suppress(SideFailed):  # at the next beat, then
                    await self._look(session_id)

    async def _look(self, session_id: str) -> None:
        found = await self._session.sides.look(session_id)
        if self._at_rest() == session_id:
            self._note(session_id, found=found)
            await self._catch_up()

    async def _catch_up(self) -> None:
        """When they have gone the chat shows what they said; where that fails, before the next message."""
        s = self._session
        idle = s.on_chat and s.chat_now() is not None and not s.turns.running
        if self.left_traces and not self.present and idle:
            with suppress(HybridmuxError):
                await s.connected()

    def _note(self, session_id: str, *, found: bool) -> None:
        before = self.present
        if found or self._seen_on == session_id:
            self._seen_on = session_id if found else None
        self.left_traces = self.left_traces or found
        if self.present != before:
            self._session.changed()

    def _at_rest(self) -> str | None:
        """The conversation, if no operation has to do with it."""
        s = self._session
        moving = s.operations.current is not None or s.position.step is Step.ENDED
        return None if moving else self._conversation()

    def _conversation(self) -> str | None:
        """What the terminal says it has open, else what the record says."""
        s = self._session
        tui = s.sides.tui if s.position.step is Step.TUI else None
        return (tui.value.glance().session_id if tui else None) or s.record.agent_session_id
