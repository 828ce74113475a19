"""What the profiles of the agents say, against each program's own help and against what was recorded."""

import json
import re
from pathlib import Path

import pytest

from hybridmux.acp.messages import read_form
from hybridmux.agents import claudecode, codex, demo_profile, omp, opencode
from hybridmux.agents.executable import chat_environment, own_program
from hybridmux.agents.launch import analyse
from hybridmux.agents.shared_server import apart
from hybridmux.agents.versions import outdated, read_version
from hybridmux.wire.types import Outdated

FIXTURES = Path(__file__).parents[2] / "fixtures/agents"
PROFILES = [one.PROFILE for one in (claudecode, codex, omp, opencode, demo_profile)]
HIDDEN = {
    "claudecode": {
        "--system-prompt-file": "one",
        "--append-system-prompt-file": "one",
        "--rc": "maybe",
        "--channels": "many",
        "--teammate-mode": "one",
    },
    "codex": {"--yolo": "nothing", "--not-so-yolo": "nothing"},
    "omp": {
        "--fork": "one",
        "--plugin-dir": "one",
        "--session": "maybe",
        **dict.fromkeys(("--yolo", "-h", "--help", "-v", "--version"), "nothing"),
    },
}
"""Options that the program takes and its list does not name, and a value that is optional."""
SYNOPSES = [claudecode.PROFILE, codex.PROFILE, omp.PROFILE]


def synopsis(agent, file="synopsis.txt"):
    """Option → what it takes, and the subcommands."""
    lines = (FIXTURES / agent / file).read_text().splitlines()[1:]
    options, commands = {}, set()
    for line in filter(None, lines):
        if line.startswith(" "):
            commands |= set(line.strip().split("|"))
            continue
        value = re.search(r"[<\[=].*", line)
        text = value[0] if value else ""
        takes = "many" if "..." in text else "maybe" if text.startswith("[") else "one" if text else "nothing"
        options |= dict.fromkeys(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", line.replace(text, "")), takes)
    return options, commands


def launch(*cmd):
    return analyse(cmd, {one.name: one.args for one in PROFILES})


@pytest.mark.parametrize("profile", SYNOPSES, ids=lambda one: one.name)
def test_every_option_is_known_and_takes_what_the_help_says(profile):
    options, _ = synopsis(profile.name)
    assert len(options) > 20
    known = {name: option.takes for name, option in profile.args.options.items()}
    if profile.name == "omp":  # "or picker if omitted"
        options |= {"-r": "maybe", "--resume": "maybe"}
    assert known == {**options, **HIDDEN[profile.name]}


@pytest.mark.parametrize("profile", SYNOPSES, ids=lambda one: one.name)
def test_every_subcommand_is_refused(profile):
    _, commands = synopsis(profile.name)
    assert len(commands) > 15
    assert commands == profile.args.subcommands | profile.args.refused_words.keys()


def test_codex_can_be_resumed_with_every_option_that_is_kept():
    options, _ = synopsis("codex", "resume.txt")
    kept = {
        name
        for name, option in codex.OPTIONS.items()
        if option.resume and (not option.refuse or option.refuse_value)
    }
    assert len(kept) > 15
    assert kept <= options.keys() | HIDDEN["codex"].keys()


# --- the background server of codex ---

SERVER = codex.PROFILE.shared_server
PLAIN = launch("codex", "-m", "x")


def test_a_codex_that_has_the_option_is_kept_apart_from_its_server():
    help_text = "      --no-daemon\n          Run without the shared background server"
    assert apart(PLAIN, SERVER, help_text).argv() == ["codex", "--no-daemon", "-m", "x"]
    assert apart(launch("codex", "--no-daemon"), SERVER, help_text).argv() == ["codex", "--no-daemon"]


def test_an_old_codex_without_a_server_is_left_alone():
    assert apart(PLAIN, SERVER, "Usage: codex [OPTIONS] [PROMPT]\n  --no-daemonize  --x-no-daemon") == PLAIN


def test_a_codex_with_a_server_and_no_way_around_it_is_refused_with_the_reason():
    said = apart(PLAIN, SERVER, "remote-control    Manage the app-server daemon")
    assert isinstance(said, str)
    assert "background server" in said


# --- the connector's environment ---


@pytest.mark.parametrize(
    ("profile", "variable"), [(claudecode.PROFILE, "CLAUDE_CODE_EXECUTABLE"), (codex.PROFILE, "CODEX_PATH")]
)
def test_a_connector_is_told_the_program_of_the_terminal_unless_the_user_chose_one(profile, variable):
    assert chat_environment(profile, {"A": "b"}, "/opt/x") == {"A": "b", variable: "/opt/x"}
    assert chat_environment(profile, {variable: "/mine"}, "/opt/x") == {variable: "/mine"}
    assert chat_environment(profile, {"A": "b"}, None) == {"A": "b"}
    assert chat_environment(omp.PROFILE, {}, "/opt/x") == {}
    # A start file has the last word.
    assert chat_environment(profile, {"A": "b"}, "/opt/x", {variable: "/mine"}) == {"A": "b"}
    assert chat_environment(profile, {variable: "/mine"}, "/opt/x", {}) == {variable: "/opt/x"}


def test_the_agent_s_own_program(tmp_path):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    env = {"PATH": str(tmp_path)}
    assert own_program(launch("claude"), env, "/") is None
    program.chmod(0o755)
    assert own_program(launch("claude"), env, "/") == str(program)
    assert own_program(launch(str(program)), {}, "/") == str(program)
    assert own_program(launch("./claude"), {}, str(tmp_path)) == str(program)
    assert own_program(launch("node", str(program)), {}, "/") == str(program)
    package = tmp_path / "@anthropic-ai" / "claude-code"
    package.mkdir(parents=True)
    launcher = package / "cli-wrapper.cjs"
    assert own_program(launch("node", str(launcher)), {}, "/") is None
    launcher.write_text("")  # as npm installs it
    assert own_program(launch("node", str(launcher)), {}, "/") == str(launcher)
    program.chmod(0o644)
    assert own_program(launch("node", str(program)), {}, "/") is None
    assert own_program(launch("codex"), env, "/") is None
    (tmp_path / "codex").mkdir()
    assert own_program(launch(str(tmp_path / "codex")), env, "/") is None
    (tmp_path / "omp").symlink_to(tmp_path / "gone")
    assert own_program(launch(str(tmp_path / "omp")), env, "/") is None


# --- versions ---


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.332 (Claude Code)", "2.1.332"),
        ("codex-cli 0.171.0", "0.171.0"),
        ("omp/18.2.3", "18.2.3"),
        ("v1.18.33\n", "1.18.33"),
        ("@agentclientprotocol/codex-acp 2.6.0", "2.6.0"),
        ("0.171.0-alpha.3", "0.171.0"),
        ("no version", None),
        ("", None),
    ],
)
def test_a_version_in_what_a_program_prints(text, version):
    assert read_version(text) == version


@pytest.mark.parametrize(
    ("claude", "connector", "names"),
    [
        ("2.1.332", "0.101.0", []),
        ("2.1.331 (Claude Code)", "0.101.0", ["claude"]),
        ("2.2", "0.99.1", ["claude-agent-acp"]),
        ("2.1.99", "0.101", ["claude"]),
        ("?", "", []),
    ],
)
def test_each_program_is_outdated_on_its_own(claude, connector, names):
    found = outdated(claudecode.PROFILE.verified, {"claude": claude, "claude-agent-acp": connector})
    assert [one.name for one in found] == names


def test_what_is_said_of_an_outdated_program():
    assert outdated(codex.PROFILE.verified, {"codex-acp": "2.5.9"}) == [
        Outdated(name="codex-acp", version="2.5.9", verified="2.6.0")
    ]


# --- omp's permission in the clothes of a form ---

SCHEMA = {"type": "object", "properties": {"value": {"type": "string", "enum": ["Approve", "Deny"]}}}


def test_a_form_that_is_a_permission_request():
    form = omp.PROFILE.form_permission("Allow tool: write\nPath: a.txt", SCHEMA)
    assert (form.key, form.allow, form.deny) == ("value", "Approve", "Deny")
    assert form.title.startswith("Allow tool: write")


@pytest.mark.parametrize(
    ("message", "schema"),
    [
        ("Which one?", SCHEMA),
        ("Allow tool: write", {}),
        ("Allow tool: write", {"properties": []}),
        ("Allow tool: write", {"properties": {"value": None}}),
        ("Allow tool: write", {"properties": {"value": {"enum": ["Approve", "Deny", "Always"]}}}),
        ("Allow tool: write", {"properties": {"value": {"enum": [["Approve"], "Deny"]}}}),
        ("Allow tool: write", {"properties": {**SCHEMA["properties"], "more": {}}}),
    ],
)
def test_other_forms_are_forms(message, schema):
    assert omp.PROFILE.form_permission(message, schema) is None


@pytest.mark.parametrize("profile", [one for one in PROFILES if one.name != "omp"], ids=lambda one: one.name)
def test_no_other_agent_asks_for_permission_by_a_form(profile):
    assert profile.form_permission("Allow tool: write", SCHEMA) is None


def forms(agent):
    """The forms that recorded connectors sent."""
    for file in sorted((FIXTURES.parent / "acp" / agent).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            message = json.loads(line)["msg"]
            if message.get("method") == "elicitation/create":
                yield message["params"]


def test_the_forms_that_agents_really_sent():
    read = [omp.PROFILE.form_permission(one["message"], one["requestedSchema"]) for one in forms("omp")]
    asked = [one["message"].startswith("Allow tool: ") for one in forms("omp")]
    assert [form is not None for form in read] == asked
    assert True in asked
    assert False in asked
    for agent in ("codex", "claudecode", "omp"):
        assert all(read_form(one).schema == one["requestedSchema"] for one in forms(agent))
    for agent in ("codex", "claudecode"):
        others = list(forms(agent))
        assert others
        assert not any(omp.form_permission(one["message"], one["requestedSchema"]) for one in others)


def test_a_turn_that_failed_though_the_agent_says_that_it_ended_well():
    assert omp.PROFILE.failed_answer.search('400 {"error": "no"}')
    assert not omp.PROFILE.failed_answer.search("In 400 words")
