"""Looking a data folder over without changing anything in it: who may read it, can its files be used."""

import os
import stat
from pathlib import Path
from typing import Literal

from attrs import frozen

from hybridmux.errors import ConfigError, StoreUnusable
from hybridmux.store.configs import ConfigStore
from hybridmux.store.folder import TOKEN_FILE, token
from hybridmux.store.records import RecordStore

Level = Literal["ok", "note", "wrong"]


@frozen
class Finding:
    """One thing that was looked at. `note`: worth knowing; `wrong`: a person must mend it."""

    level: Level
    text: str


def look_over(folder: Path) -> list[Finding]:
    """The folder, its token and its two files."""
    try:
        info = folder.stat()
    except FileNotFoundError:
        return [Finding("note", f"{folder} is not there yet; the first start makes it")]
    except OSError as exc:
        return [Finding("wrong", f"{folder} cannot be used: {exc.strerror}")]
    if not stat.S_ISDIR(info.st_mode):
        return [Finding("wrong", f"{folder} is not a folder")]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [Finding("wrong", f"{folder} cannot be read and written by you")]
    return [_folder(folder, info), _token(folder), *_stores(folder)]


def _folder(folder: Path, info: os.stat_result) -> Finding:
    mode = stat.S_IMODE(info.st_mode)
    if info.st_uid != os.getuid():
        return Finding("wrong", f"{folder} belongs to another user (chown)")
    if mode & 0o022:
        return Finding("wrong", f"{folder} can be changed by others (mode {mode:04o}); chmod 700 {folder}")
    if mode & 0o055:
        return Finding("note", f"{folder} can be looked into by others (mode {mode:04o}); chmod 700 {folder}")
    return Finding("ok", f"{folder} is yours alone")


def _token(folder: Path) -> Finding:
    path = folder / TOKEN_FILE
    if not path.exists():  # asked for, it would be made
        if path.is_symlink():
            return Finding("wrong", f"token file {path} is a link to nowhere; remove it")
        return Finding("note", "there is no token yet; the first start makes it")
    try:
        token(folder)
    except ConfigError as exc:
        return Finding("wrong", str(exc))
    return Finding("ok", "the token can be read by you only")


def _stores(folder: Path) -> list[Finding]:
    records, configs = RecordStore(folder), ConfigStore(folder)
    return [_store(records, "records"), _store(configs, "launch configs")]


def _store(store: RecordStore | ConfigStore, what: str) -> Finding:
    path = store.path
    if not os.path.lexists(path):
        return Finding("note", f"there are no {what} yet")
    store.load()
    try:
        count = len(store.all())
        info = path.stat()
    except StoreUnusable as exc:
        return Finding("wrong", str(exc))
    except OSError as exc:
        return Finding("wrong", f"{path} cannot be used: {exc.strerror}")
    if info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & 0o077:
        return Finding("wrong", f"{path} must be yours and readable by you only; chmod 600 {path}")
    return Finding("ok", f"{path.name}: {count} {what}")
