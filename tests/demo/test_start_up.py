"""What keeps the start fast, and the command line."""

import subprocess
import sys

import pytest

from hybridmux.agents.demo.store import new_id
from tests.demo.acp_client import COMMAND


def modules_after(statement):
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_acp_side_loads_nothing_heavy():
    loaded = modules_after("import hybridmux.agents.demo.cli, hybridmux.agents.demo.acp")
    assert not loaded & {"prompt_toolkit", "trio", "attr", "attrs", "orjson", "argparse", "typing_extensions"}
    ours = {name for name in loaded if name.startswith("hybridmux.")}
    assert {name for name in ours if not name.startswith("hybridmux.agents.demo")} == {"hybridmux.agents"}


@pytest.mark.parametrize("words", [["--help"], ["tui", "--help"], ["sessions", "--help"]])
def test_help(environ, words):
    done = subprocess.run([*COMMAND, *words], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: hybridmux-demo")


@pytest.mark.parametrize("words", [[], ["dance"], ["show"]])
def test_wrong_words(environ, words):
    done = subprocess.run([*COMMAND, *words], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.startswith("usage: hybridmux-demo")) == (2, True)


def test_show_and_sessions_for_people(environ, talk):
    session = talk("hello")
    shown = subprocess.run(
        [*COMMAND, "show", session], env=environ, capture_output=True, text=True, check=True
    )
    assert "user: hello\nagent: echo: hello\n(end_turn)\n" in shown.stdout
    listed = subprocess.run([*COMMAND, "sessions"], env=environ, capture_output=True, text=True, check=True)
    assert listed.stdout.startswith(f"{session}  ")


def test_show_of_an_unknown_session(environ):
    session = new_id()
    done = subprocess.run(
        [*COMMAND, "show", session], env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, f"No such session: {session}\n")
