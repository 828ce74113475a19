"""Process 1 of the sandbox: fills the throwaway HOME, starts the fake model, runs one command.

    python -m tests.agents.box.inside AGENT[,AGENT] COMMAND...

The command's exit code is its own; when it ends, the kernel ends whatever is left in the sandbox.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.agents.box.agent import AGENTS, MODEL_PORT, Agent

HOME = Path("/home/user")
MODEL_LOG = Path("/tmp/model.jsonl")
PROMPT = "cd ~/proj; PS1='box:\\w\\$ '\n"


def fill_home(agents: list[Agent]) -> None:
    """The files that the agents want to find, and those of the shell."""
    (HOME / ".bashrc").write_text(PROMPT)
    for agent in agents:
        for name, text in agent.home.items():
            file = HOME / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def start_model() -> None:
    """Returns when it answers."""
    command = [sys.executable, "-m", "tests.agents.model", f"--port={MODEL_PORT}", f"--log={MODEL_LOG}"]
    # A session of its own: Ctrl-C in the person's terminal is not for it.
    model = subprocess.Popen(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True
    )
    assert model.stdout is not None
    if not model.stdout.readline():
        raise SystemExit("the fake model did not start")


def run(command: list[str]) -> int:
    """Runs it, and waits for every process that ends meanwhile: orphans become process 1's."""
    child = subprocess.Popen(command)
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            return os.waitstatus_to_exitcode(status)


def main() -> None:
    """See above."""
    names, *command = sys.argv[1:]
    # A handler that does nothing, where ignoring would be inherited: Ctrl-C is the command's.
    signal.signal(signal.SIGINT, lambda *_: None)
    fill_home([AGENTS[name] for name in names.split(",")])
    start_model()
    code = run(command)
    raise SystemExit(128 - code if code < 0 else code)


main()
