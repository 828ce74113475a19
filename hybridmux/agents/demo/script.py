"""What the demo agent does with a prompt: a pure function from text to steps.

| prompt | steps |
|---|---|
| any text | `echo: <text>`, word by word |
| `slow N` | streams for N seconds |
| `run: CMD` | asks for permission, runs the command, shows its output |
| `think: TEXT` | a thought, then the echo |
| `plan` · `diff` · `usage` | a plan that moves along · an edit as a diff (nothing is written) · token usage |
| `ask` · `ask all` | a form of two questions · one with every kind of field |
| `title: TEXT` | renames the session |
| `fail: CODE` · `refuse` · `auth` | a model error · a refusal · authentication required |
| `crash` · `hang` · `hang hard` | exits with 70 · ignores every interrupt · and SIGTERM too |
| `flood N` · `big N` | N small updates · N KiB in one update |
| `help` | this list |

A leading slash is allowed before the words that the agent offers as commands (`COMMANDS`).
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from hybridmux.agents.demo import limits


class Say(NamedTuple):
    """One chunk of the answer, `pause` seconds after the one before."""

    text: str
    pause: float = 0.0


class Break(NamedTuple):
    """What is said next is a message of its own."""


class Think(NamedTuple):
    text: str
    pause: float = 0.0


class Slow(NamedTuple):
    seconds: float


class Run(NamedTuple):
    command: str


class Plan(NamedTuple):
    pass


class Diff(NamedTuple):
    pass


class Ask(NamedTuple):
    """A form; `full` has one field of every kind."""

    full: bool = False


class Usage(NamedTuple):
    pass


class Title(NamedTuple):
    text: str


class Fail(NamedTuple):
    code: str


class Refuse(NamedTuple):
    pass


class Auth(NamedTuple):
    pass


class Crash(NamedTuple):
    pass


class Hang(NamedTuple):
    hard: bool = False


class Flood(NamedTuple):
    updates: int


class Big(NamedTuple):
    kib: int


Step = (
    Say
    | Break
    | Think
    | Slow
    | Run
    | Plan
    | Diff
    | Ask
    | Usage
    | Title
    | Fail
    | Refuse
    | Auth
    | Crash
    | Hang
    | Flood
    | Big
)

COMMANDS = (
    ("help", "what the demo agent understands", None),
    ("plan", "a plan of three steps", None),
    ("diff", "an edit shown as a diff; nothing is written", None),
    ("ask", "a form with two questions", None),
    ("usage", "tokens used", None),
    ("slow", "stream for some seconds", "seconds"),
)
"""Name, description and input hint of each command the agent offers."""

HELP = """\
Any text is echoed. Also:
slow N · run: CMD · think: TEXT · plan · diff · ask · ask all · usage · title: TEXT
fail: CODE · refuse · auth · crash · hang · hang hard · flood N · big N"""

_SLASH = re.compile(rf"/(?=(?:{'|'.join(name for name, _, _ in COMMANDS)})\b)")


def chunks(text: str) -> list[str]:
    """Cuts `text` after each word, into at most `STREAM_CHUNKS` pieces; joined they are `text`."""
    words = re.findall(r"\s*\S+\s*", text) or ([text] if text else [])
    per = -(-len(words) // limits.STREAM_CHUNKS) or 1
    return ["".join(words[i : i + per]) for i in range(0, len(words), per)]


def say(text: str) -> tuple[Step, ...]:
    """`text` as streamed chunks."""
    return tuple(Say(piece, limits.WORD_PAUSE) for piece in chunks(text))


def think(text: str) -> tuple[Step, ...]:
    return tuple(Think(piece, limits.WORD_PAUSE) for piece in chunks(text))


_Build = Callable[[re.Match[str]], tuple[Step, ...]]

_WORDS: tuple[tuple[str, _Build], ...] = (
    (r"slow (\d+(?:\.\d+)?)\b.*", lambda m: (Slow(float(m[1])), Say("done."))),
    (r"run: ?(.+)", lambda m: (Run(m[1].strip()),)),
    (r"think: ?(.+)", lambda m: (*think(m[1]), *say(f"echo: {m[1]}"))),
    (r"plan", lambda _: (Plan(), *say("The plan is done."))),
    (r"diff", lambda _: (Diff(), *say("Shown, not written."))),
    (r"ask( all)?", lambda m: (Ask(full=bool(m[1])),)),
    (r"usage", lambda _: (Usage(),)),
    (r"title: ?(.+)", lambda m: (Title(m[1].strip()), *say("Renamed."))),
    (r"fail: ?(\S+).*", lambda m: (Fail(m[1]),)),
    (r"refuse", lambda _: (Refuse(),)),
    (r"auth", lambda _: (Auth(),)),
    (r"crash", lambda _: (Say("going down "), Crash())),
    (r"hang( hard)?", lambda m: (Say("hanging "), Hang(hard=bool(m[1])))),
    (r"flood (\d+)", lambda m: (Flood(int(m[1])),)),
    (r"big (\d+)", lambda m: (Big(int(m[1])),)),
    (r"help", lambda _: say(HELP)),
)
_TABLE = tuple((re.compile(pattern, re.DOTALL), build) for pattern, build in _WORDS)


def steps(text: str, attachments: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """The steps of one turn; `attachments` are labels such as `image/png 68 bytes`, named in the echo."""
    word = _SLASH.sub("", text.strip(), count=1)
    if not attachments:
        for pattern, build in _TABLE:
            if match := pattern.fullmatch(word):
                return build(match)
    return say(" ".join([f"echo: {text}".rstrip(), *(f"[{label}]" for label in attachments)]))
