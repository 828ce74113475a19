"""`hybridmux doctor`: what is installed, what is amiss, and what to do about it."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hybridmux.cli.options import add_settings, settings_of

if TYPE_CHECKING:
    from hybridmux.agents.inventory import AgentReport, Found
    from hybridmux.cli.saved import ConfigReport
    from hybridmux.settings import Settings
    from hybridmux.store.health import Finding

DESCRIPTION = """\
Looks at the agents on this machine, the saved launch configs, the data folder and the address, and says in
a line each what to do. Programs are asked for their version and options only; no session is started and
nothing needs a network or a login.
Exit code 0: what is installed works. 1: something is wrong that a person must mend (lines with !!). 2: a
setting cannot be used. An agent that is not installed is no error.
"""
MARKS = {"ok": "ok", "note": "--", "wrong": "!!"}


def add_to(commands: Any) -> None:
    """Adds the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor", help="say which agents are found and what is amiss", description=DESCRIPTION
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument("--host", help="address that the server would listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port that the server would listen on (default: 8787)")
    add_settings(parser)
    parser.set_defaults(run=run, insecure_no_tls=True)  # it listens nowhere


class Report(NamedTuple):
    """All that was looked at."""

    agents: "list[AgentReport]"
    configs: "list[ConfigReport]"
    data: "list[Finding]"
    server: "list[Finding]"

    @property
    def good(self) -> bool:
        """Whether nothing needs a person."""
        troubles = [*(one.wrong for one in self.agents), *(one.wrong for one in self.configs)]
        return not any(troubles) and all(one.level != "wrong" for one in (*self.data, *self.server))


def run(args: argparse.Namespace) -> int:
    """Prints what was found."""
    import os

    import trio

    from hybridmux.agents.inventory import start_folder, take_inventory
    from hybridmux.agents.registry import BUILT_IN
    from hybridmux.cli.saved import hybrid_configs, look_at
    from hybridmux.settings import data_folder
    from hybridmux.store.health import look_over

    settings = settings_of(args)
    folder, environ = data_folder(settings), dict(os.environ)
    report = Report(
        trio.run(take_inventory, BUILT_IN, environ, start_folder()),
        trio.run(look_at, hybrid_configs(folder), environ),
        look_over(folder),
        [_address(settings, folder)],
    )
    if args.json:
        _print_json(report)
    else:
        print("\n".join(_lines(report)))
    return int(not report.good)


def _address(settings: "Settings", folder: Path) -> "Finding":
    """Whether the server could listen where it is told to, or does so already."""
    import errno

    from hybridmux.faces.http.transport import listen
    from hybridmux.proc.locks import listener, lock_holder
    from hybridmux.store.health import Finding

    where = f"{settings.host}:{settings.port}"
    holder = lock_holder(folder / "lock")
    running = f"a server runs on this data folder (pid {holder})" if holder else ""
    try:
        listen(settings.host, settings.port).close()
    except OSError as exc:
        if exc.errno != errno.EADDRINUSE:
            return Finding("wrong", f"cannot listen on {where}: {exc.strerror or exc}")
        other = listener(settings.port)
        if other and other.pid == holder:
            return Finding("ok", f"{where}: {running} and listens there")
        user = f"{other.name} (pid {other.pid})" if other else "another program"
        if running:
            return Finding("note", f"{where} is in use by {user}; {running} and listens elsewhere")
        return Finding("wrong", f"{where} is in use by {user}; end it or choose another --port")
    free = f"{where} is free" if settings.port else "any free port will be taken"
    return Finding(
        "note" if running else "ok", f"{free}; {running} and listens elsewhere" if running else free
    )


def _print_json(report: Report) -> None:
    import orjson

    from hybridmux import __version__
    from hybridmux.wire.convert import converter, encode

    value = {"version": __version__, "ok": report.good, **converter.unstructure(report._asdict())}
    # Bytes: JSON is UTF-8, whatever the locale says of text.
    sys.stdout.buffer.write(encode(value, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _lines(report: Report) -> Iterator[str]:
    from hybridmux import __version__

    yield f"hybridmux {__version__}"
    yield "\nAgents"
    for agent in report.agents:
        yield from _agent(agent)
    if report.configs:
        yield "\nLaunch configs"
    for config in report.configs:
        yield from _config(config)
    for title, findings in (("Data folder", report.data), ("Address", report.server)):
        yield f"\n{title}"
        yield from (f"  {MARKS[one.level]} {one.text}" for one in findings)
    yield "\nNothing is wrong." if report.good else "\nThe lines with !! need you."


def _config(config: "ConfigReport") -> Iterator[str]:
    mark, state = "ok", "can be started"
    if config.wrong:
        mark, state = "!!", "cannot be used as it is"
    elif config.notes:
        mark, state = "--", "terminal only"
    name = "".join(char if char.isprintable() else "?" for char in config.name)
    yield f"  {mark} {name}: {state}"
    yield from (f"     !! {text}" for text in config.wrong)
    yield from (f"     -- {text}" for text in config.notes)


def _agent(agent: "AgentReport") -> Iterator[str]:
    mark, state = "ok", "works"
    if agent.wrong:
        mark, state = "!!", "something is wrong"
    elif agent.missing:
        mark, state = "--", "not installed"
    elif agent.terminal_only:
        mark, state = "--", "terminal only, its connector is not installed"
    yield f"  {mark} {agent.title}: {state}"
    if not agent.missing:
        yield from (f"       {_found(one)}" for one in agent.programs)
    yield from (f"     !! {text}" for text in agent.wrong)
    yield from (f"     -- {text}" for text in agent.notes)


def _found(one: "Found") -> str:
    if one.path is None:
        return f"{one.name}: not found"
    unknown = "(version unknown)" if one.verified else ""
    return " ".join(filter(None, [one.name, one.version or unknown, one.path]))
