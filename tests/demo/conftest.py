"""A store of its own for each test, and programs that are ended whatever happens."""

import itertools
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from hybridmux.agents.demo.session import Session, fresh_id
from hybridmux.agents.demo.store import Store, now
from tests.demo.acp_client import COMMAND, AcpClient, content
from tests.demo.pty_driver import Tty


@pytest.fixture
def place(tmp_path):
    """The folder the agent works in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def environ(tmp_path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HYBRIDMUX_")}
    return kept | {"HYBRIDMUX_DEMO_HOME": str(tmp_path / "store")}


@pytest.fixture
def acp(environ, place):
    """Starts ACP agents: `acp(fault="…", initialize=False, forms=False)`."""
    clients = []

    def start(fault="", **options):
        clients.append(AcpClient(environ | {"HYBRIDMUX_DEMO_FAULT": fault}, place, **options))
        return clients[-1]

    yield start
    for client in clients:
        client.end()


@pytest.fixture
def tui(environ, place):
    """Starts TUIs: `tui("--resume", id, fault="…", cols=20, rows=5)`."""
    terminals = []

    def start(*arguments, fault="", **size):
        terminals.append(Tty(environ | {"HYBRIDMUX_DEMO_FAULT": fault}, place, *arguments, **size))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.end()


@pytest.fixture
def talk(environ, place):
    """`talk("one", "two")` puts a conversation with these turns into the store and answers its id."""

    stamps = itertools.count(time.time_ns(), 1_000_000)  # apart, though the clock of files ticks slowly

    def store(*texts):
        session = Session.new(Store(Path(environ["HYBRIDMUX_DEMO_HOME"])), str(place))
        for text in texts:
            session.begin(content(text))
            session.record({"type": "agent", "messageId": fresh_id("msg"), "text": f"echo: {text}"})
            session.record({"type": "end", "stopReason": "end_turn", "at": now()})
        session.close()
        stamp = next(stamps)
        os.utime(Path(environ["HYBRIDMUX_DEMO_HOME"]) / f"{session.id}.jsonl", ns=(stamp, stamp))
        return session.id

    return store


@pytest.fixture
def demo(environ):
    """Runs `hybridmux-demo WORDS --json` and answers what it printed."""

    def run(*words):
        done = subprocess.run([*COMMAND, *words, "--json"], env=environ, capture_output=True, check=True)
        return json.loads(done.stdout)

    return run
