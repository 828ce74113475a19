"""A choice of one among several, driven by keys: approvals, questions of a form, the list of sessions; pure."""

from typing import Any, NamedTuple

from hybridmux.agents.demo.transcript import Row, clean, wrap


class Picked(NamedTuple):
    value: Any


class Menu:
    """`options` are (value, label); `escape` is what Esc means. `blocking`: the agent waits for it."""

    def __init__(
        self, title: str, options: list[tuple[Any, str]], *, escape: Any, body: str = "", blocking: bool = True
    ) -> None:
        self.title = title
        self.body = body
        self.options = options
        self.escape = escape
        self.blocking = blocking
        self._at = 0

    def key(self, key: str) -> Picked | None:
        """`up`, `down`, `enter`, `escape`, or a character; answers the choice once it is made."""
        match key:
            case "escape":
                return Picked(self.escape)
            case "enter":
                return Picked(self.options[self._at][0])
            case "up":
                self._at = max(self._at - 1, 0)
            case "down":
                self._at = min(self._at + 1, len(self.options) - 1)
            case _ if key.isdigit() and 0 < int(key) <= len(self.options):
                return Picked(self.options[int(key) - 1][0])
        return None

    def rows(self, width: int, height: int) -> list[Row]:
        """At most `height` rows: the options first, then the title, the hint and the body as far as there is room."""
        width = max(width, 4)
        shown = min(len(self.options), max(height - 2, 1))
        first = min(max(self._at - shown + 1, 0), len(self.options) - shown)
        options = [self._option(i, width) for i in range(first, first + shown)]
        room = height - shown
        head: list[Row] = [("menu.title", clean(self.title)[:width])] if room > 0 else []
        hint: list[Row] = [("menu.hint", "enter select · esc reject"[:width])] if room > 2 else []
        body = [("menu.body", "  " + row) for part in clean(self.body).split("\n") for row in wrap(part, width - 2)]
        return [*head, *(body if self.body else [])[: max(room - 1 - len(hint), 0)], *options, *hint]

    def _option(self, index: int, width: int) -> Row:
        chosen = index == self._at
        text = f"{'❯' if chosen else ' '} {index + 1}. {clean(self.options[index][1])}"
        return ("menu.chosen" if chosen else "menu.option", text[:width])
