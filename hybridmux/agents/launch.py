"""Reading a command line: which agent it starts, and what of it a resume or a chat can keep.

Pure: no file is looked at, no program is run. A profile describes its options in a table (`ArgRules`); a
command that cannot be a hybrid session is refused with one of the contract's reasons.

    [shell wrapper …] program [options]        accepted
    program SUBCOMMAND …                       non_interactive
    program --resume ID                        session_arg
"""

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from hybridmux.wire.launch import SupportReason

_SCRIPT = 'exec -- "$@"'
_SHELLS = ("bash", "zsh")
_WRAPPER_WORDS = ("webmux", "hybridmux")


@frozen
class Option:
    """One option of a program: what its presence means for us."""

    value: bool = False
    """It takes a value, as the next word or after `=`."""
    resume: bool = True
    """A resumed TUI can be given it again; otherwise it is reported as dropped."""
    refuse: SupportReason | None = None
    """Its presence makes the command no hybrid session."""


@frozen(kw_only=True)
class ArgRules:
    """How one agent's command line reads."""

    executables: frozenset[str]
    options: Mapping[str, Option]
    leading: tuple[str, ...] = ()
    """Words that must follow the program (a subcommand that starts the TUI)."""
    subcommands: frozenset[str] = frozenset()
    """Words that start something that is no TUI."""
    positional: SupportReason = "unsupported_form"
    """What any other word means."""
    chat_keeps: frozenset[str] = frozenset()
    """Options that the chat side has an equivalent for."""


@frozen(kw_only=True)
class Launch:
    """A command line that was read: `wrapper` + `program` + `leading` + `args`."""

    agent: str
    program: str
    leading: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    dropped: tuple[str, ...] = field(default=())
    """Arguments a resume cannot keep."""
    unsupported: tuple[str, ...] = field(default=())
    """Arguments the chat side has no equivalent for."""
    kept: tuple[str, ...] = field(default=())
    """Arguments a resume keeps."""

    def argv(self) -> list[str]:
        """The command as it was given."""
        return [*self.wrapper, self.program, *self.leading, *self.args]

    def resumed(self, resume_args: Sequence[str]) -> list[str]:
        """The TUI command that opens an agent session."""
        return [*self.wrapper, self.program, *self.leading, *self.kept, *resume_args]

    def wrapped(self, argv: Sequence[str]) -> list[str]:
        """Another command in the same shell."""
        return [*self.wrapper, *argv]


@frozen
class Refusal:
    """Why a command cannot be a hybrid session; `agent` where it could be told."""

    reason: SupportReason
    agent: str | None = None


def unwrap(cmd: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """(wrapper, command) of a start-file wrapper, ((), cmd) of a plain one, None of any other shell form."""
    words = tuple(cmd)
    if not words:
        return None
    if words[0].rsplit("/", 1)[-1] not in _SHELLS:
        return (), words
    if len(words) >= 5 and words[1] == "-ic" and words[2] == _SCRIPT and words[3] in _WRAPPER_WORDS:
        return words[:4], words[4:]
    return None


def read_args(
    agent: str, rules: ArgRules, wrapper: tuple[str, ...], words: tuple[str, ...]
) -> Launch | Refusal:
    """Reads the words of a command whose program is this agent's."""
    program, rest = words[0], list(words[1:])
    if tuple(rest[: len(rules.leading)]) != rules.leading:
        return Refusal(
            "non_interactive" if rest and rest[0] in rules.subcommands else "unsupported_form", agent
        )
    rest = rest[len(rules.leading) :]
    args = tuple(rest)
    groups: list[tuple[str, Option, list[str]]] = []
    while rest:
        word = rest.pop(0)
        name, _, inline = word.partition("=")
        if word in rules.subcommands:
            return Refusal("non_interactive", agent)
        if not word.startswith("-"):
            return Refusal(rules.positional, agent)
        option = rules.options.get(name)
        if option is None or (option.value and not inline and not rest):
            return Refusal("unsupported_form", agent)
        if option.refuse:
            return Refusal(option.refuse, agent)
        groups.append((name, option, [word, rest.pop(0)] if option.value and not inline else [word]))
    return Launch(
        agent=agent,
        program=program,
        leading=rules.leading,
        args=args,
        wrapper=wrapper,
        kept=tuple(w for _, option, words in groups if option.resume for w in words),
        dropped=tuple(w for _, option, words in groups if not option.resume for w in words),
        unsupported=tuple(w for name, _, words in groups if name not in rules.chat_keeps for w in words),
    )


def analyse(cmd: Sequence[str], rules: Mapping[str, ArgRules]) -> Launch | Refusal:
    """Reads a command against every agent's rules (agent name → rules)."""
    unwrapped = unwrap(cmd)
    if unwrapped is None:
        return Refusal("unsupported_form")
    wrapper, words = unwrapped
    name = words[0].rsplit("/", 1)[-1]
    for agent, rule in rules.items():
        if name in rule.executables:
            return read_args(agent, rule, wrapper, words)
    return Refusal("unknown_agent")
