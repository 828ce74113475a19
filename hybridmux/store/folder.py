"""The data folder: private, ours alone while a server runs on it."""

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hybridmux.errors import ConfigError
from hybridmux.store import atomic

TOKEN_FILE = "token"


@contextmanager
def data_folder(path: Path) -> Iterator[Path]:
    """Makes the folder (0700) and locks it; raises `ConfigError` with one sentence."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as exc:
        raise ConfigError(f"data folder {path} cannot be used: {exc.strerror}") from exc
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError(f"data folder {path} is in use by another hybridmux server") from None
        atomic.sweep(path)
        yield path
    finally:
        os.close(lock)


def rotate(folder: Path) -> str:
    """Makes and returns a new token (256 random bits). Raises `ConfigError`."""
    path = folder / TOKEN_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic.replace(path, secrets.token_urlsafe(32).encode() + b"\n")
    except OSError as exc:
        raise ConfigError(f"token file {path} cannot be written: {exc.strerror}") from exc
    return token(folder)


def token(folder: Path) -> str:
    """The server's token, made at the first use. Raises `ConfigError`."""
    path = folder / TOKEN_FILE
    if not path.exists():
        return rotate(folder)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            info = os.fstat(file.fileno())
            text = file.read(4096).decode("ascii", "replace").strip()
    except OSError as exc:
        raise ConfigError(f"token file {path} cannot be used: {exc.strerror}") from exc
    if info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & 0o077:
        raise ConfigError(f"token file {path} must belong to you and be readable by you only (chmod 600)")
    if len(text) < 32:
        raise ConfigError(f"token file {path} holds no token; make a new one with hybridmux token --rotate")
    return text
