"""The `hybridmux` command. Each subcommand is a module; nothing heavy is imported before it is chosen."""

import argparse
import io
import sys
from collections.abc import Sequence

from hybridmux import __version__
from hybridmux.cli import doctor, serve, token

EPILOG = """\
a first try:
  hybridmux serve                     start the server; open the URL it prints
  hybridmux serve --port 0            the same on any free port
  hybridmux doctor                    which agents are found, what is amiss, what to do
  hybridmux token                     print the server's token (for programs: Authorization: Bearer …)

The server listens on 127.0.0.1 and keeps its files (token, records, launch configs) in the data folder.
SIGINT or SIGTERM stops it: sessions end in order and can be resumed at the next start.
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="hybridmux",
        description="Keeps one coding-agent conversation reachable: in the agent's own terminal UI and in a "
        "chat, from a browser, over HTTP and WebSocket, under one id.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"hybridmux {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (serve, doctor, token):
        module.add_to(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; errors a person can act on are one sentence on stderr and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # else there is none
        # Help and file names may hold what the locale has no bytes for. (Standard error is so already.)
        sys.stdout.reconfigure(errors="backslashreplace")
    args = parser().parse_args(argv)
    # Late, so that `--help` stays fast: the errors module pulls in nothing else.
    from hybridmux.errors import ConfigError

    try:
        result: int = args.run(args)
    except ConfigError as exc:
        print(f"hybridmux: {exc}", file=sys.stderr)
        return 2
    return result
