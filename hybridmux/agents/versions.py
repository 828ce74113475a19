"""Versions of agents: what a profile was tried with, and what is older than that. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import frozen

from hybridmux.wire.types import Outdated

_VERSION = re.compile(r"(?<![\w.])v?(\d{1,6}(?:\.\d{1,6}){1,3})")


@frozen(kw_only=True)
class Verified:
    """One program and the version that was tried."""

    name: str
    """As a person reads it: `Codex CLI`, `codex-acp`."""
    version: str
    of: Literal["program", "connector"]
    """The TUI's program says it with `--version`, the connector in `agentInfo` of its `initialize` answer."""


@frozen(kw_only=True)
class Engine:
    """What a program that is a script runs on."""

    title: str
    """As a person reads it: `Node.js`."""
    names: frozenset[str]
    """How a script's first line, or a command, names it."""
    of: Literal["program", "connector"]
    minimum: str = "0"
    """The oldest version that will do."""
    install: str
    """What to do where it is missing or too old."""


def node(of: Literal["program", "connector"], minimum: str = "0") -> Engine:
    """Node.js, from this version on."""
    wanted = f"Node.js {minimum} or newer" if minimum != "0" else "Node.js"
    return Engine(
        title="Node.js",
        names=frozenset({"node", "nodejs"}),
        of=of,
        minimum=minimum,
        install=f"install {wanted} (https://nodejs.org)",
    )


def read_version(text: str) -> str | None:
    """The first version number in what a program printed (`codex-cli 0.171.0`, `omp/18.2.3`)."""
    found = _VERSION.search(text.replace("/", " "))
    return found[1] if found else None


def _numbers(version: str) -> list[int]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def older(version: str, than: str) -> bool:
    """Whether the first version number is below the second."""
    return _numbers(version) < _numbers(than)


def outdated(verified: Iterable[Verified], found: Mapping[str, str]) -> list[Outdated]:
    """Which programs are older than what was tried. `found`: name → what the program said of itself; a
    program that said nothing we understand is not named."""
    versions = {one: read_version(found.get(one.name, "")) for one in verified}
    return [
        Outdated(name=one.name, version=version, verified=one.version)
        for one, version in versions.items()
        if version and older(version, one.version)
    ]
