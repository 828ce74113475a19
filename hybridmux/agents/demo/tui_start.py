"""Starts the TUI and sees it off: what happens before the first paint and after the last."""

import asyncio
import contextlib
import sys
from pathlib import Path

from hybridmux.agents.demo import tui_faults
from hybridmux.agents.demo.evidence import CLEAR_TITLE
from hybridmux.agents.demo.faults import Faults
from hybridmux.agents.demo.session import Session
from hybridmux.agents.demo.store import InUse, NoSuchSession, Store
from hybridmux.agents.demo.tui import Tui


def main(store: Store, faults: Faults, resume: str | None) -> int:
    """Answers the exit status."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("hybridmux-demo tui needs a terminal\n")
        return 2
    tui_faults.before_paint("start", faults)
    try:
        session = _session(store, faults, resume)
    except NoSuchSession as problem:
        sys.stdout.write(f"No such session: {problem}\n")
        return 1
    except InUse as problem:
        sys.stdout.write(f"Session {problem} is open in another program\n")
        return 1
    tui = Tui(store, faults, session)
    status = asyncio.run(tui.run())
    with contextlib.suppress(OSError):
        _farewell(tui.session)
        tui_faults.at_quit(faults)
    return status


def _session(store: Store, faults: Faults, resume: str | None) -> Session:
    here = str(Path.cwd())
    if resume is None:
        return Session.new(store, here)
    tui_faults.before_paint("load", faults, resume)
    if faults.find("load", "other"):
        return Session.new(store, here)
    return Session.reopen(store, resume)


def _farewell(session: Session) -> None:
    session.close()
    sys.stdout.write(CLEAR_TITLE)
    if session.stored:
        sys.stdout.write(f"Continue with: hybridmux-demo tui --resume {session.id}\n")
    sys.stdout.flush()
