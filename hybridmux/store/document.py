"""One JSON document on disk with a version and one writer.

A document that cannot be read, parsed or is of a newer version is never rewritten: every use raises
`StoreUnusable` with its path until a person has looked at it and the server was started again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson
import trio

from hybridmux.budgets import STORE_FILE
from hybridmux.errors import BadRequest, StoreUnusable
from hybridmux.store import atomic
from hybridmux.wire.convert import converter, read

T = TypeVar("T")
Write = Callable[[Path, bytes], None]


class Document(Generic[T]):
    """A list of items of one type, in the file's `key`; kept whole in memory and written whole."""

    def __init__(
        self, path: Path, kind: type[T], *, key: str, version: int, write: Write = atomic.replace
    ) -> None:
        self.path = path
        self._kind, self._key, self._version, self._write = kind, key, version, write
        self._lock = trio.Lock()
        self.size = 0
        """Bytes of the file."""
        self._problem: str | None = None
        self._items: list[T] = []
        self._behind = False
        """The file lacks something that counts here."""

    def load(self) -> None:
        """Reads the file; a missing one is an empty list. Problems are kept and raised at use."""
        try:
            data = self._read()
            self._items, self.size = self._parse(data), len(data)
        except FileNotFoundError:
            self._items = []
        except (OSError, ValueError, BadRequest) as exc:
            self._problem = (
                f"{self.path} cannot be used: {exc}. "
                "It is left as it is; repair or move it, then start again."
            )

    def _read(self) -> bytes:
        with self.path.open("rb") as file:
            data = file.read(STORE_FILE + 1)
        if len(data) > STORE_FILE:
            raise ValueError(f"it is larger than {STORE_FILE} bytes")
        return data

    def _parse(self, data: bytes) -> list[T]:
        value: Any = orjson.loads(data)
        if not isinstance(value, dict) or value.get("version") != self._version:
            raise ValueError(f"it is not of version {self._version}")
        return read(value.get(self._key), list[self._kind])  # type: ignore[name-defined]  # a runtime type

    @property
    def items(self) -> list[T]:
        """The items; raises `StoreUnusable`."""
        self.check()
        return self._items

    def check(self) -> None:
        """Raises `StoreUnusable` if the file could not be read."""
        if self._problem:
            raise StoreUnusable(self._problem, str(self.path))

    async def save(self, items: list[T]) -> None:
        """Replaces the items; when it returns they are on disk. Raises `StoreUnusable`, items unchanged."""
        self.check()
        async with self._lock:
            await self._store(items)

    async def update(self, change: Callable[[list[T]], list[T]], *, keep: bool = False) -> None:
        """Like `save`, with the new list made from the newest one while nobody else writes.

        `keep`: what happened has happened, on disk or not. The items change even if they cannot be written,
        and the next write that succeeds has them.
        """
        self.check()
        async with self._lock:
            items = change(self._items)
            if keep:
                self._items, self._behind = items, True
            await self._store(items)

    async def catch_up(self) -> None:
        """Writes what counts here and is not on disk. Raises `StoreUnusable` if that is not possible yet."""
        async with self._lock:
            if self._behind:
                await self._store(self._items)

    async def _store(self, items: list[T]) -> None:
        data = orjson.dumps(
            {"version": self._version, self._key: converter.unstructure(items)},
            option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
        )
        if len(data) > STORE_FILE:  # nobody could read it again
            raise StoreUnusable(
                f"{self.path} cannot be written: it would be larger than {STORE_FILE} bytes; "
                f"remove some {self._key} first",
                str(self.path),
            )
        try:
            # Not abandoned on cancel: a half-known outcome would be worse than a short wait.
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._write, self.path, data)
        except OSError as exc:
            raise StoreUnusable(f"{self.path} cannot be written: {exc.strerror}", str(self.path)) from exc
        self._items, self._behind, self.size = items, False, len(data)
