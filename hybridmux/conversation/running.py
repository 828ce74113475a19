"""One turn that runs: what was said, which log tells of it, and how far it has come."""

import secrets

import trio
from attrs import define, field

from hybridmux.conversation.chatlog import ChatLog
from hybridmux.wire.chat import Turn
from hybridmux.wire.types import utc_now


def _begun() -> Turn:
    return Turn(id=secrets.token_hex(6), started_at=utc_now())


@define(eq=False)
class Running:
    """A new one for each turn, so that nothing is left over from the one before."""

    text: str
    log: ChatLog
    """Where its start is to be read."""
    turn: Turn = field(factory=_begun)
    scope: trio.CancelScope = field(factory=trio.CancelScope)
    handed: bool = False
    """Its message has gone to the agent, or is about to."""
    conversation: str | None = None
    """The agent session that it went to."""
    is_first: bool = False
    """Nothing is known to have been said in that before."""
    written: bool = False
    """All of the message has been written to the agent."""
    settled: trio.Event = field(factory=trio.Event)
    """The message has been written, or never will be."""
    answered: bool = False
    """The agent has done something about it, and did not refuse it for want of a login."""
    overtaken: bool = False
    """A foreign program had the conversation open when the message was about to go."""
    cancelling: bool = False
    leaving: bool = False
    """A switch ends it."""
    over: trio.Event = field(factory=trio.Event)

    def write_start(self) -> None:
        """Its start and its message, into its log."""
        self.log.turn_id = self.turn.id
        self.log.append({"type": "turn.start", "startedAt": self.turn.started_at})
        self.log.user_said(self.text)

    def move_to(self, log: ChatLog) -> None:
        """The session's log now; one that was read anew in between does not have the start."""
        if log is not self.log:
            self.log = log
            self.write_start()

    def note_written(self) -> None:
        """The agent can read all of the message."""
        self.written = True
        self.settled.set()

    @property
    def waits(self) -> bool:
        """Whether its message goes back to the queue: the agent does not have it, and nobody gave it up."""
        return (self.leaving or self.overtaken) and not self.written
