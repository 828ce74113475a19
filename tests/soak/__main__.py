"""`scripts/soak`."""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import trio

from tests.soak.run import Options, fresh_seed, soak


def main() -> int:
    """Runs a soak and prints its figures; 1 if something broke."""
    parser = argparse.ArgumentParser(prog="scripts/soak", description="Random operations over a real server.")
    parser.add_argument("--switches", type=int, default=1000)
    parser.add_argument("--faults", action="store_true", help="the demo agent goes wrong at random")
    parser.add_argument("--seed", type=int, help="repeat a run (timing aside); random by default")
    parser.add_argument("--sessions", type=int, default=3, help="how many side by side")
    given = parser.parse_args()
    seed = fresh_seed() if given.seed is None else given.seed
    options = Options(switches=given.switches, seed=seed, faults=given.faults, sessions=given.sessions)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        figures = trio.run(partial(soak, Path(folder), options))
    print(figures.report())
    return 1 if figures.broken else 0


sys.exit(main())
