"""Command lines and what they mean: the table in `launches.txt`."""

import shlex
from collections import Counter
from pathlib import Path

import pytest
from attrs import evolve, field, frozen
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.agents import omp
from hybridmux.agents.launch import Launch, Refusal
from hybridmux.agents.registry import Registry

AGENTS = Registry()
ID = "ID"


@frozen
class Line:
    verdict: str
    cmd: list[str]
    where: int
    becomes: dict[str, list[str]] = field(factory=dict)

    def __str__(self):
        return f"{self.where}: {shlex.join(self.cmd)}"


def table():
    lines = []
    for number, text in enumerate(Path(__file__).with_name("launches.txt").read_text().splitlines(), 1):
        if text and not text.startswith("#"):
            word, _, command = text.partition("|")
            words = shlex.split(command)
            if text.startswith(" "):
                lines[-1].becomes[word.strip()] = words
            else:
                lines.append(Line(word.strip(), words, number))
    return lines


TABLE = table()


def said(verdict):
    if isinstance(verdict, Launch):
        return verdict.agent
    return f"{verdict.reason}/{verdict.agent}" if verdict.agent else verdict.reason


def becomes(launch):
    profile = AGENTS.profiles[launch.agent]
    return {
        "resume": launch.resumed(profile.resume_args(ID)),
        "chat": launch.wrapped(profile.acp_argv(launch)),
        "dropped": list(launch.dropped),
        "unsupported": list(launch.unsupported),
    }


def test_the_table_covers_every_agent_and_every_reason():
    verdicts = {line.verdict for line in TABLE}
    assert len(TABLE) >= 150
    assert len({tuple(line.cmd) for line in TABLE}) == len(TABLE)
    assert AGENTS.profiles.keys() <= verdicts
    for agent in ("claudecode", "codex", "omp"):
        for reason in (
            "session_arg",
            "session_store",
            "directory_arg",
            "non_interactive",
            "unsupported_form",
        ):
            assert f"{reason}/{agent}" in verdicts


@pytest.mark.parametrize("line", TABLE, ids=str)
def test_a_command_line(line):
    verdict = AGENTS.read(line.cmd)
    assert said(verdict) == line.verdict
    support = AGENTS.support(line.cmd)
    assert support.supported is isinstance(verdict, Launch)
    if isinstance(verdict, Launch):
        assert verdict.argv() == line.cmd
        found = becomes(verdict)
        assert {name: found[name] for name in line.becomes} == line.becomes
        assert found["dropped"] == line.becomes.get("dropped", [])
        assert found["unsupported"] == line.becomes.get("unsupported", [])
    else:
        assert support.reason == verdict.reason
        assert not line.becomes


def test_nothing_at_all_is_no_command():
    assert AGENTS.read([]) == Refusal("unsupported_form")


@given(st.lists(st.sampled_from(sorted({word for line in TABLE for word in line.cmd})), max_size=6))
def test_any_words_get_a_verdict_and_no_argument_is_lost(cmd):
    verdict = AGENTS.read(cmd)
    if isinstance(verdict, Launch):
        assert verdict.argv() == cmd
        given_back, given = Counter([*verdict.kept, *verdict.dropped]), Counter(verdict.args)
        assert given_back - given == Counter()
        assert given - given_back in (Counter(), Counter(["--"])), "all but the mark that ends options"


def test_what_a_connector_profile_says_of_its_connector():
    supports = {name: AGENTS.support([name]) for name in ("claude", "codex", "omp", "opencode")}
    assert supports["claude"].connector.executable == "claude-agent-acp"
    assert (
        supports["claude"].connector.install_command == "npm install -g @agentclientprotocol/claude-agent-acp"
    )
    assert supports["codex"].connector.executable == "codex-acp"
    assert supports["omp"].connector is supports["opencode"].connector is None
    assert supports["omp"].supported_agents == [
        "OpenCode",
        "Claude Code",
        "Codex",
        "omp",
        "Demo agent",
    ]


def test_arguments_of_ours_stand_in_every_start_once():
    launch = AGENTS.read(["codex", "-m", "x"]).adding("--no-daemon")
    assert launch.argv() == ["codex", "--no-daemon", "-m", "x"]
    assert launch.resumed([ID]) == ["codex", "resume", "--no-daemon", "-m", "x", ID]
    theirs = AGENTS.read(["codex", "--no-daemon"])
    assert theirs.adding("--no-daemon") == evolve(theirs, added=())


def test_an_agent_that_is_not_offered_is_not_known():
    offered = Registry([omp.PROFILE])
    assert offered.read(["codex"]) == Refusal("unknown_agent")
    assert offered.support(["omp"]).supported_agents == ["omp"]
    assert Registry().profiles.keys() == {"opencode", "claudecode", "codex", "omp", "demo"}
