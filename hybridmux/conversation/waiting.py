"""The queue: messages that cannot go now, and what people do with them while they wait."""

import secrets

from attrs import evolve

from hybridmux.agents.profile import Profile
from hybridmux.budgets import PROMPT_TEXT, QUEUE_ITEMS
from hybridmux.conversation.host import Host
from hybridmux.errors import BadRequest, Conflict, TooLarge
from hybridmux.wire.chat import Queue, QueueItem


def check_text(text: str, profile: Profile) -> None:
    """Raises `BadRequest` or `TooLarge` if that is no message for the agent."""
    if not text.strip():
        raise BadRequest("text must not be empty")
    first = text.split(maxsplit=1)[0]
    if first.startswith("/") and first[1:].lower() in profile.leaving_commands:
        raise BadRequest(
            f"text: with {first} {profile.title} leaves this conversation, which the chat could not follow; "
            "start a new session, or send it in the terminal"
        )
    if len(text.encode()) > PROMPT_TEXT:
        raise TooLarge(f"text is over {PROMPT_TEXT} bytes")


class Waiting:
    """The queue of one session. A paused one waits for a person; an empty one is never paused."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.queue = Queue()

    @property
    def may_go(self) -> bool:
        """There is a message, and the queue is not paused."""
        return bool(self.queue.items) and not self.queue.paused

    def find(self, item_id: str) -> QueueItem | None:
        """The message with that id, if it waits."""
        return next((item for item in self.queue.items if item.id == item_id), None)

    def get(self, item_id: str) -> QueueItem:
        """The same; raises `Conflict` (sent) if it does not."""
        item = self.find(item_id)
        if item is None:
            raise Conflict("that message was sent or removed already", "sent")
        return item

    async def put(self, items: list[QueueItem], *, paused: bool | None = None) -> None:
        """Another queue, shown and its length on disk."""
        still = self.queue.paused if paused is None else paused
        self.queue = Queue(paused=still and bool(items), items=items)
        self._host.changed()
        await self._host.note_activity()

    async def add(self, text: str) -> QueueItem:
        """A message at the end; raises `Conflict` (limit)."""
        if len(self.queue.items) >= QUEUE_ITEMS:
            raise Conflict(f"there are {QUEUE_ITEMS} messages in the queue already", "limit")
        item = QueueItem(id=secrets.token_hex(6), text=text)
        await self.put([*self.queue.items, item])
        return item

    async def edit(self, item_id: str, text: str | None, *, up: bool) -> None:
        """New text for a message, or one place up."""
        item = self.get(item_id)
        items = list(self.queue.items)
        at = items.index(item)
        if text is not None:
            check_text(text, self._host.plan.profile)
            items[at] = evolve(item, text=text)
        if up and at > 0:
            items[at - 1], items[at] = items[at], items[at - 1]
        await self.put(items)

    async def first(self, item: QueueItem) -> None:
        """Moves a message to the head."""
        await self.put([item, *(each for each in self.queue.items if each is not item)])

    async def remove(self, item_id: str) -> None:
        """Takes a message out."""
        item = self.get(item_id)
        await self.put([each for each in self.queue.items if each is not item])

    async def clear(self) -> None:
        """Takes all out."""
        await self.put([])

    async def unpause(self) -> None:
        """It may go on."""
        await self.put(list(self.queue.items), paused=False)

    def pause(self) -> None:
        """It waits for a person, if there is anything in it. The caller tells viewers."""
        self.queue = evolve(self.queue, paused=bool(self.queue.items))

    def pop(self) -> QueueItem:
        """The head, which goes now."""
        head, *rest = self.queue.items
        self.queue = Queue(paused=False, items=rest)
        return head

    def give_back(self, item: QueueItem) -> None:
        """A message that had not gone yet, at the head again. The caller tells viewers."""
        self.queue = evolve(self.queue, items=[item, *self.queue.items])

    def take_draft(self) -> str | None:
        """All messages as one text; the queue is empty afterwards."""
        texts = [item.text for item in self.queue.items]
        self.queue = Queue()
        return "\n\n".join(texts) or None
