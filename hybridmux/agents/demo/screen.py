"""The layout of the TUI: header, conversation, composer or menu, status line; it fits from 20x5 cells up."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import ConditionalContainer, HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl, UIContent, UIControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.styles import Style

from hybridmux.agents.demo.transcript import Row

if TYPE_CHECKING:
    from hybridmux.agents.demo.tui import Tui

STYLE = Style.from_dict(
    {
        "header": "reverse bold",
        "user": "ansicyan bold",
        "agent": "",
        "thought": "italic ansibrightblack",
        "tool": "ansiyellow",
        "plan": "ansiblue",
        "notice": "ansibrightblack",
        "error": "ansired",
        "status": "ansibrightblack",
        "rule": "ansibrightblack",
        "prompt": "ansicyan bold",
        "menu.title": "ansiyellow bold",
        "menu.body": "",
        "menu.option": "",
        "menu.chosen": "ansiyellow bold",
        "menu.hint": "ansibrightblack",
    }
)


class Rows(UIControl):
    """Draws exactly the rows that a function gives for a width and a height."""

    def __init__(self, view: Callable[[int, int], list[Row]]) -> None:
        self._view = view

    def create_content(self, width: int, height: int) -> UIContent:
        rows = self._view(width, height)

        def line(number: int) -> StyleAndTextTuples:
            style, text = rows[number]
            return [(f"class:{style}" if style else "", text)]

        return UIContent(get_line=line, line_count=len(rows), show_cursor=False)


def layout(tui: "Tui", composer: Buffer) -> Layout:
    """Everything on the screen, reading its state from `tui` at each repaint."""
    prompt = BufferControl(buffer=composer, input_processors=[BeforeInput("> ", style="class:prompt")])
    editor = Window(prompt, wrap_lines=True, height=_composer_height, dont_extend_height=True)
    body = [
        _when(lambda: _height() > (3 if tui.dialogs.menu is None else 9), _line(tui.header, "header")),
        Window(Rows(tui.conversation), always_hide_cursor=True),
        _when(lambda: _height() > 9, Window(char="─", height=1, style="class:rule")),
        _when(lambda: bool(tui.waiting()), _line(tui.waiting, "notice")),
        _when(lambda: tui.dialogs.menu is not None, _menu(tui)),
        _when(lambda: tui.dialogs.menu is None, editor),
        _when(lambda: _height() > 2, _line(tui.status, "status")),
    ]
    return Layout(HSplit(body), focused_element=editor)


def _when(condition: Callable[[], bool], content: Window) -> ConditionalContainer:
    return ConditionalContainer(content, filter=Condition(condition))


def _line(text: Callable[[], str], style: str) -> Window:
    return Window(FormattedTextControl(text), height=1, style=f"class:{style}", always_hide_cursor=True)


def _height() -> int:
    return get_app().output.get_size().rows


def _composer_height() -> Dimension:
    return Dimension(min=1, max=max(min(_height() // 3, 8), 1))


def _menu(tui: "Tui") -> Window:
    def rows(width: int, height: int) -> list[Row]:
        return tui.dialogs.menu.rows(width, height) if tui.dialogs.menu else []

    def height() -> Dimension:
        size = get_app().output.get_size()
        room = max(size.rows - 2 if size.rows < 10 else size.rows // 2, 1)
        return Dimension.exact(len(rows(size.columns, room)))

    return Window(Rows(rows), height=height, always_hide_cursor=True)
