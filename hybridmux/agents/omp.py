"""omp: its title for the turn, a breadcrumb by terminal for identity, ACP built in.

Tried with pi-coding-agent 18.2.3. There is no lock: with two writers the history forks and turns are
lost. It asks before it edits files by a form that means a permission request.
"""

import re
from collections.abc import Mapping

from hybridmux.agents.evidence import observing, rule
from hybridmux.agents.farewell import UUID, farewell
from hybridmux.agents.launch import Launch
from hybridmux.agents.options import ArgRules, Option, named, words
from hybridmux.agents.profile import FormPermission, Press, Profile
from hybridmux.agents.versions import Engine, Verified

_BOTH = Option(takes="one", chat="kept")
_BOTH_FLAG = Option(chat="kept")
_SESSION_MAYBE = Option(takes="maybe", refuse="session_arg")

# `omp acp` reads the same options as `omp` itself.
OPTIONS = {
    **named("-c --continue --from-claude --from-codex", Option(refuse="session_arg")),
    **named("-r --resume --session", _SESSION_MAYBE),
    **named("--fork", Option(takes="one", refuse="session_arg")),
    **named("--session-dir --profile", Option(takes="one", refuse="session_store")),
    **named("--no-session", Option(refuse="session_store")),
    **named("--cwd", Option(takes="one", refuse="directory_arg")),
    **named("-p --print --print-thoughts -h --help -v --version", Option(refuse="non_interactive")),
    **named("--mode --export --alias", Option(takes="one", refuse="non_interactive")),
    **named("--model --smol --slow --plan --prewalk-into --provider --api-key --thinking", _BOTH),
    **named("--system-prompt --append-system-prompt --config --add-dir --tools --skills", _BOTH),
    **named("--service-tier --hook -e --extension --plugin-dir --approval-mode", _BOTH),
    **named("--allow-home --prewalk --no-prewalk --no-tools --no-lsp --no-pty --advisor", _BOTH_FLAG),
    **named("--external-thinking --no-extensions --no-skills --no-rules --no-title", _BOTH_FLAG),
    **named("--auto-approve --yolo", _BOTH_FLAG),
    **named("--hide-thinking", Option(chat="moot")),
    **named("--models", Option(takes="one", chat="moot")),
    # They begin with the first start; a resume would begin again.
    **named("--plan-yolo", Option(resume=False)),
    **named("--plan-yolo-into --max-time", Option(takes="one", resume=False)),
}
_SUBCOMMANDS = words(
    "acp agents auth-broker auth-gateway bench browser-relay cleanse collab commit completions "
    "compress config dry-balance gallery gc git grep grievances if-bench images install join "
    "models plugin ps read render say search setup share shell ssh stats tiny-models token ttsr "
    "update usage worktree"
)

RULES = (
    rule("title-asking", "title", r"^π ! ", "asking"),
    rule("title-running", "title", r"^π [⠁-⣿] ", "running"),
    rule("title-idle", "title", r"^π > .", "idle"),
    # The dialog's box is the last there is; the status line begins with a spinner, at rest with π.
    rule("dialog", "foot", r"^│(?>.*\benter select  esc cancel\b).*+(?:\n[│╰].*+)++\Z", "asking"),
    rule("footer-running", "foot", r"^ *⎋ Working….*\n *[⠁-⣿] .*\n(?:(?! *π ).*\n){0,2}╰─.*\Z", "running"),
)

_FORM_TITLE = re.compile(r"Allow tool: ")
_ESC = (Press(b"\x1b"),)


def form_permission(message: str, schema: Mapping[str, object]) -> FormPermission | None:
    """`Allow tool: write\\nPath: …` with one field that may be Approve or Deny."""
    properties = schema.get("properties")
    if not _FORM_TITLE.match(message) or not isinstance(properties, Mapping) or len(properties) != 1:
        return None
    key, field = next(iter(properties.items()))
    values = field.get("enum") if isinstance(field, Mapping) else None
    if not isinstance(values, list) or sorted(map(str, values)) != ["Approve", "Deny"]:
        return None
    return FormPermission(title=message, key=str(key), allow="Approve", deny="Deny")


def _acp(launch: Launch) -> tuple[str, ...]:
    return (*launch.command, "acp", *launch.chat)


PROFILE = Profile(
    name="omp",
    title="omp",
    args=ArgRules(
        executables=frozenset({"omp"}),
        engines=frozenset({"bun"}),
        script=re.compile(r"(?:^|/)omp$|/@oh-my-pi/pi-coding-agent/dist/cli\.js$"),
        packages=frozenset({"@oh-my-pi/pi-coding-agent"}),
        options=OPTIONS,
        default_word="launch",
        subcommands=_SUBCOMMANDS,
        prompts=100,
    ),
    acp_argv=_acp,
    resume_args=lambda session_id: ("--resume", session_id),
    verified=(Verified(name="omp", version="18.2.3", of="program"),),
    engines=(
        Engine(
            title="Bun",
            names=frozenset({"bun"}),
            of="program",
            minimum="1.3.14",
            install="npm install -g bun",
        ),
    ),
    observe=observing(RULES),
    interrupt=_ESC,
    suspends=True,
    dismiss=_ESC,
    # The second within half a second of the first.
    quit=(Press(b"\x03", pause=0.3), Press(b"\x03")),
    quit_command=(Press(b"/exit", pause=0.2), Press(b"\r")),
    farewell=farewell(rf"Resume this session with omp(?: .+)? --resume {UUID}"),
    identity="list",
    evidence="breadcrumb",
    quiet=0.5,
    stores_first_turn="ended",
    reapply=("mode",),
    steering=True,
    form_permission=form_permission,
    failed_answer=re.compile(r"\A\d{3} "),
)
