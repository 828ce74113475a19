"""What a person configures: the TOML file of `--config`, with flags above it.

host = "127.0.0.1"
port = 8787
data = "/home/me/.local/share/hybridmux"
hosts = ["box.example"]              # further Host names to answer to
origins = ["https://box.example"]    # further web pages that may call
test_profiles = false                # profiles that only tests want
insecure_no_tls = false              # listen beyond loopback without TLS

[budgets]                            # any deadline or limit of hybridmux/budgets.py
interrupting = 10.0
"""

import os
import tomllib
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from hybridmux.budgets import Budgets
from hybridmux.errors import BadRequest, ConfigError
from hybridmux.wire.convert import camel, read

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@frozen(kw_only=True)
class Settings:
    """Everything that can be set."""

    host: str = "127.0.0.1"
    port: int = 8787
    """0 takes a free one."""
    data: str = ""
    """The data folder; by default the platform's (`~/.local/share/hybridmux` on Linux)."""
    hosts: list[str] = field(factory=list)
    origins: list[str] = field(factory=list)
    test_profiles: bool = False
    insecure_no_tls: bool = False
    budgets: Budgets = field(factory=Budgets)


def data_folder(settings: Settings) -> Path:
    """The data folder's path; it need not exist. Raises `ConfigError`."""
    if "\0" in settings.data:
        raise ConfigError(f"data folder {settings.data!r} is no path")
    if settings.data:
        return Path(os.path.expanduser(settings.data))  # noqa: PTH111 - `~nobody` is a name like any other
    import platformdirs

    return Path(platformdirs.user_data_dir("hybridmux", appauthor=False))


def load(config: Path | None, **flags: Any) -> Settings:
    """Reads the file and puts the flags that were given above it; raises `ConfigError`."""
    settings = _read_file(config) if config else Settings()
    settings = attrs.evolve(settings, **{name: value for name, value in flags.items() if value is not None})
    if not 0 <= settings.port <= 65535:
        raise ConfigError(f"port {settings.port} is not between 0 and 65535")
    if settings.host not in LOOPBACK and not settings.insecure_no_tls:
        raise ConfigError(
            f"host {settings.host} is not a loopback address: anyone on the network could read the traffic. "
            "Say --insecure-no-tls to listen there all the same"
        )
    return settings


def _read_file(path: Path) -> Settings:
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise ConfigError(f"config file {path} cannot be read: {exc.strerror}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ConfigError(f"config file {path} is not TOML: {exc}") from exc
    known = {a.name for a in attrs.fields(Settings)}
    numbers = {a.name for a in attrs.fields(Budgets)}
    unknown = sorted(value.keys() - known)
    budgets = value.get("budgets", {})
    unknown += (
        sorted(f"budgets.{key}" for key in budgets.keys() - numbers) if isinstance(budgets, dict) else []
    )
    if unknown:
        raise ConfigError(f"config file {path}: unknown setting {unknown[0]}")
    try:
        return _build(value)
    except BadRequest as exc:
        raise ConfigError(f"config file {path}: {exc}") from exc


def _build(value: dict[str, Any]) -> Settings:
    """Checks types with the contract's converter, whose names are camelCase."""
    named = {camel(key): each for key, each in value.items()}
    if isinstance(named.get("budgets"), dict):
        named["budgets"] = {camel(key): each for key, each in named["budgets"].items()}
    return read(named, Settings)
