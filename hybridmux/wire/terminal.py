"""Text frames of the terminal WebSocket (page 01 §10); binary frames are PTY bytes."""

from typing import Literal

from attrs import frozen


@frozen(kw_only=True)
class Hello:
    """First frame: size, which PTY this is, and where the bytes that follow begin.

    `truncated`: they do not begin with the program's first. Then `modes` is what a terminal has to be fed,
    after its reset and before them, to be in the modes that were set in what is gone (alternate screen,
    mouse, pastes, keys, scrolling region and so on): escape sequences, in ASCII. They have no place among the
    offsets.
    """

    type: Literal["hello"]
    cols: int
    rows: int
    epoch: str
    offset: int
    reset: bool
    truncated: bool
    modes: str = ""


@frozen(kw_only=True)
class Live:
    """The scrollback is complete; what follows is live."""

    type: Literal["live"]


@frozen(kw_only=True)
class Resized:
    """The terminal has another size now."""

    type: Literal["resize"]
    cols: int
    rows: int


@frozen(kw_only=True)
class Titled:
    """The program set another title."""

    type: Literal["title"]
    title: str


@frozen(kw_only=True)
class Exited:
    """The program ended; a negative code is a signal."""

    type: Literal["exit"]
    exit_code: int


@frozen(kw_only=True)
class Pong:
    """Answers a ping."""

    type: Literal["pong"]


@frozen(kw_only=True)
class ClientResize:
    """The viewer's size. It is applied if the viewer owns the size, nobody does, or `own` asks for it."""

    type: Literal["resize"]
    cols: int
    rows: int
    own: bool = False


@frozen(kw_only=True)
class ClientAck:
    """Everything before `offset` is drawn."""

    type: Literal["ack"]
    offset: int


@frozen(kw_only=True)
class ClientPing:
    """Are you there?"""

    type: Literal["ping"]


CLIENT_FRAMES: dict[str, type] = {"resize": ClientResize, "ack": ClientAck, "ping": ClientPing}
