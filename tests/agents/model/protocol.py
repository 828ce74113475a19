"""What a wire format of model APIs must say for itself; one module each."""

from collections.abc import Iterator
from typing import Any, Protocol

from attrs import frozen

from tests.agents.model.behaviour import Prompt, Reply

Json = dict[str, Any]


@frozen
class Event:
    """One server-sent event; None as `data` means that a piece's pause goes here."""

    data: Json | str | None
    name: str = ""


class Wire(Protocol):
    """A wire format."""

    path: str
    """The end of the request paths that are answered in this format."""

    def read(self, body: Json) -> Prompt:
        """What a request asks."""

    def events(self, reply: Reply, body: Json, key: str) -> Iterator[Event]:
        """The streamed answer; `key` is the same for the same request and made into its ids."""

    def whole(self, reply: Reply, body: Json, key: str) -> Json:
        """The answer in one piece."""


PAUSE = Event(None)


def texts(content: Any) -> list[str]:
    """The text parts of a content value, oldest first; a plain string is one."""
    if isinstance(content, str):
        return [content]
    parts = [part for part in content or () if isinstance(part, dict)]
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]


def spoken(content: Any) -> str:
    """What the person typed, without what agents put around it (`<environment>…`, project rules)."""
    own = [text.strip() for text in texts(content) if text.strip() and not text.lstrip().startswith("<")]
    return own[-1] if own else ""
