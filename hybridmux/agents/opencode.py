"""opencode: screen rules for the turn, `session/list` and the farewell line for identity.

Measured with opencode-ai 1.18.33: it has no process registry, no lock and sends no state reports. It leaves
18 MB in the temp folder at each start, so each start gets its own.
"""

import re

from hybridmux.agents.evidence import below, observing, rule
from hybridmux.agents.farewell import farewell
from hybridmux.agents.launch import Launch
from hybridmux.agents.options import ArgRules, Option, named, words
from hybridmux.agents.profile import Press, Profile
from hybridmux.agents.versions import Verified

# Below the composer's edge, unless more of a box follows: a dialog stands in the composer's place. Where no
# edge is drawn, the last line. Narrow terminals break the footer between words; wide ones have a sidebar.
_LAST = r"\A(?>(?s:.*)^(?=.*\S))"
_FOOTER = rf"(?:{below(' *╹▀', no_more=' *[┃╹]')}|{_LAST}(?! *[┃╹]).*?)"
_RUNNING = _FOOTER + r"\besc (?:interrupt|again to)\b"
_ONCE = re.compile(_FOOTER + r"\besc interrupt\b", re.MULTILINE)
_AGAIN = re.compile(_FOOTER + r"\besc again to\b", re.MULTILINE)
_CALM = re.compile(rf"\A(?!{_RUNNING})", re.MULTILINE)
_TAKEN = re.compile(f"{_AGAIN.pattern}|{_CALM.pattern}", re.MULTILINE)
# In the box that is the last there is: below all lines that are no part of one.
_DIALOG = r"\A(?>(?s:.*)^(?! *┃)|)(?s:.*?)^ *┃ +△ Permission required\b.*\n"

RULES = (
    rule("dialog", "screen", _DIALOG, "asking"),
    rule("footer-running", "screen", _RUNNING, "running"),
    rule("footer-idle", "screen", _FOOTER + r"(?:^| )ctrl\+p\b", "idle"),
)

OPTIONS = {
    **named("-s --session", Option(takes="one", refuse="session_arg")),
    **named("-c --continue --fork", Option(refuse="session_arg")),
    **named("-m --model --agent", Option(takes="one")),
    **named("--auto", Option()),
    **named("--prompt", Option(takes="one", resume=False)),
    # `opencode acp` has these too.
    **named("--log-level --mdns-domain --cors", Option(takes="one", chat="kept")),
    # And these, but what the TUI listens on is taken while the chat's agent is checked.
    **named("--port --hostname", Option(takes="one")),
    **named("--print-logs --pure --mdns", Option(chat="kept")),
    # The minimal interface draws another screen, which `observe` cannot read.
    **named("--mini --no-replay", Option(refuse="unsupported_form")),
    **named("--replay-limit", Option(takes="one", refuse="unsupported_form")),
    **named("-h --help -v --version", Option(refuse="non_interactive")),
}
_SUBCOMMANDS = words(
    "acp agent attach auth completion db debug export github import mcp models plug plugin pr "
    "providers run serve session stats uninstall upgrade web"
)


def _acp(launch: Launch) -> tuple[str, ...]:
    return (*launch.command, "acp", *launch.chat)


# It wants a second Esc within 5 s, but not in the same read. The timers of those 5 s are never stopped: the
# keys of an earlier interrupt can end this one's count between its two. Then the screen goes on offering Esc,
# and we press what it asks for as long as it does, a second one at once, to give those timers little room. An
# Esc too many does nothing.
_FIRST = Press(b"\x1b", pause=2.0, until=_TAKEN, only_if=_ONCE)
_SECOND = Press(b"\x1b", pause=1.5, until=_CALM, only_if=_AGAIN)
_INTERRUPT = (
    Press(b"\x1b", pause=2.0, until=_AGAIN),
    Press(b"\x1b", pause=1.5, until=_CALM),
    *(_SECOND, _FIRST) * 3,
    _SECOND,
)

PROFILE = Profile(
    name="opencode",
    title="OpenCode",
    args=ArgRules(
        executables=frozenset({"opencode", "opencode.exe"}),
        packages=frozenset({"opencode-ai"}),
        options=OPTIONS,
        subcommands=_SUBCOMMANDS,
        positional="directory_arg",
    ),
    acp_argv=_acp,
    resume_args=lambda session_id: ("--session", session_id),
    own_temp=True,
    verified=(Verified(name="opencode", version="1.18.33", of="program"),),
    observe=observing(RULES),
    interrupt=_INTERRUPT,
    suspends=True,
    dismiss=(Press(b"\x1b"),),
    quit=(Press(b"\x03"),),
    quit_command=(Press(b"/exit", pause=0.2), Press(b"\r")),
    farewell=farewell(r" *Continue +opencode(?: .+)? -s (ses_\w+)"),
    identity="list",
    quiet=0.5,
    binary_blobs=False,
)
