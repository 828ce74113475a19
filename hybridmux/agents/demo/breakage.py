"""How the demo agent breaks: the acts behind the faults that both sides share."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from hybridmux.agents.demo import limits

NOISE = b'\x00\xff\xfe\x1b not JSON \xc3\x28 {\n[]\n42\n"text"\nnull\n{"jsonrpc":"2.0"}\n\n'
"""Bytes no parser likes: invalid UTF-8, JSON that is no object, objects that are no messages, empty lines."""


def ignore_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def leave(status: int = limits.EXIT_FAULT) -> NoReturn:
    """Ends at once, with nothing tidied up."""
    os._exit(status)


def close_stdout() -> None:
    """Whoever reads our stdout sees its end; our own later writes go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def flood_stderr() -> None:
    line = b"demo fault: a line of many on stderr " + b"." * 90 + b"\n"
    for _ in range(limits.STDERR_FLOOD // len(line)):
        os.write(2, line)


def fork_survivor() -> None:
    """Leaves a process in a session of its own behind; it holds none of our files."""
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class Lag:
    """Counts, next to the session's file, how often its newest turn was left out of a load."""

    def __init__(self, home: Path, session: str) -> None:
        self._path = home / f".lag-{session}"

    def due(self, turns: int, most: int) -> bool:
        """True (and counted) while the turn with number `turns` was left out fewer than `most` times."""
        try:
            turn, count = map(int, self._path.read_text().split())
        except (OSError, ValueError):
            turn, count = turns, 0
        count = count if turn == turns else 0
        if count < most:
            self._path.write_text(f"{turns} {count + 1}")
        return count < most
