"""`python -m hybridmux.agents.demo`: the same as `hybridmux-demo`."""

import sys

from hybridmux.agents.demo.cli import main

sys.exit(main())
