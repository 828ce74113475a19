"""Installs agents into the cache folder: once for each set of versions, whole or not at all."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

VERSIONS = Path(__file__).parents[1] / "versions.toml"
NPM = (
    "npm",
    "install",
    "--prefix",
    ".",
    "--no-save",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
)


@frozen(kw_only=True)
class Recipe:
    """What one agent is made of, from `versions.toml`."""

    name: str
    packages: dict[str, str]
    setup: list[list[str]]
    check: list[str]

    @property
    def key(self) -> str:
        """Names the folder: another version, another folder."""
        parts = json.dumps([self.packages, self.setup], sort_keys=True)
        return f"{self.name}-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


def recipe(name: str, text: str | None = None) -> Recipe:
    """The recipe of that agent; raises `KeyError` for an unknown one."""
    versions: dict[str, Any] = tomllib.loads(VERSIONS.read_text() if text is None else text)
    return Recipe(name=name, **versions[name])


def cache_folder() -> Path:
    """`$HYBRIDMUX_CACHE`, else `~/.cache/hybridmux/agents`."""
    given = os.environ.get("HYBRIDMUX_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "hybridmux" / "agents"


def install(wanted: Recipe, cache: Path) -> Path:
    """The folder that holds the agent, installed if it was not; raises `CalledProcessError`.

    It is made under another name and renamed when it works, so an interrupted install leaves nothing that
    looks like one; the next removes what it left.
    """
    folder = cache / wanted.key
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache):
        if folder.is_dir():  # somebody else has, while we waited
            return folder
        began = time.monotonic()
        names = " ".join(f"{name}@{version}" for name, version in wanted.packages.items())
        say(f"{wanted.name}: installing {names}")
        unfinished = _unfinished(cache)
        _fill(unfinished, wanted)
        unfinished.rename(folder)
    say(f"{wanted.name}: {size_mb(folder)} MB in {time.monotonic() - began:.1f} s")
    return folder


def _unfinished(cache: Path) -> Path:
    folder = cache / ".unfinished"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _fill(folder: Path, wanted: Recipe) -> None:
    packages = [f"{name}@{version}" for name, version in wanted.packages.items()]
    subprocess.run([*NPM, *packages], cwd=folder, check=True, stdout=sys.stderr)
    for command in wanted.setup:
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
    program = folder / "node_modules" / ".bin" / wanted.check[0]
    # With a HOME of its own: the check must not read or write the person's files.
    home = folder / ".check"
    home.mkdir()
    env = {"PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home)}
    subprocess.run([program, *wanted.check[1:]], cwd=home, env=env, check=True, stdout=sys.stderr)
    shutil.rmtree(home)


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def size_mb(folder: Path) -> int:
    """What a folder takes on disk, hard links counted once."""
    seen = {(stat.st_dev, stat.st_ino): stat.st_blocks * 512 for stat in map(os.lstat, folder.rglob("*"))}
    return round(sum(seen.values()) / 1e6)


def say(text: str) -> None:
    """One line for the person."""
    print(f"· {text}", file=sys.stderr, flush=True)
