"""Options that several commands share, and the settings they make."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybridmux.settings import Settings


def add_settings(parser: argparse.ArgumentParser) -> None:
    """`--data` and `--config`."""
    parser.add_argument(
        "--data", metavar="DIR", help="data folder (default: the platform's, e.g. ~/.local/share/hybridmux)"
    )
    parser.add_argument("--config", metavar="FILE", type=Path, help="settings file (TOML); flags win over it")


def settings_of(args: argparse.Namespace) -> "Settings":
    """The settings of a command line; raises `ConfigError`."""
    from hybridmux.settings import load  # late: the keeper forks before anything heavy is imported

    flags = {name: getattr(args, name, None) for name in ("data", "host", "port", "insecure_no_tls")}
    return load(args.config, **flags)
