"""opencode's command line as we read it, against the help text of the version we pin."""

import re
from pathlib import Path

import pytest

from hybridmux.agents.launch import Launch, Refusal, analyse
from hybridmux.agents.opencode import PROFILE

HELP = (Path(__file__).parents[2] / "fixtures/agents/opencode/help.txt").read_text()
RULES = {"opencode": PROFILE.args}


def read(*words: str) -> Launch | Refusal:
    """The launch of `opencode WORDS…`."""
    return analyse(["opencode", *words], RULES)


def options() -> dict[str, bool]:
    """Option → whether it takes a value, as the help says. An entry may go on in the next line."""
    found = {}
    for entry in re.split(r"\n(?= {2,6}-)", HELP.partition("Options:\n")[2]):
        short, long = re.match(r" *(?:(-\w), )?(--[a-z-]+)", entry).groups()
        kind = re.search(r"\[(boolean|string|number|array)\]", entry)[1]
        found |= {name: kind != "boolean" for name in (short, long) if name}
    return found


def subcommands() -> set[str]:
    """Every word that starts something else, aliases included."""
    commands = HELP.partition("Positionals:")[0]
    words = re.findall(r"^ {2}opencode ([a-z]+)", commands, re.MULTILINE)
    return {*words, *re.findall(r"\[aliases: ([a-z]+)\]", commands)}


def test_every_option_is_known_and_takes_what_the_help_says():
    assert len(options()) > 20
    assert {name: option.takes != "nothing" for name, option in PROFILE.args.options.items()} == options()


def test_every_subcommand_is_refused():
    assert subcommands() == PROFILE.args.subcommands
    assert {read(word) for word in subcommands()} == {Refusal("non_interactive", "opencode")}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["-s", "ses_1"], "session_arg"),
        (["--session=ses_1"], "session_arg"),
        (["--continue"], "session_arg"),
        (["--fork", "-c"], "session_arg"),
        (["some/folder"], "directory_arg"),
        (["--mini"], "unsupported_form"),
        (["--port"], "unsupported_form"),
        (["--version"], "non_interactive"),
        (["--print-logs", "acp"], "non_interactive"),
    ],
)
def test_what_cannot_be_a_hybrid_session_is_refused(words, reason):
    assert read(*words) == Refusal(reason, "opencode")


def test_the_chat_gets_what_it_knows_and_a_resume_everything_but_the_prompt():
    launch = read("-m", "fake/one", "--pure", "--prompt", "hi", "--log-level=DEBUG")
    assert PROFILE.acp_argv(launch) == ("opencode", "acp", "--pure", "--log-level=DEBUG")
    assert launch.unsupported == ("-m", "fake/one", "--prompt", "hi")
    assert launch.dropped == ("--prompt", "hi")
    resumed = launch.resumed(PROFILE.resume_args("ses_1"))
    assert resumed == ["opencode", "-m", "fake/one", "--pure", "--log-level=DEBUG", "--session", "ses_1"]
