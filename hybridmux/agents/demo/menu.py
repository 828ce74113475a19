"""A choice of one among several, driven by keys: approvals, fields of a form, the list of sessions; pure."""

from typing import Any, NamedTuple

from hybridmux.agents.demo.transcript import USER_MARK, Row, clean, wrap


class Picked(NamedTuple):
    value: Any


class Menu:
    """`options` are (value, label); `escape` is what Esc means; `blocking`: the agent waits for it."""

    def __init__(
        self,
        title: str,
        options: list[tuple[Any, str]],
        *,
        escape: Any,
        hint: str,
        body: str = "",
        blocking: bool = True,
    ) -> None:
        self.title = title
        self.options = options
        self.escape = escape
        self.hint = f"enter selects · {hint}"
        self.body = body
        self.blocking = blocking
        self._at = 0

    def key(self, key: str) -> Picked | None:
        """`up`, `down`, `enter`, `escape` or a character; answers the choice once it is made."""
        match key:
            case "escape":
                return Picked(self.escape)
            case "enter":
                return Picked(self.options[self._at][0])
            case "up":
                self._at = max(self._at - 1, 0)
            case "down":
                self._at = min(self._at + 1, len(self.options) - 1)
            case _ if len(key) == 1 and key in "123456789"[: len(self.options)]:
                return Picked(self.options[int(key) - 1][0])
        return None

    def rows(self, width: int, height: int) -> list[Row]:
        """At most `height` rows: the title and the options, then the body as far as there is room."""
        width = max(width, 4)
        shown = min(len(self.options), max(height - 1, 1))
        first = min(max(self._at - shown + 1, 0), len(self.options) - shown)
        options = [self._option(i, width) for i in range(first, first + shown)]
        title: list[Row] = [("menu.title", clean(self.title)[:width])][: height - shown]
        room = max(height - shown - len(title), 0)
        return [*title, *self._body(width)[:room], *options]

    def _body(self, width: int) -> list[Row]:
        if not self.body:
            return []
        paragraphs = clean(self.body).split("\n")
        return [("menu.body", "  " + row) for part in paragraphs for row in wrap(part, width - 2)]

    def _option(self, index: int, width: int) -> Row:
        chosen = index == self._at
        text = f"{USER_MARK if chosen else ' '} {index + 1}. {clean(self.options[index][1])}"
        return ("menu.chosen" if chosen else "menu.option", text[:width])
