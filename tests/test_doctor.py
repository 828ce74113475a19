"""`hybridmux doctor`: what it says of small programs of our own, as text and as JSON, and its exit codes."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from hybridmux.agents import claudecode, codex, demo_profile, omp, opencode
from hybridmux.agents.inventory import first_configs, take_inventory
from tests.support.processes import nothing_left
from tests.support.programs import Programs
from tests.support.server import serving

__all__ = ["nothing_left"]

PROGRAM = Path(sys.executable).parent / "hybridmux"
PROFILES = [opencode.PROFILE, omp.PROFILE, codex.PROFILE, claudecode.PROFILE, demo_profile.PROFILE]


@pytest.fixture
def programs(tmp_path):
    return Programs.below(tmp_path)


@pytest.fixture
def doctor(programs, tmp_path):
    """Runs it with what was added as all there is on PATH; any free port, a data folder of its own."""

    def run(*args, code=0):
        argv = [PROGRAM, "doctor", *(() if "--port" in args else ("--port", "0")), *args]
        argv += () if "--data" in args else ("--data", tmp_path / "data")
        done = subprocess.run(argv, env=programs.env, capture_output=True, text=True, timeout=30, check=False)
        assert (done.returncode, done.stderr) == (code, "")
        return done.stdout

    return run


async def inventory(programs, *profiles, seconds=20):
    found = await take_inventory(profiles or PROFILES, programs.env, "/", seconds=seconds)
    return {one.name: one for one in found}


# --- agents ---


async def test_nothing_installed_is_no_error(programs):
    found = await inventory(programs)
    assert list(found) == ["opencode", "omp", "codex", "claudecode", "demo"]
    assert [one.missing for one in found.values()] == [True, True, True, True, False]
    assert not any(one.wrong for one in found.values())
    hints = [one.notes[0].split("; ")[1] for one in found.values() if one.missing]
    assert hints == [
        "npm install -g opencode-ai",
        "npm install -g @oh-my-pi/pi-coding-agent",
        "npm install -g @openai/codex",
        "npm install -g @anthropic-ai/claude-code",
    ]


async def test_all_that_is_found_of_an_agent(programs):
    programs.says("claude", "2.1.332 (Claude Code)")
    programs.says("node", "v26.1.0")
    programs.npm("@agentclientprotocol/claude-agent-acp", "0.100.0", "claude-agent-acp")
    found = (await inventory(programs, claudecode.PROFILE))["claudecode"]
    assert [(one.name, one.version, one.verified, one.outdated) for one in found.programs] == [
        ("claude", "2.1.332", "2.1.332", False),
        ("claude-agent-acp", "0.100.0", "0.101.0", True),
        ("Node.js", "26.1.0", "22", False),
    ]
    assert found.programs[0].path == str(programs.bin / "claude")
    (note,) = found.notes
    assert note.startswith("claude-agent-acp 0.100.0 is older than the 0.101.0")
    assert note.endswith("npm install -g @agentclientprotocol/claude-agent-acp@latest")
    assert (found.wrong, found.missing, found.terminal_only) == ([], False, False)


async def test_a_connector_of_another_make_has_no_known_version(programs):
    programs.says("codex", "codex-cli 0.171.0")
    programs.add("codex-acp", "exit 9")
    found = (await inventory(programs, codex.PROFILE))["codex"]
    assert [one.version for one in found.programs] == ["0.171.0", None]
    assert found.wrong == []


async def test_without_its_connector_an_agent_is_for_the_terminal(programs):
    programs.says("codex", "codex-cli 0.171.0")
    found = (await inventory(programs, codex.PROFILE))["codex"]
    assert (found.terminal_only, found.wrong) == (True, [])
    assert found.notes[0].endswith("npm install -g @agentclientprotocol/codex-acp")


@pytest.mark.parametrize(
    ("body", "level", "words"),
    [
        ("exec /bin/sleep 1000", "wrong", "opencode --version did not answer within 0.5 s"),
        ("echo hello", "notes", "opencode --version names no version that could be read"),
        ("while :; do echo 012345678901234567890123456789 1.2; done", "wrong", "opencode --version prints"),
        ("echo no libc >&2; exit 1", "wrong", "opencode --version ended with exit code 1: no libc"),
        ("kill -SEGV $$", "wrong", "opencode --version was ended by signal 11"),
        ("echo 1.0.0", "notes", "opencode 1.0.0 is older than the 1.18.33"),
    ],
)
async def test_a_program_that_is_not_as_it_should_be(programs, body, level, words):
    programs.add("opencode", body)
    seconds = 0.5 if "sleep" in body else 20
    found = (await inventory(programs, opencode.PROFILE, seconds=seconds))["opencode"]
    (text,) = getattr(found, level)
    assert text.startswith(words)
    assert len(found.wrong + found.notes) == 1
    assert found.programs[0].version == ("1.0.0" if "echo 1.0.0" in body else None)


async def test_a_version_that_was_not_told_in_time_is_read_from_the_package(programs):
    programs.add("node", "exec /bin/sleep 1000")
    programs.npm("opencode-ai", "1.18.40", "opencode")
    found = (await inventory(programs, opencode.PROFILE, seconds=0.5))["opencode"]
    assert found.programs[0].version == "1.18.40"
    assert found.wrong == ["opencode --version did not answer within 0.5 s"]


BROKEN = [
    ("echo 'error while loading shared libraries' >&2; exit 127", "ended with exit code 127: error while"),
    ("kill -SEGV $$", "was ended by signal 11"),
    ("exec /bin/sleep 1000", "did not answer within 0.5 s"),
    ("echo v22.0.0; exit 1", "ended with exit code 1"),
    ("echo hello", "names no version that could be read"),
]


@pytest.mark.parametrize(("body", "words"), BROKEN)
async def test_an_engine_that_does_not_work(programs, body, words):
    programs.says("claude", "2.1.332 (Claude Code)")
    node = programs.add("node", body)
    programs.npm("@agentclientprotocol/claude-agent-acp", "0.101.0", "claude-agent-acp")
    seconds = 0.5 if "sleep" in body else 20
    found = (await inventory(programs, claudecode.PROFILE, seconds=seconds))["claudecode"]
    (text,) = found.wrong
    assert text.startswith(f"claude-agent-acp needs Node.js, but {node} --version {words}")
    assert text.endswith("; install Node.js 22 or newer (https://nodejs.org)")
    assert [(one.name, one.version) for one in found.programs][-1] == ("Node.js", None)


# --- saved launch configs ---


def config(name, *cmd, **more):
    """One as it is stored."""
    return {"id": f"id-{name}", "name": name, "cmd": list(cmd), "hybrid": True, **more}


@pytest.fixture
def saved(doctor, tmp_path):
    """What is said of these configs as JSON, by name, and as text; the exit code must be the same."""

    def run(*configs, code=0):
        (tmp_path / "data").mkdir(mode=0o700, exist_ok=True)
        file = tmp_path / "data" / "launch-configs.json"
        file.write_text(json.dumps({"version": 2, "configs": configs}))
        file.chmod(0o600)
        value = json.loads(doctor("--json", code=code))
        assert value["ok"] == (code == 0)
        return {one["name"]: one for one in value["configs"]}, doctor(code=code)

    return run


def test_a_saved_config_that_will_do(saved, programs, tmp_path):
    programs.says("claude", "2.1.332")
    programs.says("claude-agent-acp", "x")
    found, text = saved(
        config("mine", str(programs.bin / "claude"), "--model", "opus", cwd=str(tmp_path)),
        config("plain", "gone", hybrid=False),
    )
    assert found == {
        "mine": {"id": "id-mine", "name": "mine", "agent": "claudecode", "wrong": [], "notes": []}
    }
    assert "\nLaunch configs\n  ok mine: can be started\n" in text
    assert "plain" not in text


def test_without_hybrid_configs_there_is_no_such_part(saved):
    found, text = saved(config("plain", "gone", hybrid=False))
    assert found == {}
    assert "Launch configs" not in text


def test_what_is_wrong_with_saved_configs(saved, programs, tmp_path):
    programs.says("claude", "2.1.332")
    programs.says("claude-agent-acp", "x")
    shim = tmp_path / "bin" / "opencode"
    shim.write_text("@echo off\n")
    shim.chmod(0o755)
    programs.says("codex", "manage the app-server daemon")
    found, text = saved(
        config("missing", "omp"),
        config("moved", "/gone/claude"),
        config("folder", "claude", cwd="/gone/folder"),
        config("relative", "claude", cwd="folder"),
        config("unknown", "vi"),
        config("printing", "claude", "-p"),
        config("shim", "opencode"),
        config("shared", "codex"),
        code=1,
    )
    assert {name: one["wrong"] for name, one in found.items()} == {
        "missing": ["omp is not installed (not found on PATH); npm install -g @oh-my-pi/pi-coding-agent"],
        "moved": ["there is no file /gone/claude; mend that, or edit the config"],
        "folder": ["its folder /gone/folder is not there; make it, or edit the config"],
        "relative": ["its folder folder is not there; make it, or edit the config"],
        "unknown": [
            "its command cannot be a hybrid session (unknown_agent); edit it, or make it no hybrid one"
        ],
        "printing": [
            "its command cannot be a hybrid session (non_interactive); edit it, or make it no hybrid one"
        ],
        "shim": [f"{shim} is a script for Windows, not a program; mend that, or edit the config"],
        "shared": found["shared"]["wrong"],
    }
    assert "background server" in found["shared"]["wrong"][0]
    assert "  !! moved: cannot be used as it is\n     !! there is no file /gone/claude; mend" in text


def test_a_missing_connector_is_worth_a_note(saved, programs):
    programs.says("claude", "2.1.332")
    found, text = saved(config("mine", "claude"))
    (note,) = found["mine"]["notes"]
    assert note.endswith("npm install -g @agentclientprotocol/claude-agent-acp")
    assert "  -- mine: terminal only\n     -- claude-agent-acp is not installed" in text


def test_a_config_s_own_environment_decides(saved, programs, tmp_path):
    programs.says("claude", "2.1.332")
    other = tmp_path / "other"
    other.mkdir()
    for name, text in (("claude-agent-acp", "#!/usr/bin/env node\n"), ("node", "#!/bin/sh\necho v18.0.0\n")):
        (other / name).write_text(text)
        (other / name).chmod(0o755)
    found, _ = saved(
        config("mine", "claude", env={"PATH": f"{other}:{programs.bin}:/usr/bin:/bin"}),
        config("theirs", "claude"),
        code=1,
    )
    (text,) = found["mine"]["wrong"]
    assert "claude-agent-acp needs Node.js 22 or newer" in text
    assert found["theirs"]["wrong"] == []


def test_no_value_of_a_config_s_environment_is_told(saved, programs):
    programs.says("claude", "2.1.332")
    programs.says("claude-agent-acp", "x")
    programs.add("codex", 'echo "bad key $API_KEY, level $LEVEL" >&2; exit 1')
    found, text = saved(
        config("named", "claude", env={"CLAUDE_CODE_EXECUTABLE": "/secret/sesame"}),
        config("said", "codex", env={"API_KEY": "sk-sesame-1", "LEVEL": "1"}),
        code=1,
    )
    assert "sesame" not in json.dumps(found) + text
    (wrong,) = found["named"]["wrong"]
    assert wrong == "CLAUDE_CODE_EXECUTABLE names no program: there is no file •••; correct it or unset it"
    (wrong,) = found["said"]["wrong"]
    assert "codex --help ended with exit code 1: bad key •••, level 1" in wrong


def test_a_saved_config_whose_program_does_not_work(saved, programs):
    programs.add("claude", "echo no libc >&2; exit 127")
    programs.says("claude-agent-acp", "x")
    found, text = saved(config("mine", "claude"), code=1)
    assert found["mine"]["wrong"] == [
        "claude --version ended with exit code 127: no libc; mend that, or edit the config"
    ]
    assert "  !! Claude Code: something is wrong\n" in text


def test_a_shell_that_does_not_get_to_the_agent(saved, programs, tmp_path):
    (tmp_path / ".bashrc").write_text("exit 3\n")
    found, _ = saved(config("wrapped", "/bin/bash", "-ic", 'exec -- "$@"', "webmux", "claude"), code=1)
    assert found["wrapped"]["wrong"] == [
        "the shell of its command ends before the agent starts; look at its start files"
    ]


def test_names_do_no_harm_to_a_terminal(saved):
    _, text = saved(config("a\x1b]0;b\x07\n", "vi"), code=1)
    assert "!! a?]0;b??: cannot" in text


# --- the command ---


def test_the_text(doctor, programs):
    (programs.bin / "opencode").symlink_to("/gone")
    text = doctor(code=1)
    assert "  !! OpenCode: something is wrong\n       opencode: not found\n" in text
    assert f"     !! {programs.bin}/opencode is a link to /gone, which does not exist\n" in text
    assert "  -- omp: not installed\n     -- omp is not installed" in text
    assert re.search(r"  ok Demo agent: works\n       hybridmux-demo /\S+\n", text)
    assert "demo-lonely" not in text
    assert text.endswith("\nThe lines with !! need you.\n")


def test_the_json(doctor, programs, tmp_path):
    programs.says("opencode", "1.18.33")
    value = json.loads(doctor("--json"))
    assert value["ok"] is True
    assert value["agents"][0] == {
        "name": "opencode",
        "title": "OpenCode",
        "programs": [
            {
                "name": "opencode",
                "path": str(programs.bin / "opencode"),
                "version": "1.18.33",
                "verified": "1.18.33",
                "outdated": False,
            }
        ],
        "missing": False,
        "terminalOnly": False,
        "wrong": [],
        "notes": [],
    }
    assert value["server"] == [{"level": "ok", "text": "any free port will be taken"}]
    assert [one["level"] for one in value["data"]] == ["note"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("args", "shown"), [((), rb"b_\udcff"), (("--json",), b"b_?")])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_path_that_is_not_utf_8_is_told_all_the_same(programs, tmp_path, args, shown, encoding):
    odd = os.fsencode(tmp_path) + b"/b_\xff"
    programs.says("opencode", "1.18.33").parent.rename(os.fsdecode(odd))
    env = {"PATH": odd, "HOME": tmp_path, "PYTHONIOENCODING": encoding}
    argv = [PROGRAM, "doctor", "--port", "0", "--data", tmp_path / "data", *args]
    done = subprocess.run(argv, env=env, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert os.fsencode(tmp_path) + b"/" + shown + b"/opencode" in done.stdout
    if args:
        assert json.loads(done.stdout)["ok"] is True


def test_a_store_that_cannot_be_used_is_exit_1(doctor, tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "hybrid-sessions.json").write_text("[]")
    text = doctor(code=1)
    assert "!! " + str(data / "hybrid-sessions.json") in text


def test_a_bad_setting_is_exit_2(programs, tmp_path):
    argv = [PROGRAM, "doctor", "--port", "70000"]
    done = subprocess.run(argv, env=programs.env, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hybridmux: port 70000 is not between 0 and 65535\n"


def test_a_port_that_somebody_else_uses(doctor):
    with ExitStack() as stack:
        sock = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = sock.getsockname()[1]
        text = doctor("--port", str(port), code=1)
    assert re.search(rf"!! 127.0.0.1:{port} is in use by \S+ \(pid \d+\); end it or choose another", text)


async def test_a_server_that_runs_is_no_error(doctor, tmp_path):
    async with serving(tmp_path) as server:
        port = str(server.client.port)
        assert f"ok 127.0.0.1:{port}: a server runs on this data folder (pid " in doctor("--port", port)
        assert "-- any free port will be taken; a server runs on this data folder" in doctor()


# --- the first start ---


def test_what_is_found_is_offered(programs):
    programs.add("claude", "exit 1")
    programs.says("omp", "x")
    (programs.bin / "codex").mkdir()
    found = first_configs(PROFILES, programs.env, "/")
    assert [(one.name, one.cmd, one.hybrid) for one in found] == [
        ("omp", ["omp"], True),
        ("Claude Code", ["claude"], True),
        ("Demo agent", ["hybridmux-demo", "tui"], True),
    ]
    assert programs.runs("omp") == 0


async def test_it_is_offered_once(programs, tmp_path):
    programs.says("opencode", "1.18.33")
    env = {"PATH": f"{programs.bin}:/usr/bin:/bin"}
    async with serving(tmp_path, env=env) as server:
        configs = await server.client.get("/api/launch-configs")
        assert [one["name"] for one in configs] == ["Demo agent", "OpenCode"]
        assert all(one["hybrid"] and one["hybridSupport"]["supported"] for one in configs)
        for one in configs:
            await server.client.request("DELETE", f"/api/launch-configs/{one['id']}")
    async with serving(tmp_path, env=env) as server:
        assert await server.client.get("/api/launch-configs") == []
