"""omp's breadcrumb: which session the omp in a terminal has open.

    ~/.omp/agent/terminal-sessions/<tty>       tty: `pts-3` for /dev/pts/3; other folders: `folder`

        /home/user/proj                                        its working folder
        /home/user/.omp/agent/sessions/…/<time>_<id>.jsonl     the session
        fresh                                                  as long as it has no message
        cwdstat 2049 131                                       device and inode of the folder

It is written at the start, follows `/new`, and stays behind when omp ends: an older one is not believed.
Reading the text is pure; `breadcrumb_of` is the reader.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from hybridmux.agents.agent_files import home_of, is_folder, read_plain

BYTES = 16 * 1024
_FILE = re.compile(r"[^/]*_(?P<id>[0-9A-Za-z-]{8,64})\.jsonl")
_PROFILE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
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
        ("cwd", is_folder(crumb.cwd, cwd)),
    )
    return next((name for name, holds in checks if not holds), None)


def file_name(tty: str) -> str | None:
    """The breadcrumb's name for a terminal (`/dev/pts/3`)."""
    found = _TTY.fullmatch(tty)
    return found[1].replace("/", "-") if found else None


def folder(env: Mapping[str, str], cwd: str) -> Path:
    """Where breadcrumbs are for programs with this environment in this folder. Reads the file system.

    A profile has a folder of its own, and then PI_CODING_AGENT_DIR does not count. What is in its default
    place moves to XDG_STATE_HOME once that has a folder for it. What omp reads in .env files is not known.
    """
    profile = _profile(env.get("OMP_PROFILE", env.get("PI_PROFILE", "")))
    usual = _agent_folder(env, cwd, profile)
    agent = (None if profile else _given_folder(env, cwd)) or usual
    if agent == usual and env.get("XDG_STATE_HOME"):
        state = Path(cwd, env["XDG_STATE_HOME"], "omp", *(("profiles", profile) if profile else ()))
        agent = str(state) if os.path.exists(state) else usual  # noqa: PTH110 - a NUL does not make it raise
    return Path(agent, "terminal-sessions")


def _profile(name: str) -> str | None:
    name = name.strip()
    return name if _PROFILE.fullmatch(name) and name != "default" else None


def _agent_folder(env: Mapping[str, str], cwd: str, profile: str | None) -> str:
    # The name hangs below the home folder even if it looks like a whole path.
    root = f"{home_of(env, cwd)}/{env.get('PI_CONFIG_DIR') or '.omp'}"
    return os.path.normpath(f"{root}/profiles/{profile}/agent" if profile else f"{root}/agent")


def _given_folder(env: Mapping[str, str], cwd: str) -> str | None:
    """What PI_CODING_AGENT_DIR names, unless that comes from an omp with a profile that started ours."""
    given, other = env.get("PI_CODING_AGENT_DIR"), _profile(env.get("PI_PROFILE", ""))
    if not given or (other and given == _agent_folder(env, cwd, other)):
        return None
    return os.path.normpath(os.path.join(cwd, given))  # noqa: PTH118


def breadcrumb_of(crumbs: Path, tty: str, *, cwd: str, started_at: float) -> Breadcrumb | None:
    """The breadcrumb of the omp that was started in this terminal, if every check holds (see `doubt`)."""
    name = file_name(tty)
    found = read_plain(crumbs / name, BYTES) if name else None
    crumb = parse(*found) if found else None
    return crumb if crumb and doubt(crumb, cwd=cwd, started_at=started_at) is None else None
