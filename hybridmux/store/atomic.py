"""Files that are whole at every instant: temp file, fsync, rename, fsync of the folder; mode 0600."""

import os
from pathlib import Path


def replace(path: Path, data: bytes) -> None:
    """Replaces the file's content; after the return it survives a power cut. Raises `OSError`.

    On an error the old file is untouched and no temp file stays behind.
    """
    temp = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temp.replace(path)
    except OSError:
        temp.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def sweep(folder: Path) -> None:
    """Removes temp files that a killed server left."""
    for temp in folder.glob(".*.tmp"):
        temp.unlink(missing_ok=True)
