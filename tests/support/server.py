"""The real server as a process of its own, and what it left behind; see `client`."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from attrs import define

from tests.support.api import Client

PROGRAM = Path(sys.executable).parent / "hybridmux"
START, STOP = 30.0, 20.0
"""Seconds."""
_READY = re.compile(r"hybridmux ready: (http://([^:/]+):(\d+))/#token=(\S+)")


@define
class Server:
    """A server that answers. `process` is the keeper; the server is its child."""

    process: subprocess.Popen[str]
    client: Client
    data: Path
    home: Path
    stderr: Path

    def log(self) -> str:
        """What it wrote to stderr."""
        return _text(self.stderr)

    async def stop(self, seconds: float = 15) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return await trio.to_thread.run_sync(lambda: self.process.wait(seconds))

    @property
    def pid(self) -> int:
        """The server itself, below its keeper."""
        keeper = self.process.pid
        (child, *_) = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
        return int(child)

    def crash(self) -> None:
        """`kill -9` of the server itself, not of its keeper."""
        os.kill(self.pid, signal.SIGKILL)


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    config: str = "",
    env: Mapping[str, str] | None = None,
    data: Path | None = None,
    program: Sequence[str] = (str(PROGRAM),),
) -> AsyncIterator[Server]:
    """The real server, with a HOME of its own below `folder`; stopped at the end."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    data = data or folder / "data"
    stderr = folder / "server.err"
    argv = [*program, "serve", "--host", "127.0.0.1", "--port", "0", "--data", str(data)]
    if config:
        file = folder / "config.toml"
        file.write_text(config)
        argv += ["--config", str(file)]
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    whole = {**kept, "HOME": str(home), "HYBRIDMUX_DEMO_HOME": str(home / "demo"), **(env or {})}
    with stderr.open("a") as err:
        process = subprocess.Popen(argv, env=whole, stdout=subprocess.PIPE, stderr=err, text=True)  # noqa: ASYNC220 - a test, and quick
    try:
        yield Server(process, await _ready(process, stderr), data, home, stderr)
    finally:
        with trio.CancelScope(shield=True):
            await _end(process)


async def _ready(process: subprocess.Popen[str], stderr: Path) -> Client:
    assert process.stdout is not None
    with trio.move_on_after(START):
        line = await trio.to_thread.run_sync(process.stdout.readline, abandon_on_cancel=True)
        if found := _READY.match(line):
            return Client(host=found[2], port=int(found[3]), token=found[4])
    raise AssertionError(f"no ready line within {START} s\n{_text(stderr)}")


def _text(file: Path) -> str:
    return file.read_text(errors="replace")


async def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        await trio.to_thread.run_sync(lambda: process.wait(STOP))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()


def marked(data: Path) -> list[str]:
    """Processes that carry the mark of a data folder: `pid command`."""
    from hybridmux.proc.mark import data_hash

    wanted = f"HYBRIDMUX_MARK={data_hash(data)}:".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if wanted in (folder / "environ").read_bytes():
                found.append(f"{folder.name} {(folder / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    return found
