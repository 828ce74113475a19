"""`hybridmux serve`: the server, below its keeper."""

import argparse
from typing import Any

from hybridmux.cli.options import add_settings, settings_of

DESCRIPTION = """\
Starts the server and prints one line with its URL when it answers. The URL's fragment holds the token: a
browser that opens it is logged in. Exit code 0 after a clean stop, 2 when a setting, the port or the data
folder cannot be used.
"""


def add_to(commands: Any) -> None:
    """Adds the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "serve", help="start the server", description=DESCRIPTION
    )
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on, 0 for a free one (default: 8787)")
    parser.add_argument(
        "--insecure-no-tls", action="store_true", default=None,
        help="allow an address beyond loopback without TLS",
    )  # fmt: skip
    add_settings(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Forks the keeper first: a small process, before anything heavy is imported."""
    from hybridmux.proc.keeper import run_under_keeper

    run_under_keeper(lambda: _serve(args))
    raise AssertionError("the keeper returns in no process")


def _serve(args: argparse.Namespace) -> int:
    import logging
    import sys

    from hybridmux.errors import ConfigError

    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    code = 0
    try:
        settings = settings_of(args)
        import trio

        from hybridmux import serve
        from hybridmux.proc.signals import heed_ignored

        heed_ignored()
        trio.run(serve.announced, settings)
    except* ConfigError as group:
        exc: BaseException = group
        while isinstance(exc, BaseExceptionGroup):
            exc = exc.exceptions[0]
        print(f"hybridmux: {exc}", file=sys.stderr)
        code = 2
    return code
