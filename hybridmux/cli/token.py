"""`hybridmux token`: prints the server's token, or makes a new one."""

import argparse
from typing import Any

from hybridmux.cli.options import add_settings, settings_of


def add_to(commands: Any) -> None:
    """Adds the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "token",
        help="print the server's token",
        description="Prints the token of the server with this data folder. With --rotate a new one is made: "
        "cookies and programs with the old one are refused from the server's next start on.",
    )
    parser.add_argument("--rotate", action="store_true", help="make a new token first")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints it."""
    from hybridmux.settings import data_folder
    from hybridmux.store import folder

    path = data_folder(settings_of(args))
    print(folder.rotate(path) if args.rotate else folder.token(path))
    return 0
