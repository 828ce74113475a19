"""Launch configs, in `<data>/launch-configs.json` (version 2; `hybrid` is left out when false)."""

import secrets
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve, field, frozen

from hybridmux.errors import BadRequest, NotFound, StoreUnusable
from hybridmux.store import atomic
from hybridmux.store.document import Document, Write
from hybridmux.wire.convert import maybe
from hybridmux.wire.launch import HIDDEN, LaunchConfigBody

VERSION = 2


@frozen(kw_only=True)
class Config:
    """One launch config on disk, with its environment values."""

    id: str
    name: str
    cmd: list[str]
    cwd: str = ""
    env: dict[str, str] = field(factory=dict)
    hybrid: bool | None = maybe()


def check_command(cmd: list[str], env: dict[str, str]) -> None:
    """Raises `BadRequest` for a command or an environment that no program could be started with."""
    if not cmd or not cmd[0]:
        raise BadRequest("cmd must name a program")
    if any("\0" in word for word in cmd):
        raise BadRequest("cmd must not hold NUL characters")
    for key, value in env.items():
        if not key or "=" in key or "\0" in key + value:
            raise BadRequest(f"env.{key} is no environment variable")


def _checked(body: LaunchConfigBody) -> LaunchConfigBody:
    if not body.name.strip():
        raise BadRequest("name must not be empty")
    check_command(body.cmd, body.env)
    return body


class ConfigStore:
    """All launch configs."""

    def __init__(self, folder: Path, write: Write = atomic.replace) -> None:
        self._document = Document(
            folder / "launch-configs.json", Config, key="configs", version=VERSION, write=write
        )
        self.first_start = not self._document.path.exists()

    @property
    def path(self) -> Path:
        """The file."""
        return self._document.path

    def load(self) -> None:
        """Reads the file; what is unusable about it is raised at use."""
        self._document.load()

    def all(self) -> list[Config]:
        """Every config in the order it was made; raises `StoreUnusable`."""
        return list(self._document.items)

    def get(self, config_id: str) -> Config:
        """One config; raises `NotFound`, `StoreUnusable`."""
        for config in self._document.items:
            if config.id == config_id:
                return config
        raise NotFound(f"there is no launch config {config_id}")

    def has(self, config_id: str) -> bool:
        """Whether it is there (False too when the file is unusable: nothing is known then)."""
        try:
            return any(config.id == config_id for config in self._document.items)
        except StoreUnusable:
            return False

    async def add(self, body: LaunchConfigBody) -> Config:
        """Makes a new config; raises `BadRequest`, `StoreUnusable`."""
        body = _checked(body)
        if HIDDEN in body.env.values():
            raise BadRequest(f"env values must be given; {HIDDEN} only keeps a stored one")
        config = self._made(secrets.token_hex(6), body)
        await self._document.update(lambda items: [*items, config])
        return config

    async def offer(self, bodies: Iterable[LaunchConfigBody]) -> None:
        """Makes several in one write, so that a first start is whole or did not happen."""
        made = [self._made(secrets.token_hex(6), _checked(body)) for body in bodies]
        await self._document.update(lambda items: [*items, *made])

    async def put(self, config_id: str, body: LaunchConfigBody) -> Config:
        """Replaces a config; a hidden environment value keeps what is stored."""
        old = self.get(config_id)
        body = _checked(body)
        env = {key: old.env.get(key, "") if value == HIDDEN else value for key, value in body.env.items()}
        config = self._made(config_id, evolve(body, env=env))
        await self._document.update(lambda items: [config if c.id == config_id else c for c in items])
        return config

    async def remove(self, config_id: str) -> None:
        """Removes a config; records that name it stay."""
        self.get(config_id)
        await self._document.update(lambda items: [c for c in items if c.id != config_id])

    @staticmethod
    def _made(config_id: str, body: LaunchConfigBody) -> Config:
        return Config(
            id=config_id, name=body.name, cmd=body.cmd, cwd=body.cwd, env=body.env, hybrid=body.hybrid or None
        )
