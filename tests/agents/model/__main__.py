"""Runs the server; says on stdout when it listens."""

import argparse

from tests.agents.model.server import ModelServer

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=8099)
server = ModelServer(("127.0.0.1", parser.parse_args().port))
print(f"fake model: http://127.0.0.1:{server.server_port}/v1", flush=True)
server.serve_forever()
