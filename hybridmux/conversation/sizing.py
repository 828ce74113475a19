"""Who decides a terminal's size: one viewer at a time, the last that typed or asked to.

Others are told the size and show it letter-boxed, so two devices do not fight over it.
"""

from attrs import define

from hybridmux.budgets import SIZE_MAX, SIZE_MIN

Size = tuple[int, int]


def clamp(value: int) -> int:
    """Columns or rows within the bounds."""
    return max(SIZE_MIN, min(SIZE_MAX, value))


@define(eq=False)
class SizedViewer:
    """One viewer and the size it would like."""

    size: Size | None = None


class Sizing:
    """The owner of one session's size."""

    def __init__(self) -> None:
        self._owner: SizedViewer | None = None

    def resized(self, viewer: SizedViewer, cols: int, rows: int, *, own: bool = False) -> Size | None:
        """A viewer has another size; returns the size to apply, if it is the viewer's to decide."""
        viewer.size = (clamp(cols), clamp(rows))
        if own or self._owner is None:
            self._owner = viewer
        return viewer.size if self._owner is viewer else None

    def typed(self, viewer: SizedViewer) -> Size | None:
        """A viewer typed; returns the size to apply when the ownership moved."""
        if self._owner is viewer:
            return None
        self._owner = viewer
        return viewer.size

    def left(self, viewer: SizedViewer) -> None:
        """A viewer is gone; nobody owns the size until the next one types or resizes."""
        if self._owner is viewer:
            self._owner = None
