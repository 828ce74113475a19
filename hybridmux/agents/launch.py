"""Reading a command line: which agent it starts, and what of it a resume or a chat can keep.

Pure: no file is looked at, no program is run. A profile describes its options in a table (`ArgRules`); a
command that cannot be a hybrid session is refused with one of the contract's reasons.

    [shell wrapper …] [engine] program [options] [prompt]   accepted
    package runners, other shells, other words              unsupported_form
    program SUBCOMMAND …                                    non_interactive
    program --resume ID                                     session_arg
"""

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from hybridmux.agents.options import ArgRules, Group, read_options
from hybridmux.wire.launch import SupportReason

_SCRIPT = 'exec -- "$@"'
_SHELLS = ("bash", "zsh")
_OTHER_SHELLS = ("sh", "dash", "ash", "ksh", "fish", "pwsh", "nu")
_WRAPPER_WORDS = ("webmux", "hybridmux")
_RUNNERS = ("npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun")
_RUNNER_WORDS = ("exec", "dlx", "x")


@frozen(kw_only=True)
class Launch:
    """A command line that was read: `wrapper` + `program` + `script` + `leading` + `args`."""

    agent: str
    program: str
    script: tuple[str, ...] = ()
    """The agent's script, where `program` is only its engine (node)."""
    leading: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    resume_leading: tuple[str, ...] = ()
    """What stands in place of `leading` when a session is opened again."""
    added: tuple[str, ...] = ()
    """Arguments that we add to every start of the TUI (see `SharedServer`)."""
    dropped: tuple[str, ...] = ()
    """Arguments a resume cannot keep."""
    unsupported: tuple[str, ...] = ()
    """Arguments the chat side has no equivalent for."""
    kept: tuple[str, ...] = ()
    """Arguments a resume keeps."""
    chat: tuple[str, ...] = ()
    """Arguments the ACP command is given too."""

    @property
    def command(self) -> tuple[str, ...]:
        """What runs the agent's program, without any argument."""
        return (self.program, *self.script)

    def argv(self) -> list[str]:
        """The command as it was given, with what we add."""
        return [*self.wrapper, *self.command, *self.leading, *self.added, *self.args]

    def resumed(self, resume_args: Sequence[str]) -> list[str]:
        """The TUI command that opens an agent session."""
        words = (*self.command, *self.resume_leading, *self.added, *self.kept)
        return [*self.wrapper, *words, *resume_args]

    def wrapped(self, argv: Sequence[str]) -> list[str]:
        """Another command in the same shell."""
        return [*self.wrapper, *argv]

    def adding(self, *words: str) -> "Launch":
        """With arguments for every start of the TUI, unless the command has them already."""
        return evolve(self, added=tuple(word for word in words if not self.has(word)))

    def has(self, option: str) -> bool:
        """Whether the command has this option, which a resume keeps; a prompt of the same letters is none."""
        return option in self.kept


@frozen
class Refusal:
    """Why a command cannot be a hybrid session; `agent` where it could be told."""

    reason: SupportReason
    agent: str | None = None


def base(word: str) -> str:
    """A program's name without its folder."""
    return word.rsplit("/", 1)[-1]


def unwrap(cmd: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """(wrapper, command) of a start-file wrapper, ((), cmd) of a plain one, None of any other shell form."""
    words = tuple(cmd)
    if not words:
        return None
    if base(words[0]) not in _SHELLS:
        return None if base(words[0]) in _OTHER_SHELLS else ((), words)
    wrapped = words[1:3] == ("-ic", _SCRIPT) and words[3:4] and words[3] in _WRAPPER_WORDS
    if not wrapped or len(words) < 5 or base(words[4]) in (*_SHELLS, *_OTHER_SHELLS):
        return None
    return words[:4], words[4:]


def analyse(cmd: Sequence[str], rules: Mapping[str, ArgRules]) -> Launch | Refusal:
    """Reads a command against every agent's rules (agent name → rules)."""
    unwrapped = unwrap(cmd)
    if unwrapped is None:
        return Refusal("unsupported_form")
    wrapper, words = unwrapped
    name = base(words[0])
    for agent, rule in rules.items():
        if name in rule.executables:
            return _read(agent, rule, wrapper, words[:1], words[1:])
        if name in rule.engines and len(words) > 1 and rule.script and rule.script.search(words[1]):
            return _read(agent, rule, wrapper, words[:2], words[2:])
    for agent, rule in rules.items():
        if _runs_it_otherwise(rule, name, words[1:]):
            return Refusal("unsupported_form", agent)
    return Refusal("unknown_agent")


def _runs_it_otherwise(rule: ArgRules, name: str, words: Sequence[str]) -> bool:
    """An engine with options of its own, or a package runner: we cannot tell what belongs to whom."""
    if name in rule.engines and rule.script and any(map(rule.script.search, words)):
        return True
    if name not in _RUNNERS:
        return False
    # `--package=NAME`; a version may follow the name, whose first character may be the @ of a scope.
    named = [word.removeprefix("--package=") for word in words]
    plain = {word[0] + word[1:].partition("@")[0] for word in named if word}
    first = next((w for w in words if w not in _RUNNER_WORDS and not w.startswith("-")), "")
    return not plain.isdisjoint(rule.packages) or first.partition("@")[0] in rule.executables


def _read(
    agent: str, rules: ArgRules, wrapper: tuple[str, ...], command: tuple[str, ...], args: Sequence[str]
) -> Launch | Refusal:
    """Reads the words after an agent's program."""
    leading = rules.leading or tuple(word for word in args[:1] if word == rules.default_word)
    rest = tuple(args[len(leading) :])
    if tuple(args[: len(leading)]) != leading:
        other = bool(args) and args[0] in rules.subcommands
        return Refusal("non_interactive" if other else "unsupported_form", agent)
    if leading and not rules.leading:  # after its own subcommand no other is one
        rules = evolve(rules, subcommands=frozenset(), refused_words={})
    groups = read_options(rules, rest)
    if isinstance(groups, str):
        return Refusal(groups, agent)
    return Launch(
        agent=agent,
        program=command[0],
        script=command[1:],
        leading=leading,
        args=rest,
        wrapper=wrapper,
        resume_leading=leading if rules.resume_leading is None else rules.resume_leading,
        kept=_words(one for one in groups if one.option.resume),
        dropped=_words(one for one in groups if not one.option.resume),
        unsupported=_words(one for one in groups if one.option.chat == "lacking"),
        chat=_words(one for one in groups if one.option.chat == "kept"),
    )


def _words(groups: Iterable[Group]) -> tuple[str, ...]:
    return tuple(word for group in groups for word in group.words)
