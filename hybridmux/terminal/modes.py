"""What a program has switched on in a terminal, and the bytes that switch it off or on again. Pure.

A program that is killed cleans nothing up: the person's real terminal would stay on the alternate screen,
report each movement of the mouse as text and send keys in a form that no shell reads. Who comes so late that
the program's first output is gone has to be told what was switched on there.
"""

import re
import signal
from collections.abc import Iterator, Mapping

from attrs import define, evolve, field, frozen

_SEEN_BY_SHELL = 128
_HELD_BACK = 2026
_DEEPEST = 99
"""Pushed keyboard modes that are counted; terminals keep fewer."""

_OFF = (
    _HELD_BACK,  # output is held back: nothing else would show
    1000, 1001, 1002, 1003, 9,  # the mouse
    1005, 1006, 1015, 1016,  # how it is told
    1004,  # focus
    2004, 5522,  # pastes
    2031, 2048,  # colour scheme and size are told
    2027,  # width by grapheme
    1, 66,  # cursor keys and number pad
    5, 6, 45, 69,  # reverse video, origin, wrapping back, left and right margins
)  # fmt: skip
"""Private modes that are off in a terminal nobody has touched, in the order in which they are taken back.

What is not here is left alone: `CSI ? 2 l` would leave ANSI mode, 3 clears the screen, 1048 moves the cursor,
and of 12 or 1007 terminals start with one or the other."""
_ON = (7, 25)
"""Private modes that are on: wrapping, the cursor."""
_OFF_ANSI = (4, 20)
"""Insert, and line feeds that return."""
_ALTERNATE = (1049, 1047, 47)
_SWITCH = re.compile(rb"\x1b\[\?(?:[0-9]+;)*(1049|1047|47)(?:;[0-9]+)*([hl])")


@frozen
class Keys:
    """Kitty's keyboard modes on one screen: how many are pushed, and whether the lowest was set."""

    pushed: int = 0
    set: bool = False

    def push(self) -> "Keys":
        """`CSI > flags u`"""
        return evolve(self, pushed=min(self.pushed + 1, _DEEPEST))

    def pop(self, count: int) -> "Keys":
        """`CSI < count u`; one that empties the stack resets the modes too."""
        return Keys() if count >= self.pushed else evolve(self, pushed=self.pushed - count)

    def put(self, flags: int, how: int) -> "Keys":
        """`CSI = flags ; how u`: 1 replaces, 2 adds, 3 takes away."""
        return evolve(self, set=bool(flags) if how == 1 else self.set or how == 2)


@define
class Inputs:
    """What the screen model has no use for: how keys are sent, and the cursor's shape."""

    keys: dict[bool, Keys] = field(factory=lambda: {False: Keys(), True: Keys()})
    """Of the main screen (False) and the alternate one."""
    modified: int = 0
    """The level of `modifyOtherKeys`."""
    keypad: bool = False
    """The application keypad (`ESC =`)."""
    shape: int = 0
    """The cursor's number of DECSCUSR; 0 is its own shape."""


@frozen(kw_only=True)
class Modes:
    """What is on now. `Modes()` is a terminal nobody has touched."""

    private: frozenset[int] = frozenset(_ON)
    """Numbers of `CSI ? … h`."""
    ansi: frozenset[int] = frozenset()
    """Numbers of `CSI … h`."""
    alternate: bool = False
    margins: tuple[int, int] | None = None
    """First and last row that scroll, from 1; None: all."""
    graphics: bool = False
    """Text is coloured, bold and so on."""
    charset: str = ""
    """What made letters be drawn as lines, or may have: escape sequences. Empty where they are letters."""
    keys: Mapping[bool, Keys] = field(factory=lambda: {False: Keys(), True: Keys()})
    modified: int = 0
    keypad: bool = False
    shape: int = 0


def killed(code: int | None) -> bool:
    """Whether an exit code tells of a signal: negative, or above 128 from a shell. None: it runs."""
    return code is not None and (code < 0 or _SEEN_BY_SHELL < code < _SEEN_BY_SHELL + signal.NSIG)


def repair(modes: Modes) -> bytes:
    """What brings a terminal with these modes back to `Modes()`; empty if nothing is to be done.

    The main screen comes back as it was left, its cursor where it was unless origin mode was on.
    """
    off = "".join(_repair(modes))
    # Last: a terminal that does not know `CSI > 4 m` takes it for an underline.
    return f"{off}\x1b[m".encode("ascii") if off or modes.graphics else b""


def _repair(modes: Modes) -> Iterator[str]:
    yield from (f"\x1b[?{one}l" for one in _OFF if one in modes.private)
    yield from (f"\x1b[{one}l" for one in _OFF_ANSI if one in modes.ansi)
    if modes.keypad:
        yield "\x1b>"
    if modes.modified:
        yield "\x1b[>4m"
    if modes.margins:
        # They send the cursor home. That of the alternate screen does not matter.
        yield "\x1b[r" if modes.alternate else "\x1b7\x1b[r\x1b8"
    if modes.alternate:
        yield from _keys(modes.keys[True])
        yield f"\x1b[?{_switch(modes)}l"
    yield from _keys(modes.keys[False])
    yield from (f"\x1b[?{one}h" for one in _ON if one not in modes.private)
    if modes.shape:
        yield "\x1b[0 q"
    if modes.charset:
        yield "\x0f\x1b(B"


def _keys(keys: Keys) -> Iterator[str]:
    if keys.pushed:
        yield f"\x1b[<{keys.pushed}u"
    if keys.set:
        yield "\x1b[=0u"


def _switch(modes: Modes) -> int:
    """The mode by which the alternate screen came."""
    return next((one for one in _ALTERNATE if one in modes.private), _ALTERNATE[0])


def setup(modes: Modes, output: bytes = b"") -> bytes:
    """What brings a terminal nobody has touched to these modes; empty for `Modes()`.

    `output` is what it is going to be fed then, at the end of which these modes hold: what that changes it
    changes again. Only the screen has to be the one `output` begins on.
    """
    return "".join(_setup(modes, _SWITCH.search(output))).encode("ascii")


def _setup(modes: Modes, first: re.Match[bytes] | None) -> Iterator[str]:
    # Before the margins: each screen may have its own.
    if first is not None and first[2] == b"l":
        yield f"\x1b[?{first[1].decode()}h"
    elif first is None and modes.alternate:
        yield f"\x1b[?{_switch(modes)}h"
    if modes.margins:
        yield "\x1b[{};{}r".format(*modes.margins)
    # Not 2026: what is held back would not show. Not kitty's keyboard modes: how deep they were pushed where
    # the output begins is not known, and what it pushes or pops would count twice.
    yield from (f"\x1b[?{one}h" for one in _OFF if one in modes.private and one != _HELD_BACK)
    yield from (f"\x1b[?{one}l" for one in _ON if one not in modes.private)
    yield from (f"\x1b[{one}h" for one in _OFF_ANSI if one in modes.ansi)
    if modes.keypad:
        yield "\x1b="
    if modes.modified:
        # A terminal that does not know it takes it for an underline.
        yield f"\x1b[>4;{modes.modified}m\x1b[m"
    if modes.shape:
        yield f"\x1b[{modes.shape} q"
    yield modes.charset
