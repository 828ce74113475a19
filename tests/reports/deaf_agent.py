"""A connector that lets go of its input: `python deaf_agent.py FILE PROGRAM [ARGUMENT…]`.

It passes everything on to the program, an ACP agent, until FILE is there and a prompt comes: of that it reads
the beginning and closes its stdin, so that the writer has not got rid of the rest. FILE is deleted then. What
it does next is in the file: `stay` (it lives on and says nothing) or `leave`.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

PIECE = 1024
"""Bytes read at once: less than a large prompt has."""


def main(file: Path, program: list[str]) -> None:
    """Until the end of the input."""
    with subprocess.Popen(program, stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        while data := os.read(0, PIECE):
            if b'"session/prompt"' in data and file.exists():
                what = file.read_text()
                file.unlink()
                os.close(0)
                time.sleep(3600 if what == "stay" else 0)
                child.kill()
                return
            child.stdin.write(data)
            child.stdin.flush()
        child.stdin.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
