"""omp's breadcrumb: which session the omp in a terminal has open.

    <PI_CODING_AGENT_DIR or ~/.omp/agent>/terminal-sessions/<tty>       tty: `pts-3` for /dev/pts/3

        /home/user/proj                                        its working folder
        /home/user/.omp/agent/sessions/…/<time>_<id>.jsonl     the session
        fresh                                                  as long as it has no message
        cwdstat 2049 131                                       device and inode of the folder

It is written at the start, follows `/new`, and stays behind when omp ends: an older one is not believed.
Reading the text is pure; `read_breadcrumb` is the reader.
"""

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attrs import evolve, field, frozen

BYTES = 16 * 1024
_FILE = re.compile(r"[^/]*_(?P<id>[0-9A-Za-z-]{8,64})\.jsonl")
_TTY = re.compile(r"/dev/([\w/]+)", re.ASCII)


@frozen(kw_only=True)
class Breadcrumb:
    """What one file says."""

    cwd: str = field(repr=False)
    session_id: str
    stored: bool
    """False while nothing has been said: no other program can open the session yet."""
    written_at: float = field(default=0.0, repr=False)
    """Seconds since the epoch."""


def parse(data: bytes, written_at: float = 0.0) -> Breadcrumb | None:
    """The breadcrumb in a file; None if it is too large or not in the form that we know."""
    if len(data) > BYTES:
        return None
    try:
        cwd, session_file, *rest = data.decode("utf-8").strip().split("\n")
    except ValueError:
        return None
    found = _FILE.fullmatch(session_file.rsplit("/", 1)[-1])
    if not found or not cwd.startswith("/") or not session_file.startswith("/"):
        return None
    return Breadcrumb(cwd=cwd, session_id=found["id"], stored="fresh" not in rest, written_at=written_at)


def doubt(crumb: Breadcrumb, *, cwd: str, started_at: float) -> str | None:
    """Why a breadcrumb cannot be that of the omp that was started in `cwd` (a real path) at `started_at`
    (seconds since the epoch), in one word; None when everything agrees."""
    checks = (
        ("old", crumb.written_at >= started_at),
        ("cwd", os.path.normpath(crumb.cwd) == cwd),
    )
    return next((name for name, holds in checks if not holds), None)


def file_name(tty: str) -> str | None:
    """The breadcrumb's name for a terminal (`/dev/pts/3`)."""
    found = _TTY.fullmatch(tty)
    return found[1].replace("/", "-") if found else None


def folder(env: Mapping[str, str]) -> Path:
    """Where breadcrumbs are for programs with this environment."""
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - of the server's user
    agent = env.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".omp", "agent")  # noqa: PTH118
    return Path(agent) / "terminal-sessions"


def read_breadcrumb(crumbs: Path, tty: str) -> Breadcrumb | None:
    """The breadcrumb of a terminal, its folder as a real path; None if there is none that can be read."""
    name = file_name(tty)
    if name is None:
        return None
    with suppress(OSError):
        fd = os.open(crumbs / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode):
                crumb = parse(file.read(BYTES + 1), status.st_mtime)
                return crumb and _real(crumb)
    return None


def _real(crumb: Breadcrumb) -> Breadcrumb:
    return evolve(crumb, cwd=os.path.realpath(crumb.cwd))


def breadcrumb_of(crumbs: Path, tty: str, *, cwd: str, started_at: float) -> Breadcrumb | None:
    """The breadcrumb of the omp that was started in this terminal, if every check holds (see `doubt`)."""
    crumb = read_breadcrumb(crumbs, tty)
    return crumb if crumb and doubt(crumb, cwd=cwd, started_at=started_at) is None else None
