"""The command line behind `scripts/agents`."""

import argparse
import os
import sys
from pathlib import Path

from tests.agents.box.agent import AGENTS
from tests.agents.box.enter import CHECKOUT, Box
from tests.agents.box.install import cache_folder, install, recipe, say

GREETING = """\
In the sandbox: no network but 127.0.0.1, a throwaway HOME, the fake model at work. Ctrl-D leaves.
Try: opencode; opencode acp; hybridmux serve; cat /tmp/model.jsonl
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="scripts/agents", description="Real agents in a sandbox without a network."
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (
        ("install", _install, "install agents into the cache folder"),
        ("test", _test, "the round trip of the real agents through the real server"),
        ("shell", _shell, "look around in the sandbox"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        known = ", ".join(AGENTS)
        command.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {known} (default: all)")
        if name != "install":
            command.add_argument("--out", type=Path, help="a folder that stays: /out in the sandbox")
        if name == "test":
            command.add_argument(
                "--pytest", nargs=argparse.REMAINDER, default=[], help="arguments for pytest"
            )
    return top


def _install(args: argparse.Namespace) -> int:
    for name in args.agents:
        say(f"{name}: {install(recipe(name), cache_folder())}")
    return 0


def _box(args: argparse.Namespace) -> Box:
    folders = {name: install(recipe(name), cache_folder()) for name in args.agents}
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    return Box(agents=folders, out=args.out.resolve() if args.out else None)


def _shell(args: argparse.Namespace) -> int:
    box = _box(args)
    print(GREETING, end="", flush=True)
    return box.run(["bash", "-i"], term=os.environ.get("TERM", "xterm-256color"))


def _test(args: argparse.Namespace) -> int:
    base = "/out/pytest" if args.out else "/tmp/pytest"
    options = ["-p", "no:cacheprovider", f"--basetemp={base}", "--timeout=300", "-s"]
    return _box(args).run(["pytest", *options, str(CHECKOUT / "tests/agents/real"), *args.pytest])


def main() -> int:
    """Runs one command."""
    args = parser().parse_args()
    args.agents = args.agents or list(AGENTS)
    if unknown := set(args.agents) - AGENTS.keys():
        sys.exit(f"scripts/agents: no agent {', '.join(unknown)}; there are {', '.join(AGENTS)}")
    return int(args.run(args))


sys.exit(main())
