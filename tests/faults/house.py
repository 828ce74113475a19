"""One server that many tests share: each brings a session of its own, with its own agent store and faults."""

import re
import select
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import define

from hybridmux.proc.mark import ENV, Mark, data_hash
from tests.support.client import Client
from tests.support.server import PROGRAM, START, STOP

PATIENT = {
    "precheck": 20,
    "interrupting": 15,
    "choice": 30,
    "cancelling": 15,
    "stopping_step": 5,
    "starting": 20,
    "loading_idle": 15,
    "loading_total": 30,
    "retry": 1,
    "rolling_back": 30,
    "shutdown_grace": 10,
}
"""Deadlines that nothing runs into, however busy the machine is; `retry` is waited for once."""
HASTY = {
    **PATIENT,
    "precheck": 2.5,
    "interrupting": 1.2,
    "cancelling": 1.2,
    "stopping_step": 1,
    "starting": 4,
    "loading_idle": 2,
}
"""Where the deadlines are what is tested."""
HOPELESS = {**PATIENT, "rolling_back": 5}
"""Where a roll-back is to come to nothing."""
ENDING = {**PATIENT, "stopping_step": 2, "shutdown_grace": 6}
"""Where a server is to stop with programs that are held."""
_READY = re.compile(r"hybridmux ready: http://([^:/]+):(\d+)/#token=(\S+)")


@define
class House:
    """A running server; `process` is the keeper."""

    process: "subprocess.Popen[str]"
    client: Client
    data: Path
    stderr: Path

    @property
    def server(self) -> int:
        """The server's own pid, below the keeper."""
        keeper = self.process.pid
        (child, *_) = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
        return int(child)

    def log(self) -> str:
        """What it has written so far."""
        return self.stderr.read_text(errors="replace")


@contextmanager
def house(folder: Path, budgets: Mapping[str, float]) -> Iterator[House]:
    """The real server on `folder`/data; stopped at the end."""
    config, stderr, data = folder / "config.toml", folder / "server.err", folder / "data"
    config.write_text("\n".join(["[budgets]", *(f"{name} = {value}" for name, value in budgets.items())]))
    argv = [str(PROGRAM), "serve", "--host", "127.0.0.1", "--port", "0"]
    argv += ["--data", str(data), "--config", str(config)]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    with stderr.open("a") as err:
        process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=err, text=True)
    try:
        yield House(process, _ready(process, stderr), data, stderr)
    finally:
        process.terminate()
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _ready(process: "subprocess.Popen[str]", stderr: Path) -> Client:
    assert process.stdout is not None
    if select.select([process.stdout], [], [], START)[0] and (
        found := _READY.match(process.stdout.readline())
    ):
        return Client(host=found[1], port=int(found[2]), token=found[3])
    raise AssertionError(f"no ready line within {START} s\n{stderr.read_text(errors='replace')}")


def living(data: Path, session: str) -> dict[int, str]:
    """The processes of one session by their mark: pid to `tui`, `acp` or `other`."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            environ = (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        text = next((e for e in environ if e.startswith(f"{ENV}=".encode())), b"").decode()
        mark = Mark.parse(text.removeprefix(f"{ENV}="))
        if mark is not None and (mark.data, mark.session) == (data_hash(data), session):
            found[int(folder.name)] = _kind(words)
    return found


def _kind(words: list[str]) -> str:
    """Which side it is; `other` also for a shell that has yet to exec it."""
    is_agent = str(PROGRAM.parent / "hybridmux-demo") in words
    return next((word for word in words if is_agent and word in ("tui", "acp")), "other")
