"""`hybridmux-demo`: the demo agent's command line."""

import os
import sys
from collections.abc import Sequence
from typing import Any

from hybridmux.agents.demo.faults import BadFault, Faults
from hybridmux.agents.demo.store import NoSuchSession, Store


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; answers the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["acp"]:
        return _acp()  # what clients start: without waiting for argparse
    options = _parser().parse_args(words)
    match options.command:
        case "tui":
            return _tui(options.resume)
        case "acp":
            return _acp()
        case "sessions":
            return _sessions(as_json=options.json)
    return _show(options.session, as_json=options.json)


def _parser() -> Any:
    import argparse

    parser = argparse.ArgumentParser(
        prog="hybridmux-demo",
        description="A demo coding agent: a terminal UI and an ACP agent over one store.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    tui = commands.add_parser("tui", help="the terminal UI")
    tui.add_argument("--resume", metavar="ID", help="go on with this session")
    commands.add_parser("acp", help="the Agent Client Protocol over stdin and stdout")
    sessions = commands.add_parser("sessions", help="list the stored sessions, newest first")
    sessions.add_argument("--json", action="store_true")
    show = commands.add_parser("show", help="print one conversation")
    show.add_argument("session", metavar="ID")
    show.add_argument("--json", action="store_true")
    return parser


def _faults(side: str) -> Faults:
    try:
        return Faults.from_environment(side, os.environ)
    except BadFault as problem:
        sys.exit(str(problem))


def _acp() -> int:
    from hybridmux.agents.demo import acp

    acp.main(Store.default(), _faults("acp"))


def _tui(resume: str | None) -> int:
    from hybridmux.agents.demo import tui_start

    status = tui_start.main(Store.default(), _faults("tui"), resume)
    sys.stdout.flush()
    os._exit(status)  # the interpreter's own tidying would hold up whoever waits for the end


def _sessions(*, as_json: bool) -> int:
    import json

    store = Store.default()
    found = store.summaries()
    if as_json:
        keys = ("id", "cwd", "title", "createdAt", "updatedAt")
        items = [dict(zip(keys, s[:5], strict=True)) | {"open": store.in_use(s.id)} for s in found]
        sys.stdout.write(json.dumps(items, indent=2) + "\n")
        return 0
    for summary in found:
        sys.stdout.write(f"{summary.id}  {summary.updated_at}  {summary.title or '(empty)'}  {summary.cwd}\n")
    return 0


def _show(session: str, *, as_json: bool) -> int:
    import json

    from hybridmux.agents.demo import printing

    try:
        talk = Store.default().read(session)
    except NoSuchSession:
        sys.stderr.write(f"No such session: {session}\n")
        return 1
    sys.stdout.write(
        json.dumps(printing.as_dict(talk), indent=2) + "\n" if as_json else printing.as_text(talk)
    )
    return 0
