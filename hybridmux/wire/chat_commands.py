"""What a person tells the chat (page 01 §8); every body carries a `clientRequestId`."""

from typing import Any, Literal

from attrs import field, frozen

from hybridmux.wire.convert import maybe
from hybridmux.wire.types import PermissionMode


@frozen(kw_only=True)
class AttachmentRef:
    """A path that the upload route answered."""

    path: str


@frozen(kw_only=True)
class PromptBody:
    """A message of the user."""

    client_request_id: str
    text: str
    mode: Literal["auto", "steer"]
    attachments: list[AttachmentRef] = field(factory=list)


@frozen(kw_only=True)
class PromptAnswer:
    """Whether it waits in the queue, and as which item."""

    queued: bool
    item_id: str | None = maybe()


@frozen(kw_only=True)
class CommandBody:
    """A command that has nothing to say beyond itself."""

    client_request_id: str


@frozen(kw_only=True)
class QueueEdit:
    """New text for a queued message, or one place up."""

    client_request_id: str
    text: str | None = None
    move: Literal["up"] | None = None


@frozen(kw_only=True)
class RequestAnswer:
    """The answer to a permission request or a form."""

    client_request_id: str
    outcome: Literal["selected", "cancelled", "accept", "decline", "cancel"]
    option_id: str | None = None
    content: dict[str, Any] | None = None


@frozen(kw_only=True)
class ConfigBody:
    """A new value for a select (`value`) or a boolean (`enabled`)."""

    client_request_id: str
    value: str | None = None
    enabled: bool | None = None


@frozen(kw_only=True)
class PermissionModeBody:
    """Who answers permission requests."""

    client_request_id: str
    mode: PermissionMode
