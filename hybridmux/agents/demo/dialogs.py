"""What the TUI asks its user: a choice from a menu, or an answer typed into the composer."""

import asyncio
from collections.abc import Callable
from typing import Any

from prompt_toolkit.buffer import Buffer

from hybridmux.agents.demo.forms import choices, value_of
from hybridmux.agents.demo.history import Line
from hybridmux.agents.demo.menu import Menu

CANCELLED = object()
"""The answer of a user who did not want to answer."""

APPROVAL = [("once", "Yes, once"), ("always", "Yes, always this command"), ("reject", "No")]


class Dialogs:
    """At most one question at a time. `say` shows a line (text, kind), `changed` asks for a repaint."""

    def __init__(
        self, composer: Buffer, say: Callable[[str, str], None], changed: Callable[[], None]
    ) -> None:
        self.menu: Menu | None = None
        self._composer = composer
        self._say = say
        self._changed = changed
        self._picked: asyncio.Future[Any] | None = None
        self._typed: asyncio.Future[str | None] | None = None

    @property
    def typing(self) -> bool:
        """True while the composer is for an answer."""
        return self._typed is not None

    @property
    def blocking(self) -> bool:
        """True while the agent waits for an answer."""
        return self.typing or (self.menu is not None and self.menu.blocking)

    def key(self, key: str) -> None:
        """A key for the menu."""
        picked = self.menu.key(key) if self.menu else None
        if picked and self._picked and not self._picked.done():
            self._picked.set_result(picked.value)

    def typed(self, text: str | None) -> None:
        """The typed answer; None: the user does not want to answer."""
        if self._typed and not self._typed.done():
            self._composer.reset()
            self._typed.set_result(text)

    async def choose(self, menu: Menu) -> Any:
        self.menu, self._picked = menu, asyncio.get_running_loop().create_future()
        self._changed()
        try:
            return await self._picked
        finally:
            self.menu = self._picked = None
            self._changed()

    async def permit(self, command: str) -> str:
        menu = Menu("Run this command?", APPROVAL, escape="reject", body=f"$ {command}", hint="esc rejects")
        return str(await self.choose(menu))

    async def fill(self, message: str, schema: Line) -> Line:
        """Asks for one field after the other; answers as ACP's elicitation does."""
        content: Line = {}
        for name, field in schema["properties"].items():
            title = f"{message}: {field.get('description', name)}"
            answer = await self._field(title, field, required=name in schema.get("required", []))
            if answer is CANCELLED:
                return {"action": "cancel"}
            if answer is not None:
                content[name] = answer
        return {"action": "accept", "content": content}

    async def _field(self, title: str, field: Line, *, required: bool) -> Any:
        if options := choices(field):
            return await self.choose(Menu(title, options, escape=CANCELLED, hint="esc cancels"))
        self._say(title, "notice")
        while True:
            text = await self._type()
            if text is None:
                return CANCELLED
            try:
                value = value_of(field, text)
            except ValueError as problem:
                self._say(str(problem), "error")
                continue
            if value is not None or not required:
                return value

    async def _type(self) -> str | None:
        """One answer out of the composer; a draft that was there comes back afterwards."""
        draft, self._typed = self._composer.text, asyncio.get_running_loop().create_future()
        self._composer.reset()
        self._changed()
        try:
            return await self._typed
        finally:
            self._typed = None
            self._composer.text = draft
            self._composer.cursor_position = len(draft)
            self._changed()
