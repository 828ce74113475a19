"""opencode: screen rules for the turn, `session/list` and the farewell line for identity.

Measured with opencode-ai 1.18.33: it has no process registry, no lock and sends no state reports. It leaves
18 MB in the temp folder at each start, so each start gets its own.
"""

import re

from hybridmux.agents.launch import ArgRules, Launch, Option
from hybridmux.agents.profile import Look, Press, Profile, TuiState

_READY = re.compile(r"ctrl\+p commands|esc (again to )?interrupt")
_RUNNING = re.compile(r"esc (again to )?interrupt")
_AGAIN = re.compile(r"esc again to interrupt")
_CALM = re.compile(r"\A(?!.*esc (again to )?interrupt)", re.DOTALL)
_ASKING = re.compile(r"Permission required")
_FAREWELL = re.compile(r"opencode -s (ses_\w+)")
_TROUBLE = re.compile(r"^.*Error: Session not found.*$", re.MULTILINE)


def observe(look: Look) -> TuiState:
    """Reads the screen; before the first full paint nothing is known."""
    trouble = _TROUBLE.search(look.screen)
    if trouble:
        return TuiState(trouble=trouble[0].strip())
    if _ASKING.search(look.screen):
        return TuiState(turn="asking", ready=True)
    if _RUNNING.search(look.screen):
        return TuiState(turn="running", ready=True)
    if _READY.search(look.screen):
        return TuiState(turn="idle", ready=True)
    return TuiState()


def farewell(text: str) -> str | None:
    """The id in the `Continue  opencode -s …` line."""
    found = _FAREWELL.findall(text)
    return found[-1] if found else None


_SESSION = Option(value=True, refuse="session_arg")
_VALUE = Option(value=True)
_ONCE = Option(refuse="non_interactive")
_OTHER_SCREEN = Option(refuse="unsupported_form")
_OPTIONS = {
    "-s": _SESSION,
    "--session": _SESSION,
    "-c": Option(refuse="session_arg"),
    "--continue": Option(refuse="session_arg"),
    "--fork": Option(refuse="session_arg"),
    "-m": _VALUE,
    "--model": _VALUE,
    "--agent": _VALUE,
    "--auto": Option(),
    "--prompt": Option(value=True, resume=False),
    "--log-level": _VALUE,
    "--print-logs": Option(),
    "--pure": Option(),
    "--port": _VALUE,
    "--hostname": _VALUE,
    "--mdns": Option(),
    "--mdns-domain": _VALUE,
    "--cors": _VALUE,
    # The minimal interface draws another screen, which `observe` cannot read.
    "--mini": _OTHER_SCREEN,
    "--no-replay": _OTHER_SCREEN,
    "--replay-limit": Option(value=True, refuse="unsupported_form"),
    "-h": _ONCE,
    "--help": _ONCE,
    "-v": _ONCE,
    "--version": _ONCE,
}
_CHAT_KEEPS = frozenset(
    {"--log-level", "--print-logs", "--pure", "--port", "--hostname", "--mdns", "--mdns-domain", "--cors"}
)
"""What `opencode acp` has too."""


def _acp(launch: Launch) -> tuple[str, ...]:
    kept: list[str] = []
    rest = list(launch.args)
    while rest:
        word = rest.pop(0)
        name, _, inline = word.partition("=")
        group = [word, rest.pop(0)] if _OPTIONS[name].value and not inline else [word]
        kept += group if name in _CHAT_KEEPS else []
    return (launch.program, "acp", *kept)


# It wants a second Esc within 5 s, but not in the same read. The timers of those 5 s are never stopped: the
# keys of an earlier interrupt can end this one's count between its two. Then the screen goes on offering Esc,
# and we press again as long as it does; an Esc too many does nothing.
_INTERRUPT = (
    Press(b"\x1b", pause=2.0, until=_AGAIN),
    Press(b"\x1b", pause=1.5, until=_CALM),
    Press(b"\x1b", pause=1.5, until=_CALM, only_if=_RUNNING),
    Press(b"\x1b", only_if=_RUNNING),
)

PROFILE = Profile(
    name="opencode",
    title="OpenCode",
    args=ArgRules(
        executables=frozenset({"opencode"}),
        options=_OPTIONS,
        subcommands=frozenset(
            {
                "acp",
                "agent",
                "attach",
                "auth",
                "completion",
                "db",
                "debug",
                "export",
                "github",
                "import",
                "mcp",
                "models",
                "plug",
                "plugin",
                "pr",
                "providers",
                "run",
                "serve",
                "session",
                "stats",
                "uninstall",
                "upgrade",
                "web",
            }
        ),
        positional="directory_arg",
        chat_keeps=_CHAT_KEEPS,
    ),
    acp_argv=_acp,
    resume_args=lambda session_id: ("--session", session_id),
    observe=observe,
    interrupt=_INTERRUPT,
    dismiss=(Press(b"\x1b"),),
    quit=(Press(b"\x03"),),
    farewell=farewell,
    identity="list",
    own_temp=True,
    quiet=0.5,
)
