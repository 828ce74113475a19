"""python -m tests.agents.model [--port N] [--log FILE]: prints its URL when it answers; serves until killed."""

import argparse
from pathlib import Path

from tests.agents.model.server import ModelServer


def main() -> None:
    """Serves."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.agents.model", description="The fake model server."
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    parser.add_argument("--log", type=Path, help="file for a line of JSON for each request")
    args = parser.parse_args()
    with ModelServer(args.port, args.log) as server:
        print(f"http://127.0.0.1:{server.port}/v1", flush=True)
        server.serve_forever()


main()
