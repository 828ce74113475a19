"""codex: state reports for the turn, writer locks for identity, a connector for chat.

Tried with codex-cli 0.171.0 and codex-acp 2.6.0. Left alone it keeps conversations in a background server
that outlives the TUI and holds them for a minute; every start of ours is kept apart from it.
"""

import re

from hybridmux.agents.evidence import REPORTS, observing, rule, trouble
from hybridmux.agents.farewell import UUID, farewell
from hybridmux.agents.launch import Launch
from hybridmux.agents.options import ArgRules, Option, named, words
from hybridmux.agents.profile import Press, Profile
from hybridmux.agents.shared_server import SharedServer
from hybridmux.agents.versions import Verified, node
from hybridmux.wire.types import ConnectorInfo

_VALUE = Option(takes="one")
_ONCE = Option(refuse="non_interactive")
_ELSEWHERE = Option(takes="one", refuse="session_store")
_STORE = re.compile(r"""\s*["']?sqlite_home["']?\s*=""")
"""Version 0.171.0 does not take a name in quotes for the setting; another may."""

OPTIONS = {
    # Settings that move the store are refused, all others kept.
    **named("-c --config", Option(takes="one", refuse="session_store", refuse_value=_STORE)),
    **named("--remote --remote-auth-token-env", _ELSEWHERE),
    **named("-C --cd", Option(takes="one", refuse="directory_arg")),
    **named("--worktree", Option(refuse="directory_arg")),
    **named("-i --image", Option(takes="many", resume=False)),
    **named("--enable --disable -m --model --local-provider -p --profile -s --sandbox --add-dir", _VALUE),
    **named("-a --ask-for-approval", _VALUE),
    **named("--strict-config --oss --approve-for-me --not-so-yolo --search", Option()),
    **named("--dangerously-bypass-approvals-and-sandbox --yolo --dangerously-bypass-hook-trust", Option()),
    **named("--no-alt-screen --no-daemon", Option(chat="moot")),
    **named("-h --help -V --version", _ONCE),
}
_SUBCOMMANDS = words(
    "exec e review login logout mcp plugin app-server remote-control completion update doctor "
    "sandbox debug apply a queue archive delete migrate-rollouts migrate-nfs-db unarchive cloud "
    "exec-server features help"
)

RULES = (
    # Under the history that it has read already, and it reports that it is idle: what tells is that it holds
    # no lock (`Look.starting`).
    trouble(
        "locked",
        r"^ *\U0001f512 +This conversation is open in another app\b",
        also=r"^ *r retry +f fork\b[^\n]*\Z",
        occupied=True,
    ),
    trouble(
        "server-mismatch",
        r"^ *Background server has incompatible feature settings\b",
        also=r"^[ \u203a]*1\. Run without daemon this time\b",
    ),
    *REPORTS,
    # For versions without reports. No title mark means idle only to a title we know to carry marks.
    rule("title-asking", "title", r"^\[ [!.] \] Action Required", "asking"),
    rule("title-running", "title", r"^[⠁-⣿] ", "running"),
    rule("dialog", "foot", r"^ *Press enter to confirm or esc to cancel\b[^\n]*\Z", "asking"),
    rule("composer", "foot", r"^\s*\u203a", "unknown"),
)

_EDIT = re.compile(r"esc again to edit")
_EDIT_IN_TURN = re.compile(r"\A(?>(?s:.*?)esc to interrupt)(?s:.*)esc again to edit")

# It reports a turn a moment before it counts it as running. An Esc between offers to edit the last message;
# a second one does that, unless the turn counts by then: that one interrupts.
_INTERRUPT = (
    Press(b"\x1b", pause=1.0, until=_EDIT_IN_TURN, unless_idle=True),
    Press(b"\x1b", only_if=_EDIT, unless_idle=True),
)


def _acp(_: Launch) -> tuple[str, ...]:
    return ("codex-acp",)


PROFILE = Profile(
    name="codex",
    title="Codex",
    args=ArgRules(
        executables=frozenset({"codex"}),
        engines=frozenset({"node", "nodejs"}),
        script=re.compile(r"(?:^|/)codex(?:\.js)?$"),
        packages=frozenset({"@openai/codex"}),
        options=OPTIONS,
        resume_leading=("resume",),
        subcommands=_SUBCOMMANDS,
        # `agents` is a screen of its own, from which any session can be opened.
        refused_words={"resume": "session_arg", "fork": "session_arg", "agents": "unsupported_form"},
        prompts=1,
    ),
    acp_argv=_acp,
    resume_args=lambda session_id: (session_id,),
    connector=ConnectorInfo(
        executable="codex-acp",
        title="Codex ACP",
        install_command="npm install -g @agentclientprotocol/codex-acp",
        docs_url="https://github.com/agentclientprotocol/codex-acp#readme",
    ),
    program_variable="CODEX_PATH",
    shared_server=SharedServer(
        avoid="--no-daemon",
        mentioned=re.compile(r"app-server[ -]daemon|background server"),
        reason="this version of codex may keep the conversation in a background server after its terminal "
        "has ended, and it has no --no-daemon; a newer codex has",
    ),
    verified=(
        Verified(name="Codex CLI", version="0.171.0", of="program"),
        Verified(name="codex-acp", version="2.6.0", of="connector"),
    ),
    engines=(node("program", "16"), node("connector")),
    observe=observing(RULES),
    # What is typed before that, as its size changes, may stay unread until the next key.
    reports=True,
    # It comes back at once by itself, but what is typed meanwhile is lost.
    suspends=True,
    interrupt=_INTERRUPT,
    dismiss=(Press(b"\x1b"),),
    # One only: the next would meet a terminal that is restored already, and end it by a signal.
    quit=(Press(b"\x03"),),
    quit_command=(Press(b"/quit", pause=0.2), Press(b"\r")),
    farewell=farewell(rf"(?: *codex(?>(?: .+?)?? resume(?= ))(?: .+)?|Session ID:) {UUID}"),
    identity="list",
    evidence="locks",
    quiet=0.5,
    reopens_unprompted=False,
    reapply=("mode",),
    steering=True,
    steering_idle="promptRequired",
)
