"""What a server must not leave behind or let grow: gauges, processes of a session, temp folders."""

import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

import trio
from attrs import frozen

from hybridmux.proc.mark import ENV, Mark, data_hash
from tests.support.api import Client

GAUGES = ("hybridmux_sessions", "hybridmux_tasks", "hybridmux_fds", "hybridmux_children", "hybridmux_viewers")


@frozen
class Marked:
    """A process that carries a mark of ours."""

    pid: int
    command: str
    mark: Mark

    @property
    def side(self) -> str:
        """Which side of the demo agent it is: `tui`, `acp`, or empty for what such a one left behind."""
        words = self.command.split()
        return next((word for word in words if word in ("tui", "acp")), "")

    def kill(self) -> None:
        """SIGKILL; it may have ended meanwhile."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def processes(data: Path, session: str | None = None) -> list[Marked]:
    """Those of a data folder, or of one of its sessions."""
    whose = data_hash(data)
    found = [one for folder in Path("/proc").iterdir() if folder.name.isdigit() and (one := _read(folder))]
    return [one for one in found if one.mark.data == whose and session in (None, one.mark.session)]


def _read(folder: Path) -> Marked | None:
    try:
        environ = (folder / "environ").read_bytes().split(b"\0")
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    value = next((entry for entry in environ if entry.startswith(f"{ENV}=".encode())), b"")
    mark = Mark.parse(value.partition(b"=")[2].decode(errors="replace"))
    return Marked(int(folder.name), command, mark) if mark else None


def temp_folders() -> set[str]:
    """Temp folders that servers made."""
    return {p.name for p in Path(tempfile.gettempdir()).glob("hybridmux-*")}


async def gauges(client: Client) -> dict[str, int]:
    """What a leak would make grow."""
    found = await client.metrics()
    return {name: found[name] for name in GAUGES}


async def settled(client: Client, want: dict[str, int]) -> dict[str, int]:
    """The gauges, once closed connections have gone (at most 5 s)."""
    now = await gauges(client)
    for _ in range(50):
        if all(now[name] <= want[name] for name in GAUGES):
            break
        await trio.sleep(0.1)
        now = await gauges(client)
    return now
