"""Starts a command in the sandbox, from outside of it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from tests.agents.box.agent import AGENTS

CHECKOUT = Path(sys.prefix).parent
"""As the .venv's scripts name it, which may not be its real path."""
ENTER = Path(__file__).with_name("enter.sh")
OPT = "/opt/agents"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


@frozen(kw_only=True)
class Box:
    """A sandbox with these agents: name → folder they are installed in."""

    agents: Mapping[str, Path]
    out: Path | None = None
    """A folder that stays, writable as `/out`."""

    def run(self, command: Sequence[str], *, term: str = "xterm-256color") -> int:
        """Runs one command in it, on this terminal; its exit code. Nothing of it outlives this call."""
        root = tempfile.mkdtemp(prefix="hybridmux-box-")
        try:
            return _run([*self._unshare(), *self._enter(root), *command], self.environment(term))
        finally:
            Path(root).rmdir()

    def environment(self, term: str) -> dict[str, str]:
        """All of it: nothing of the person's environment comes along."""
        bins = [f"{OPT}/{name}/node_modules/.bin" for name in self.agents]
        env = {
            "PATH": ":".join([*bins, str(Path(sys.executable).parent), SYSTEM_PATH]),
            "HOME": "/home/user",
            "USER": "user",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": term,
            "COLORTERM": "truecolor",
            "TMPDIR": "/tmp",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYBRIDMUX_BOX": ",".join(self.agents),
        }
        for name in self.agents:
            env |= AGENTS[name].env
        return env

    def _unshare(self) -> list[str]:
        unshare = shutil.which("unshare", path=SYSTEM_PATH) or "unshare"
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        kinds = ["--mount", "--net", "--pid", "--ipc", "--uts"]
        return [unshare, *user, *kinds, "--fork", "--kill-child"]

    def _enter(self, root: str) -> list[str]:
        agents = [f"{folder}={OPT}/{name}" for name, folder in self.agents.items()]
        # The .venv is below the checkout; the Python that it was made from can be anywhere.
        pythons = {sys.base_prefix, os.path.realpath(sys.base_prefix)}
        shown = [*agents, *(f"{folder}={folder}" for folder in sorted(pythons) if folder != "/usr")]
        inside = [sys.executable, "-m", "tests.agents.box.inside", ",".join(self.agents)]
        return [str(ENTER), root, str(CHECKOUT), str(self.out or ""), *shown, "--", *inside]


def _run(command: list[str], env: dict[str, str]) -> int:
    """Ctrl-C is the command's own affair; SIGTERM and our end are its end."""
    signal.signal(signal.SIGINT, lambda *_: None)
    with subprocess.Popen(command, env=env, cwd="/") as process:
        signal.signal(signal.SIGTERM, lambda *_: process.kill())
        return process.wait()
