"""The session as its turns see it."""

from typing import Any, Protocol

import trio

from hybridmux.budgets import Budgets
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.outsiders import Outsiders
from hybridmux.conversation.sides import ChatSide, Plan
from hybridmux.store.records import Record


class Host(Protocol):
    """What turns need of their session."""

    log: ChatLog
    budgets: Budgets
    outsiders: Outsiders
    plan: Plan
    record: Record

    @property
    def nursery(self) -> trio.Nursery:
        """Where turns run."""

    @property
    def on_chat(self) -> bool:
        """Whether turns may begin: the session rests on the chat side."""

    async def connected(self) -> ChatSide:
        """The chat side, started again if it has gone."""

    def chat_now(self) -> ChatSide | None:
        """The chat side if it is there."""

    def changed(self) -> None:
        """Tells viewers."""

    async def save(self, *, best_effort: bool = False, **changes: Any) -> None:
        """Puts changes of the record on disk."""

    async def note_activity(self) -> None:
        """Puts the turn's start or end and the queue's length on disk."""
