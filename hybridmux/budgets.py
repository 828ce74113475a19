"""Every deadline and limit of the program, with its unit in the name or beside it.

Modules read them as attributes of a `Budgets` object that the composition root hands down, so that a test
can run the real code over real processes with short deadlines. Pure size limits that no person would want
to configure are module constants below.
"""

from attrs import frozen

KIB = 1024
MIB = 1024 * KIB


@frozen(kw_only=True)
class Budgets:
    """Deadlines in seconds and buffer sizes in bytes; page 02 of the design gives the defaults."""

    # Operation phases.
    precheck: float = 45.0
    interrupting: float = 10.0
    choice: float = 300.0
    cancelling: float = 10.0
    stopping_step: float = 5.0
    """One step of the ladder: quit keys or closed stdin, then SIGTERM, then SIGKILL."""
    starting: float = 30.0
    loading_idle: float = 60.0
    """Without any progress; each replayed update is progress."""
    loading_total: float = 600.0
    retry: float = 15.0
    """How long a history that lags, or a refusal by an active writer, is tried again before it counts."""
    rolling_back: float = 90.0
    shutdown_grace: float = 10.0
    catch_up: float = 5.0
    """Between two tries to put on disk what could not be written."""

    evidence_beat: float = 2.0
    """Between two looks at what an agent's files say, where nothing else calls for one."""

    # Agent calls outside an operation.
    rpc: float = 30.0
    prompt_ack: float = 1.5
    """How long a POST of a prompt waits for a write to the agent to go through before it answers."""

    # Streams.
    scrollback_bytes: int = 2 * MIB
    chat_log_bytes: int = 16 * MIB
    viewer_stall: float = 10.0
    viewer_window: int = 1 * MIB
    """`flow=ack`: the most bytes sent and not yet acknowledged."""
    pace_patience: float = 1.0
    """How long the PTY reader waits for the fastest viewer before that viewer counts as stalled."""
    input_stall: float = 10.0
    """How long typed input may wait for a program that does not read it."""


# Terminal stream.
PTY_READ = 64 * KIB
VIEWER_PIECE = 64 * KIB
ACK_EVERY = 256 * KIB
PACE_LEAD = 512 * KIB
"""How far the PTY reader may be ahead of the fastest viewer; well below `scrollback_bytes`."""
COALESCE_PAUSE = 0.004
"""Seconds a viewer's loop rests after a piece ≥ `COALESCE_FROM`, unless `COALESCE_UNTIL` bytes wait."""
COALESCE_FROM = 1 * KIB
COALESCE_UNTIL = 16 * KIB
SIZE_MIN, SIZE_MAX = 2, 1000
"""Columns and rows are clamped to this range."""
TITLE_CHARS = 512
OSC_BYTES = 64 * KIB
"""The longest OSC, DCS or APC string we follow; a longer one is passed on and not interpreted."""
PRIVATE_BYTES = 4 * KIB
"""The longest agent state report that is kept from viewers; a longer one is passed on as it is."""
ANSWER_GRACE, ANSWER_LATE = 0.5, 2.0
"""Seconds in which a viewer's terminal may answer where the cursor is before we do, and after which an answer
is no late one any more."""
SAFE_GRID = 4 * KIB
"""One safe position to start reading from is remembered for each so many bytes."""
DRAIN_BYTES = 256 * KIB
"""The most that is read in one go when the program has exited; more than a PTY can hold."""
SCREEN_AHEAD = 64 * KIB
"""Output not yet drawn on the screen model at which it is caught up unasked."""
SCREEN_BEHIND = 1 * MIB
"""Output not yet drawn beyond which the screen model skips to what is near the end."""
SCREEN_NEAR = 32 * KIB
"""What is drawn of a flood that the model has skipped anyway."""
SCREEN_PAUSE = 0.05
"""Seconds the screen model waits before it catches up unasked: time for a flood to show."""
SCREEN_REST = 3.0
"""Catching up unasked rests so many times as long as it works: a quarter of a core at most."""
SCREEN_SLICE = 4 * KIB
"""Bytes the screen model draws between two checkpoints, if they are not so much work that it stops before."""
SCREEN_WORK = 16 * KIB
"""What it does between two checkpoints; 1 is one cell drawn, a sequence costs 16 and more."""
SCREEN_AT_ONCE = 4 * MIB
"""What it does when somebody cannot wait, before it skips to what is near the end: four times what as much
ordinary text as it may be behind takes."""
SCREEN_LEFT_OUT = 4 * KIB
"""Sequences that set modes which it takes, at most, from what it leaves out."""
OPENING_WAIT = 1.0
"""Seconds in which the screen model catches up in slices for who joins late and is told the modes."""
REPAINT_PAUSE = 0.25
"""Seconds a program sees another size, so that it draws everything again; programs wait a moment for a window
that is being dragged."""
REPAINT_REST = 3.0
"""Seconds between two such times."""
INPUT_FRAME = 1 * MIB

# ACP.
ACP_LINE = 64 * MIB
ACP_BATCH = 64
"""Lines handled between two checkpoints."""
GLUED_BYTES = 64 * KIB
"""How far into an agent's first line its first message is looked for, behind what a start file printed."""
GLUED_TRIES = 4
"""Places on that line where a message might begin that are tried."""
ACP_OPEN_REQUESTS = 256
"""Requests of one agent that may wait for an answer at once; one more is refused."""
EARLY_UPDATES = 16
"""Updates that are kept while an agent has not said yet which session it has begun."""
EXIT_GRACE = 1.0
"""Seconds between the end of a connector and the end of its output, or the other way round."""
STDERR_TAIL = 64
"""Lines of a connector's stderr that are kept, each cut at `STDERR_LINE` characters."""
STDERR_LINE = 2000
LIST_PAGES = 1000

# Questions to installed programs (`--version`, `--help`).
ASK_SECONDS = 5.0
ASK_STEP = 1.0
"""Seconds for each step of ending one that does not end by itself."""
ASK_BYTES = 256 * KIB
"""Of its output; one that prints more is ended, and has given no answer."""
ANSWERS = 64
ANSWER_SECONDS = 600.0
"""How many answers are remembered, and how long: a version manager's file stays as it is when the version
behind it changes."""
ERROR_CHARS = 200
"""Of its last words."""
SHEBANG_BYTES = 256
PACKAGE_BYTES = 256 * KIB

# JSON of others.
JSON_DEPTH = 128
"""Levels of arrays and objects: from a client more is refused, from an agent it is left out."""

# Chat.
TEXT_FIELD = 256 * KIB
"""One text field, and all text of one message; more is cut and marked `truncated`."""
EVENT_TEXT = 1 * MIB
"""All text of one event."""
EVENT_NODES = 10_000
"""Values inside one event's JSON (a tool's input)."""
EVENT_DEPTH = 32
LIST_TEXT = 256 * KIB
"""All text of one list that the chat state shows whole: the plan, the commands, the config options."""
LIST_ITEMS = 500
"""Entries of a plan, commands, config options, values of one option, contents of one tool call."""
MESSAGES_TRACKED = 1024
"""Messages whose length is remembered, and tool calls that are known."""
TOOLS_TRACKED = 64
"""Tool calls whose streamed output is held (at most `TEXT_FIELD` each) to be added to."""
PROMPT_TEXT = 64 * KIB
HEARD_TEXTS, HEARD_CHARS = 200, 300
"""User messages, and characters of each, that are remembered to hold a replay against them."""
QUEUE_ITEMS = 100
PENDING_REQUESTS = 64
REQUESTS_BYTES = 1 * MIB
"""All requests of one agent that wait for a person, encoded; one more than fits is not shown."""
FORM_TEXT = 64 * KIB
FORM_NODES = 2000
"""Text and values of a form's schema; a larger one is not shown: cut short it would be answered wrongly."""
CANDIDATES = 20
HISTORY_IDS = 8

# HTTP.
BODY_BYTES = 1 * MIB
BODY_READ = 16 * MIB
"""The most that is read of a body to be able to refuse it in peace; a longer one is cut off."""
REQUEST_IDS = 256
REQUEST_ID_SECONDS = 30 * 60
LOGIN_FAILURES = 10
LOGIN_WINDOW = 60.0

# Store.
RECORDS = 200
STORE_FILE = 16 * MIB
STORE_FULL = 12 * MIB
"""No new record beyond this. A record may be some MiB (its command), and what is there may still change."""
NAME_CHARS = 200
