"""The words of a command line, read against one program's table of options. Pure.

    takes    --model x   --model=x   -mx     "one"; an empty value needs the `=`
             --debug     --debug x           "maybe": the next word, unless it looks like an option
             --tools a b c                   "many": every word up to the next option
    --       ends the options; what follows is a prompt or a folder

A value that looks like an option (`--model --session`) is refused: programs differ in what they make of it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from hybridmux.wire.launch import SupportReason

Takes = Literal["nothing", "one", "maybe", "many"]
InChat = Literal["kept", "lacking", "moot"]

_OPTION_LIKE = re.compile(r"--?[A-Za-z]|--$")
_SHORT = re.compile(r"-[A-Za-z].", re.DOTALL)


@frozen(kw_only=True)
class Option:
    """One option of a program: what its presence means for us."""

    takes: Takes = "nothing"
    resume: bool = True
    """A resumed TUI can be given it again; otherwise it is reported as dropped."""
    chat: InChat = "lacking"
    """`kept`: the ACP command knows it; `lacking`: it is reported; `moot`: it only concerns the TUI."""
    refuse: SupportReason | None = None
    """Its presence makes the command no hybrid session."""
    refuse_value: re.Pattern[str] | None = None
    """Only values that match make it refused; anchored at the value's start."""


@frozen(kw_only=True)
class ArgRules:
    """How one agent's command line reads."""

    executables: frozenset[str]
    options: Mapping[str, Option]
    engines: frozenset[str] = frozenset()
    """Interpreters that may stand before the program's script."""
    script: re.Pattern[str] | None = None
    """The program's script: the word after an engine."""
    packages: frozenset[str] = frozenset()
    """Its names in package registries: how a package runner would call it."""
    leading: tuple[str, ...] = ()
    """Words that must follow the program (a subcommand that starts the TUI)."""
    default_word: str | None = None
    """A subcommand that means the same as none."""
    resume_leading: tuple[str, ...] | None = None
    """What stands in place of `leading` when a session is opened again."""
    subcommands: frozenset[str] = frozenset()
    """Words that start something that is no TUI."""
    refused_words: Mapping[str, SupportReason] = {}
    """Subcommands that are refused for another reason than that."""
    prompts: int = 0
    """How many other words it takes, as what to do first."""
    positional: SupportReason = "unsupported_form"
    """What any further word means."""


@frozen
class Group:
    """An option with its values, or a prompt; `words` as they were given."""

    option: Option
    words: tuple[str, ...]


PROMPT = Option(takes="one", resume=False)
"""A first prompt: it runs once, with the first start."""


def words(text: str) -> frozenset[str]:
    """Words that are separated by blanks."""
    return frozenset(text.split())


def named(names: str, option: Option) -> dict[str, Option]:
    """The same option under several names, which are separated by blanks."""
    return dict.fromkeys(names.split(), option)


def read_options(rules: ArgRules, words: Sequence[str]) -> list[Group] | SupportReason:
    """The groups of a command line after its program, or why it is refused."""
    groups: list[Group] = []
    prompts = 0
    rest = list(words)
    while rest:
        if rest[0] == "--":
            if "" in rest or prompts + len(rest) - 1 > rules.prompts:
                return rules.positional
            return [*groups, *(Group(PROMPT, (word,)) for word in rest[1:])]
        if not rest[0].startswith("-"):
            word = rest.pop(0)
            reason = _refused_word(rules, word, prompts)
            if reason:
                return reason
            prompts += 1
            groups.append(Group(PROMPT, (word,)))
            continue
        found = _option(rules, rest)
        if not isinstance(found, Group):
            return found
        groups.append(found)
    return groups


def _refused_word(rules: ArgRules, word: str, prompts: int) -> SupportReason | None:
    """Why a word that is no option is refused. A subcommand is one only before the first prompt."""
    if not prompts and word in rules.subcommands:
        return "non_interactive"
    if not prompts and word in rules.refused_words:
        return rules.refused_words[word]
    return None if word and prompts < rules.prompts else rules.positional


def _option(rules: ArgRules, rest: list[str]) -> Group | SupportReason:
    """Takes one option and its values off `rest`."""
    word = rest.pop(0)
    name, equals, value = word.partition("=")
    option = rules.options.get(name)
    if option is None and _SHORT.match(word) and not word.startswith("--"):
        option, equals, value = rules.options.get(word[:2]), word[2:], word[2:]
    if option is None:
        return "unsupported_form"
    if option.refuse and not option.refuse_value:
        return option.refuse
    if option.takes == "nothing":
        return "unsupported_form" if equals else Group(option, (word,))
    values = [value] if equals else _values(option.takes, rest)
    if not values and option.takes != "maybe":
        return "unsupported_form"
    if option.refuse and option.refuse_value and any(map(option.refuse_value.match, values)):
        return option.refuse
    return Group(option, (word,) if equals else (word, *values))


def _values(takes: Takes, rest: list[str]) -> list[str]:
    values: list[str] = []
    while rest and not _OPTION_LIKE.match(rest[0]):
        values.append(rest.pop(0))
        if takes != "many":
            break
    return values
