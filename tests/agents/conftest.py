"""Real agents are tested only inside the sandbox: `scripts/agents test` (docs/agents.md)."""

import os

if "HYBRIDMUX_SANDBOX" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
