"""A dict of bounded size. Pure."""

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(OrderedDict[str, V], Generic[V]):
    """A dict that forgets its oldest entries."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._limit:
            self.popitem(last=False)
