"""One open conversation, for both sides: its place in the store, its options, what the user allowed."""

import os
from typing import Any

from hybridmux.agents.demo import limits
from hybridmux.agents.demo.history import Line, text_of
from hybridmux.agents.demo.store import Log, Store, new_id, now

OPTIONS: dict[str, tuple[str, ...]] = {
    "mode": ("default", "plan"),
    "model": ("demo-small", "demo-large"),
    "effort": ("low", "high"),
}
KEPT = ("mode", "model")
"""The options that the store keeps; the others fall back with each start."""


def fresh_id(kind: str) -> str:
    """An id for a message (`msg`) or a tool call (`call`)."""
    return f"{kind}_{os.urandom(6).hex()}"


def title_for(text: str) -> str:
    return " ".join(text.split())[: limits.TITLE_CHARS]


class Session:
    """A conversation as one process has it open; a fresh one is stored, and locked, at its first `record`."""

    def __init__(
        self, store: Store, *, session: str, cwd: str, title: str = "", log: Log | None = None
    ) -> None:
        self.id = session
        self.cwd = cwd
        self.title = title
        self.config: dict[str, Any] = {name: values[0] for name, values in OPTIONS.items()} | {"fast": False}
        self.allowed: set[str] = set()
        self.characters = 0
        self._store = store
        self._log = log
        self._closed = False

    @classmethod
    def new(cls, store: Store, cwd: str) -> "Session":
        return cls(store, session=new_id(), cwd=os.path.realpath(cwd))

    @classmethod
    def reopen(cls, store: Store, session: str) -> "Session":
        """Raises `NoSuchSession`, `InUse`."""
        log = store.open(session)
        talk = store.read(session)
        found = cls(store, session=session, cwd=talk.cwd, title=talk.title, log=log)
        found.config |= {k: v for k, v in talk.config.items() if v in OPTIONS.get(k, ())}
        found.characters = sum(len(str(item.get("text", ""))) for item in talk.items)
        return found

    @property
    def stored(self) -> bool:
        return self._log is not None

    def store(self) -> None:
        """Makes sure that the session is in the store, even with nothing said."""
        if self._log is None and not self._closed:
            self._log = self._store.create(self.id, self.cwd, self.title)
            kept = {name: self.config[name] for name in KEPT if self.config[name] != OPTIONS[name][0]}
            if kept:
                self._log.append({"type": "config", "values": kept})

    def record(self, line: Line, *, sync: bool = False) -> None:
        self.store()
        if self._log is not None and not self._closed:
            self._log.append(line, sync=sync)

    def begin(self, blocks: list[Line], *, steered: bool = False) -> Line:
        """Writes the user's message; the first one gives the session its title."""
        text = text_of(blocks)
        if not self.title:
            self.rename(title_for(text) or "Attachments")
        line: Line = {"type": "user", "messageId": fresh_id("msg"), "blocks": blocks, "at": now()}
        if steered:
            line["steered"] = True
        self.record(line)
        self.characters += len(text)
        return line

    def rename(self, title: str) -> Line:
        was_stored, self.title = self.stored, title
        line: Line = {"type": "title", "title": title}
        if was_stored:
            self.record(line)
        return line

    def configure(self, name: str, value: str | bool) -> None:
        """Raises `ValueError` for an option or a value that does not exist."""
        allowed: tuple[object, ...] = (True, False) if name == "fast" else OPTIONS.get(name, ())
        if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
            raise ValueError(f"no such option or value: {name} = {value!r}")
        self.config[name] = value
        if name in KEPT and self.stored:
            self.record({"type": "config", "values": {name: value}})

    def usage(self) -> Line:
        """Tokens used so far, at four characters each."""
        used = self.characters // 4 + 100
        return {"type": "usage", "used": used, "size": limits.CONTEXT_TOKENS, "cost": round(used * 2e-6, 6)}

    def close(self) -> None:
        """Gives the session free; nothing is recorded after it."""
        self._closed = True
        if self._log is not None:
            self._log.close()
