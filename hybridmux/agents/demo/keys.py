"""Which keys do what in the TUI."""

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from hybridmux.agents.demo.tui import Tui

_MENU_KEYS: dict[Keys | str, str] = {
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.ControlM: "enter",
    Keys.Escape: "escape",
}


def bindings(tui: "Tui") -> KeyBindings:
    """Esc is taken at once, so there are no Alt combinations; everything else typed goes to the composer."""
    keys = KeyBindings()
    in_menu = Condition(lambda: tui.dialogs.menu is not None)
    empty = Condition(lambda: not tui.composer.text)

    keys.add(Keys.ControlM, eager=True)(lambda _: tui.submit())
    keys.add(Keys.ControlJ, eager=True, filter=~in_menu)(lambda _: tui.composer.insert_text("\n"))
    keys.add(Keys.Escape, eager=True)(lambda _: tui.escape())
    keys.add(Keys.ControlC, eager=True)(lambda _: tui.interrupt())
    keys.add(Keys.SIGINT, eager=True)(lambda _: tui.interrupt())
    keys.add(Keys.ControlD, eager=True, filter=empty)(lambda _: tui.quit())
    keys.add(Keys.PageUp, eager=True)(lambda _: tui.scroll(_page(tui)))
    keys.add(Keys.PageDown, eager=True)(lambda _: tui.scroll(-_page(tui)))
    _menu_bindings(keys, tui, in_menu)
    return keys


def _menu_bindings(keys: KeyBindings, tui: "Tui", in_menu: Condition) -> None:
    def press(event: KeyPressEvent) -> None:
        pressed = event.key_sequence[0]
        tui.dialogs.key(_MENU_KEYS.get(pressed.key, pressed.data))

    keys.add(Keys.Any, eager=True, filter=in_menu)(press)
    for key in _MENU_KEYS:
        keys.add(key, eager=True, filter=in_menu)(press)


def _page(tui: "Tui") -> int:
    return max(tui.app.output.get_size().rows - 6, 1)
