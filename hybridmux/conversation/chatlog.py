"""The chat log: one generation of normalised events in a journal, and the facts they add up to.

A log is written by the translation of `session/update`s and by our own events (turns, requests, notices,
markers). A `session/load` fills a fresh log that nobody sees until it is committed. Events are encoded
once; viewers get the same bytes.
"""

import re
import secrets
from collections.abc import Callable

from attrs import define, field, frozen

from hybridmux.acp.messages import trouble
from hybridmux.acp.translate import Translator
from hybridmux.conversation.barrier import Heard
from hybridmux.journal import ItemJournal
from hybridmux.wire.convert import Json, encode
from hybridmux.wire.types import utc_now

COMMENTS = frozenset(
    {"turn.start", "notice", "marker", "request.close", "commands.set", "info.set", "usage.set"}
)
"""Events that are no answer to what the user said."""
GOOD_ENDS = ("end_turn", "max_tokens", "max_turn_requests")
"""Stop reasons of a turn that came to its end."""
PREVIEW_LINES = 3
PREVIEW_CHARS = 600
TITLE_CHARS = 80
ANSWER_CHARS = 2000


@frozen
class Entry:
    """One event and its encoded form."""

    event: Json
    encoded: bytes


@define
class Facts:
    """What the events add up to, as far as the chat state shows it."""

    version: int = 0
    """Rises with each change of what the chat state shows."""
    commands: list[Json] = field(factory=list)
    plan: list[Json] = field(factory=list)
    options: list[Json] = field(factory=list)
    usage: Json | None = None
    title: str | None = None
    heard: Heard = field(factory=Heard)
    """The user messages, to hold a later replay against them."""
    first_line: str = ""
    """The start of the first user message."""
    tools: bool = False
    """There are tool calls."""
    agent_text: str = ""
    """The newest agent message, cut; for the preview."""


@define
class Answer:
    """What came of the running turn since its message was written; its end is judged by that."""

    begins: Callable[[], None] = lambda: None
    """Called when the agent does something for the first time."""
    heard: bool = False
    """The agent did something."""
    text: str = ""
    """The start of what it said."""
    trouble: str | None = None
    """The agent's state says that the turn fails; `text` is what it said about that."""

    def note(self) -> None:
        """The agent does something."""
        if not self.heard:
            self.heard = True
            self.begins()

    def said(self, text: str) -> None:
        """The next piece of the agent's answer."""
        self.text += text[: ANSWER_CHARS - len(self.text)]

    def failing(self, words: str) -> None:
        """Some agents tell of a failure by their state and end the turn well all the same."""
        self.trouble, self.text = words, ""

    def failure(self, pattern: re.Pattern[str] | None) -> str | None:
        """Why the turn has failed; `pattern`: texts that are no answer but an error."""
        text = self.text.strip()
        if self.trouble is not None:
            return text or self.trouble
        return text if pattern is not None and pattern.match(text) else None


def _bare(command: str) -> str:
    return command.lstrip("/").lower()


class ChatLog:
    """One generation; `hidden` are commands that make no sense in a chat."""

    def __init__(self, limit: int, hidden: frozenset[str] = frozenset()) -> None:
        self.generation = secrets.token_urlsafe(9)
        self.journal: ItemJournal[Entry] = ItemJournal(limit)
        self.facts = Facts()
        self.turn_id: str | None = None
        """Events get it while a turn runs."""
        self.answer = Answer()
        """Of the running turn."""
        self.on_append: Callable[[], None] = lambda: None
        self._hidden = hidden
        self._translator = Translator()
        self._last_message: dict[str, str] = {}

    @property
    def truncated(self) -> bool:
        """Whether earlier events fell to the byte limit."""
        return self.journal.tail > 1

    def known_ids(self) -> frozenset[str]:
        """The ids of the messages and tool calls that are in it."""
        events = [entry.event for entry in self.journal.read(self.journal.tail, self.journal.cost)]
        found = (event.get("messageId") or event.get("toolCallId") for event in events)
        return frozenset(one for one in found if one)

    def append(self, event: Json) -> None:
        """Writes one event of ours or of the translation; adds `seq`, `at` and `turnId`."""
        turn = {"turnId": self.turn_id} if self.turn_id else {}
        whole = {**event, "seq": self.journal.end, "at": utc_now(), **turn}
        encoded = encode(whole)
        self._note(event)
        self.journal.write(Entry(whole, encoded), len(encoded))
        self.on_append()

    def feed(self, params: Json) -> None:
        """Writes the events of one `session/update`."""
        words = trouble(params.get("update"))
        if words is not None:
            self.answer.failing(words)
        for event in self._translator.feed(params):
            self.append(self._in_chat(event) if event["type"] == "commands.set" else event)

    def _in_chat(self, event: Json) -> Json:
        commands = event["commands"]
        return {**event, "commands": [one for one in commands if _bare(one["name"]) not in self._hidden]}

    def is_command(self, text: str) -> bool:
        """Whether a message is one of the agent's commands, offered here or not."""
        first = text.split(maxsplit=1)[0] if text.strip() else ""
        offered = {_bare(one["name"]) for one in self.facts.commands}
        return first.startswith("/") and _bare(first) in offered | self._hidden

    def take(self, answer: Json) -> None:
        """Writes the config options in the answer of new, load, resume or set_config_option."""
        for event in self._translator.config_from_result(answer):
            self.append(event)

    def asks_for(self, tool_call: Json) -> None:
        """The tool call in a permission request; some agents ask before they tell of it."""
        for event in self._translator.permission(tool_call):
            self.append(event)

    def user_said(self, text: str) -> None:
        """The user's own message: no agent echoes it while live."""
        for event in self._translator.user_message(text):
            self.append(event)

    def settle(self) -> None:
        """A turn or a load is over: writes output that was held back; what comes next is a new message."""
        for event in self._translator.flush():
            self.append(event)
        self._translator.break_run()

    def say(self, kind: str, text: str, *, level: str = "info") -> None:
        """A notice to everybody who looks."""
        self.append({"type": "notice", "level": level, "code": kind, "text": text})

    def mark(self, kind: str) -> None:
        """A marker in the timeline."""
        self.append({"type": "marker", "kind": kind})

    def preview(self) -> str:
        """The first lines of the newest agent message."""
        return "\n".join(self.facts.agent_text.strip().splitlines()[:PREVIEW_LINES])

    def _note(self, event: Json) -> None:
        if event["type"] not in COMMENTS:
            self.answer.note()
        if event["type"] in ("commands.set", "plan.set", "config.set", "usage.set", "info.set"):
            self.facts.version += 1
        match event["type"]:
            case "commands.set":
                self.facts.commands = event["commands"]
            case "plan.set":
                self.facts.plan = event["entries"]
            case "config.set":
                self.facts.options = event["options"]
            case "usage.set":
                self.facts.usage = event["usage"]
            case "info.set" if event.get("title"):
                self.facts.title = event["title"]
            case "message.append":
                self._note_message(event)
            case "tool.upsert":
                self.facts.tools = True
            case "turn.end":
                well = event["stopReason"] in GOOD_ENDS
                self.facts.heard.turn_ended(well=well, is_command=self.is_command)

    def _note_message(self, event: Json) -> None:
        role, text = event["role"], event["content"].get("text") or ""
        is_new = self._last_message.get(role) != event["messageId"]
        self._last_message[role] = event["messageId"]
        if role == "agent":
            self.answer.said(text)
            self.facts.agent_text = ("" if is_new else self.facts.agent_text)[:PREVIEW_CHARS] + text[
                :PREVIEW_CHARS
            ]
        elif role == "user":
            self.facts.first_line = self.facts.first_line or text.strip().partition("\n")[0][:TITLE_CHARS]
            self.facts.heard.message(text, is_new=is_new, in_turn=self.turn_id is not None)
