"""Times and sizes of the demo agent; seconds and bytes unless a name says otherwise."""

NAME = "hybridmux-demo"

WORD_PAUSE = 0.008
"""Between two streamed chunks of an ordinary answer."""
STREAM_CHUNKS = 120
"""The most chunks an ordinary answer is cut into, so that a long echo still ends within a second."""
TICK = 0.2
"""Between two chunks of `slow N`."""
PLAN_PAUSE = 0.15
TITLE_CHARS = 60
LIST_PAGE = 25
"""Sessions in one answer of `session/list`."""
OUTPUT_BYTES = 64 * 1024
"""The most output of a command that is kept."""
OUTPUT_DRAIN = 0.2
"""How long to wait for a command's last output after it ended: a grandchild may hold the pipe open."""
OUTPUT_PAUSE = 0.1
"""Between two updates with new output."""
FLOOD_BYTES = 64
"""One update of `flood N`, about."""
FLOOD_BATCH = 64
"""Updates between two chances for other tasks to run."""
STDOUT_HIGH = 1024 * 1024
"""Bytes not yet written to a client above which a turn waits."""
FLUSH_WAIT = 0.05
"""At the end of the ACP process: how long a client may take for the last bytes."""
SLOW_FAULT = 2.0
STDERR_FLOOD = 5 * 1024 * 1024
BIG_LINE_MIB = 64
CONTEXT_TOKENS = 200_000
QUIT_WAIT = 1.0
"""How long the TUI waits for an interrupted turn when it quits."""
KEY_PAUSE = 0.05
"""How long the TUI waits after an Esc for the rest of a key sequence."""

EXIT_CRASH = 70
EXIT_FAULT = 71
