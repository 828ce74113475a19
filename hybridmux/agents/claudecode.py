"""Claude Code: reports, title or screen for the turn, a process registry for identity, a connector for chat.

Tried with claude 2.1.332 and claude-agent-acp 0.101.0. There is no lock: with two writers the history forks
and turns are lost, so the other side only starts when this one is proved gone. Others: `claude_registry`.
"""

import re

from hybridmux.agents.evidence import REPORTS, below, observing, rule
from hybridmux.agents.farewell import UUID, farewell
from hybridmux.agents.launch import Launch
from hybridmux.agents.options import ArgRules, Option, named, words
from hybridmux.agents.profile import Press, Profile
from hybridmux.agents.versions import Verified, node
from hybridmux.wire.types import ConnectorInfo

_SESSION = Option(refuse="session_arg")
_SESSION_VALUE = Option(takes="one", refuse="session_arg")
_SESSION_MAYBE = Option(takes="maybe", refuse="session_arg")
_ELSEWHERE = Option(takes="maybe", refuse="session_store")
_PRINTING = Option(refuse="non_interactive")
_PRINTING_VALUE = Option(takes="one", refuse="non_interactive")
_VALUE = Option(takes="one")
_LIST = Option(takes="many")

OPTIONS = {
    **named("-c --continue --fork-session", _SESSION),
    **named("--session-id", _SESSION_VALUE),
    **named("-r --resume --from-pr --teleport", _SESSION_MAYBE),
    # The conversation is not in this machine's store, or in none.
    **named("--cloud", _ELSEWHERE),
    **named("--environment", Option(takes="one", refuse="session_store")),
    **named("--no-session-persistence", Option(refuse="session_store")),
    **named("-w --worktree", Option(takes="maybe", refuse="directory_arg")),
    # Another program takes over, or another screen is drawn.
    **named("--desktop --ax-screen-reader --tmux", Option(refuse="unsupported_form")),
    **named("-p --print --bg --background -h --help -v --version", _PRINTING),
    **named("--forward-subagent-text --include-hook-events --include-partial-messages", _PRINTING),
    **named("--replay-user-messages", _PRINTING),
    **named("--input-format --output-format --json-schema --max-budget-usd", _PRINTING_VALUE),
    **named("--permission-prompts", _PRINTING_VALUE),
    **named("--model --effort --permission-mode --fallback-model --agent --agents --settings", _VALUE),
    **named("--setting-sources --autocompact --plugin-dir --plugin-url --debug-file -n --name", _VALUE),
    **named("--system-prompt --append-system-prompt --system-prompt-snapshot", _VALUE),
    **named("--system-prompt-file --append-system-prompt-file", _VALUE),
    **named("--remote-control-session-name-prefix --teammate-mode", _VALUE),
    **named("--add-dir --allowedTools --allowed-tools --disallowedTools --disallowed-tools --tools", _LIST),
    **named("--betas --mcp-config --channels", _LIST),
    **named("--file", Option(takes="many", resume=False)),
    **named("-d --debug --remote-control --rc", Option(takes="maybe")),
    **named("--prompt-suggestions", Option(takes="maybe", chat="moot")),
    **named("--verbose", Option(chat="moot")),
    **named("--allow-dangerously-skip-permissions --dangerously-skip-permissions --restricted", Option()),
    **named("--bare --brief --chrome --no-chrome --ide --safe-mode --strict-mcp-config", Option()),
    **named("--disable-slash-commands --exclude-dynamic-system-prompt-sections", Option()),
}
_SUBCOMMANDS = words(
    "agents auth auto-mode doctor gateway import install logs mcp plugin plugins purge rm "
    "setup-token stop kill ultrareview update upgrade"
)

RULES = (
    *REPORTS,
    rule("dialog", "foot", r"\b(?:Esc to cancel|Enter to confirm)\b[^\n]*\Z", "asking"),
    rule("title-running", "title", r"^[◐◓◑◒] ", "running"),
    rule("footer-running", "foot", below("─{10}", no_more="─{10}") + r"\besc to interrupt\b", "running"),
    rule("title-idle", "title", r"^✳ ", "idle", also=r"^\s*❯"),
    # A composer under a title that we cannot read: it takes input, and that is all we know.
    rule("composer", "foot", r"^\s*❯", "unknown"),
)

_AGAIN = re.compile(r"Press Ctrl-C again to exit")
_ESC = (Press(b"\x1b"),)


def _acp(_: Launch) -> tuple[str, ...]:
    return ("claude-agent-acp",)


PROFILE = Profile(
    name="claudecode",
    title="Claude Code",
    args=ArgRules(
        executables=frozenset({"claude", "claude.exe"}),
        engines=frozenset({"node", "nodejs"}),
        script=re.compile(
            r"(?:^|/)claude(?:\.js)?$|/@anthropic-ai/claude-code/(?:cli\.js|cli-wrapper\.cjs)$"
        ),
        packages=frozenset({"@anthropic-ai/claude-code"}),
        options=OPTIONS,
        subcommands=_SUBCOMMANDS,
        refused_words={"attach": "session_arg", "respawn": "session_arg"},
        prompts=1,
    ),
    acp_argv=_acp,
    resume_args=lambda session_id: ("--resume", session_id),
    connector=ConnectorInfo(
        executable="claude-agent-acp",
        title="Claude Agent ACP",
        install_command="npm install -g @agentclientprotocol/claude-agent-acp",
        docs_url="https://github.com/agentclientprotocol/claude-agent-acp#readme",
    ),
    program_variable="CLAUDE_CODE_EXECUTABLE",
    verified=(
        Verified(name="claude", version="2.1.332", of="program"),
        Verified(name="claude-agent-acp", version="0.101.0", of="connector"),
    ),
    engines=(node("program", "22"), node("connector", "22")),
    observe=observing(RULES),
    answer_osc7501=True,
    interrupt=_ESC,
    suspends=True,
    dismiss=_ESC,
    # The second within half a second of the first; one alone only asks for it, and clears a draft.
    quit=(Press(b"\x03", pause=0.3, until=_AGAIN), Press(b"\x03")),
    quit_command=(Press(b"/exit", pause=0.2), Press(b"\r")),
    # With the flags of its start where they fit; the program's word may be another (a launcher's), and a
    # variable may stand before it.
    farewell=farewell(rf"Resume this session with:\n(?:\w+=\w+ )?[\w-]+(?: .+)? (?:--resume|-r) {UUID}"),
    identity="list",
    evidence="registry",
    quiet=0.5,
    force_note="Cancelling ends the current turn only: background shells and subtasks may go on. "
    "Forcing ends the program and waits for everything it started; programs that made themselves daemons "
    "are not guaranteed to end.",
    reopens_unprompted=False,
    reapply=("model", "effort"),
    hidden_commands=frozenset({"login", "logout"}),
    leaving_commands=frozenset({"clear", "new", "reset"}),
    steering=True,
    steering_idle="promptRequired",
)
