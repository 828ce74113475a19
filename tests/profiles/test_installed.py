"""What is installed, asked of real (small) programs: nothing of them is left, whatever they do."""

import os

import pytest
import trio

from hybridmux.agents import claudecode, codex, omp, opencode
from hybridmux.agents.asking import ask, surroundings
from hybridmux.agents.installed import apart_from_shared_server, obstacles, outdated_of
from hybridmux.agents.launch import Launch
from hybridmux.agents.registry import Registry
from tests.support.processes import nothing_left
from tests.support.programs import Programs

__all__ = ["nothing_left"]

AGENTS = Registry()


@pytest.fixture
def programs(tmp_path):
    return Programs.below(tmp_path)


def launch(*cmd) -> Launch:
    found = AGENTS.read(cmd)
    assert isinstance(found, Launch)
    return found


async def told(*command, **more) -> list[str]:
    """What is in the way, each sentence once."""
    return list(dict.fromkeys(one.text for one in await obstacles(*command, **more)))


# --- asking ---


async def test_what_a_program_says_is_remembered_until_its_file_changes(programs):
    programs.says("x", "x 1.2.3")
    for _ in range(3):
        answer = await ask(("x",), "--version", programs.env, "/")
        assert (answer.text.strip(), answer.trouble) == ("x 1.2.3", None)
    assert programs.runs("x") == 1
    old = (programs.bin / "x").stat()
    programs.says("x", "x 1.2.4")  # npm and package managers may keep the time; the size is the same here
    os.utime(programs.bin / "x", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert "1.2.4" in (await ask(("x",), "--version", programs.env, "/")).text
    assert programs.runs("x") == 2


async def test_what_one_version_says_is_not_said_of_another(programs):
    """Behind a version manager's file a variable may choose the version."""
    count = f"echo x >>'{programs.bin.parent}/codex.runs'; "
    programs.add("codex", count + '[ "$CODEX_V" = new ] && echo "--no-daemon Run apart"; echo "--model"')
    for version, word in (("old", "codex"), ("new", "--no-daemon"), ("old", "codex"), ("new", "--no-daemon")):
        env = {**programs.env, "CODEX_V": version}
        found = await apart_from_shared_server(codex.PROFILE, launch("codex"), env, "/")
        assert isinstance(found, Launch)
        assert found.argv()[-1] == word
    assert programs.runs("codex") == 2
    # What differs at each start chooses nothing.
    await ask(("codex",), "--help", {**env, "TMPDIR": "/tmp/x", "SHLVL": "3", "_": "/bin/env"}, "/")
    assert programs.runs("codex") == 2


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("exec /bin/sleep 1000", "did not answer within 0.3 s"),
        ("trap '' TERM; /bin/sleep 1000 & wait; wait", "did not answer within 0.3 s"),
        ("echo broken >&2; exit 1", "ended with exit code 1: broken"),
        ("kill -9 $$", "was ended by signal 9"),
        ("while :; do echo 0123456789012345678901234567890123456789; done", "prints without end"),
    ],
)
async def test_a_program_that_gives_no_answer(programs, body, trouble):
    programs.add("x", body)
    seconds = 0.3 if "sleep" in body else 20
    begun = trio.current_time()
    for _ in range(2):  # it is not remembered either
        assert (await ask(("x",), "--version", programs.env, "/", seconds=seconds)).trouble == trouble
    assert trio.current_time() - begun < 15


async def test_what_it_leaves_in_the_background_is_ended_and_not_waited_for(programs):
    programs.add("x", "/bin/sleep 1000 & echo 1.0")
    answer = await ask(("x",), "--version", programs.env, "/", seconds=20)
    assert (answer.text.strip(), answer.trouble) == ("1.0", None)


async def test_it_reads_nothing_and_its_temp_folder_goes(programs, tmp_path):
    programs.add("x", 'read line; echo "[$line]"; echo big >"$TMPDIR/big"; echo "$TMPDIR"')
    said = (await ask(("x",), "--version", programs.env, "/")).text.split()
    assert said[0] == "[]"
    assert not await trio.Path(said[1]).exists()


async def test_a_program_that_is_not_there(programs):
    answer = await ask(("x",), "--version", programs.env, "/")
    assert answer.trouble is not None
    assert "no such program" in answer.trouble


async def test_a_wrapper_s_shell_decides_what_is_found(programs, tmp_path):
    programs.says("codex", "codex-cli 0.171.0")
    (tmp_path / ".bashrc").write_text(
        f"echo hello; export PATH={programs.bin}:/usr/bin:/bin CODEX_PATH=/none/codex TEXT='a\nb=c'\n"
    )
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": "/tmp/mine"}
    wrapped = launch("bash", "-ic", 'exec -- "$@"', "webmux", "codex")
    seen = await surroundings(wrapped, env, "/")
    assert seen is not None
    assert (seen["TEXT"], seen["TMPDIR"], "HYBRIDMUX_MARK" in seen) == ("a\nb=c", "/tmp/mine", False)
    found = await told(codex.PROFILE, wrapped, seen, "/")
    assert [one.split(":")[0] for one in found] == [
        "codex-acp is not installed (not found on PATH); npm install -g @agentclientprotocol/codex-acp",
        "CODEX_PATH names no program",
    ]
    assert await outdated_of(codex.PROFILE, wrapped, seen, "/", "") == []
    assert programs.runs("codex") == 1


async def test_nothing_is_said_against_a_command_whose_shell_does_not_get_so_far(programs, tmp_path):
    (tmp_path / ".bashrc").write_text("exit 3\n")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    wrapped = launch("bash", "-ic", 'exec -- "$@"', "webmux", "codex")
    assert await surroundings(wrapped, env, "/") is None
    assert await told(codex.PROFILE, wrapped, None, "/") == []
    assert await outdated_of(codex.PROFILE, wrapped, None, "/", "") == []
    assert "its shell did not get so far" in await apart_from_shared_server(codex.PROFILE, wrapped, None, "/")


# --- outdated ---


async def test_each_old_program_of_a_session_is_named(programs):
    programs.says("claude", "2.1.100 (Claude Code)")
    found = await outdated_of(claudecode.PROFILE, launch("claude"), programs.env, "/", "0.100.9")
    assert [(one.name, one.version, one.verified) for one in found] == [
        ("claude", "2.1.100", "2.1.332"),
        ("claude-agent-acp", "0.100.9", "0.101.0"),
    ]
    programs.says("claude", "2.2.0 (Claude Code)")
    assert await outdated_of(claudecode.PROFILE, launch("claude"), programs.env, "/", "") == []


@pytest.mark.parametrize("body", ["echo yes", "echo 1.0; exit 1", "exit 0", "echo version 2"])
async def test_a_program_that_says_nothing_we_understand_is_not_named(programs, body):
    programs.add("opencode", body)
    assert await outdated_of(opencode.PROFILE, launch("opencode"), programs.env, "/", "") == []


# --- the background server ---


async def test_a_codex_is_started_apart_as_its_help_text_says(programs):
    programs.says("codex", "  --no-daemon   Run without the shared background server")
    apart = await apart_from_shared_server(codex.PROFILE, launch("codex", "-m", "x"), programs.env, "/")
    assert isinstance(apart, Launch)
    assert apart.argv() == ["codex", "--no-daemon", "-m", "x"]
    same = launch("codex", "--no-daemon")
    assert await apart_from_shared_server(codex.PROFILE, same, programs.env, "/") is same
    assert programs.runs("codex") == 1


@pytest.mark.parametrize("body", ["exit 1", "echo manage the app-server daemon", "echo --no-daemon; exit 2"])
async def test_a_codex_that_may_be_in_its_server_is_refused(programs, body):
    programs.add("codex", body)
    said = await apart_from_shared_server(codex.PROFILE, launch("codex"), programs.env, "/")
    assert isinstance(said, str)
    assert "background server" in said


async def test_agents_without_a_server_are_not_asked(programs):
    programs.says("omp", "x")
    command = launch("omp")
    assert await apart_from_shared_server(omp.PROFILE, command, programs.env, "/") is command
    assert programs.runs("omp") == 0


# --- obstacles ---


async def test_nothing_is_in_the_way_of_what_is_installed_well(programs):
    programs.says("claude", "2.1.332")
    programs.says("node", "v22.0.0")
    programs.npm("@agentclientprotocol/claude-agent-acp", "0.101.0", "claude-agent-acp")
    assert await told(claudecode.PROFILE, launch("claude"), programs.env, "/") == []


async def test_a_node_that_is_too_old_or_missing_is_in_the_way_of_the_chat_alone(programs):
    programs.says("claude", "2.1.332")
    programs.npm("@agentclientprotocol/claude-agent-acp", "0.101.0", "claude-agent-acp")
    (text,) = await told(claudecode.PROFILE, launch("claude"), programs.env, "/", side="acp")
    assert "needs Node.js: node is not installed" in text
    programs.says("node", "v20.20.2")
    (text,) = await told(claudecode.PROFILE, launch("claude"), programs.env, "/", side="acp")
    assert text == (
        f"claude-agent-acp needs Node.js 22 or newer, but {programs.bin}/node is 20.20.2; "
        "install Node.js 22 or newer (https://nodejs.org)"
    )
    assert await told(claudecode.PROFILE, launch("claude"), programs.env, "/", side="tui") == []


async def test_an_engine_given_in_the_command_is_looked_at_too(programs, tmp_path):
    programs.says("bun", "1.3.13")
    script = tmp_path / "omp"
    command = launch("bun", str(script))
    assert await told(omp.PROFILE, command, programs.env, "/", side="tui") == [
        f"there is no file {script} that can be read"
    ]
    script.write_text("")
    (text,) = await told(omp.PROFILE, command, programs.env, "/")
    assert "omp needs Bun 1.3.14 or newer" in text
    programs.says("bun", "1.3.14")
    assert await told(omp.PROFILE, command, programs.env, "/") == []


def runnable(file, text):
    """A file that may be executed."""
    file.write_text(text)
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda file: file.mkdir(), "is a folder, not a program"),
        (lambda file: file.symlink_to("/gone/opencode"), "is a link to /gone/opencode, which does not exist"),
        (lambda file: runnable(file, "#!/bin/\0sh\n"), "needs \0sh: there is no file /bin/\0sh"),
        (lambda file: file.write_text("x"), "is not an executable file (chmod +x)"),
        (lambda file: os.mkfifo(file), "is no program"),
        (lambda file: runnable(file, "@ECHO off\r\n"), "opencode is a script for Windows, not a program"),
        (lambda file: None, "opencode is not installed (not found on PATH); npm install -g opencode-ai"),
    ],
)
async def test_a_file_that_is_no_program(programs, make, words):
    make(programs.bin / "opencode")
    for side in ("tui", "acp", None):
        (text,) = await told(opencode.PROFILE, launch("opencode"), programs.env, "/", side=side)
        assert text.endswith(words)


async def test_a_script_without_a_first_line_runs_as_in_a_shell(programs):
    runnable(programs.bin / "codex", "echo '--no-daemon  codex-cli 0.171.0'\n")
    programs.says("codex-acp", "2.6.0")
    assert await told(codex.PROFILE, launch("codex"), programs.env, "/") == []
    apart = await apart_from_shared_server(codex.PROFILE, launch("codex"), programs.env, "/")
    assert isinstance(apart, Launch)
    assert apart.argv() == ["codex", "--no-daemon"]


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_EXECUTABLE"])
@pytest.mark.parametrize(
    ("value", "well"), [("/gone", False), ("claude", True), ("my.js", True), ("my", False)]
)
async def test_the_user_s_own_program_must_exist(programs, tmp_path, variable, value, well):
    (tmp_path / "my.js").write_text("")
    programs.says("claude", "2.1.332")
    programs.says("claude-agent-acp", "0.101.0")
    env = {**programs.env, variable: value}
    found = await told(claudecode.PROFILE, launch("claude"), env, str(tmp_path), side="acp")
    assert [one.split(":")[0] for one in found] == ([] if well else [f"{variable} names no program"])
    assert not any(value in one.partition(":")[2] for one in found), "values of the environment are not told"


@pytest.mark.parametrize("kind", ["text", "link"])
@pytest.mark.parametrize(
    "value",
    ["private", "./private", "{}/private", "{}//private", "no/../private", "{}/./no/../private", "private/"],
)
async def test_however_the_user_s_own_program_is_spelled_it_is_not_told(programs, tmp_path, kind, value):
    file = tmp_path / "private"
    if kind == "link":
        file.symlink_to("/nowhere")
    else:
        file.write_text("hello")
        file.chmod(0o755)
    programs.says("claude", "2.1.332")
    programs.says("claude-agent-acp", "0.101.0")
    env = {"PATH": f"{programs.env['PATH']}:{tmp_path}", "CLAUDE_CODE_EXECUTABLE": value.format(tmp_path)}
    (text,) = await told(claudecode.PROFILE, launch("claude"), env, str(tmp_path), side="acp")
    assert text.startswith("CLAUDE_CODE_EXECUTABLE names no program: ")
    assert "private" not in text


async def test_the_user_s_own_program_that_is_blank(programs):
    programs.says("codex", "codex-cli 0.171.0")
    programs.says("codex-acp", "2.6.0")
    env = {**programs.env, "CODEX_PATH": " "}
    assert await told(codex.PROFILE, launch("codex"), env, "/") == [
        "CODEX_PATH names no program: it is blank; correct it or unset it"
    ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo no libc >&2; exit 127", "ended with exit code 127: no libc"),
        ("kill -SEGV $$", "was ended by signal 11"),
        ("echo hello", "names no version that could be read"),
    ],
)
async def test_an_engine_that_does_not_work_is_in_the_way(programs, body, words):
    programs.says("claude", "2.1.332")
    programs.npm("@agentclientprotocol/claude-agent-acp", "0.101.0", "claude-agent-acp")
    node = programs.add("node", body)
    (text,) = await told(claudecode.PROFILE, launch("claude"), programs.env, "/", side="acp")
    assert text.startswith(f"claude-agent-acp needs Node.js, but {node} --version {words}; install Node.js")
    assert await told(claudecode.PROFILE, launch("claude"), programs.env, "/", side="tui") == []


async def test_obstacles_are_quick(programs):
    programs.says("claude", "2.1.332")
    programs.says("node", "v22.0.0")
    programs.npm("@agentclientprotocol/claude-agent-acp", "0.101.0", "claude-agent-acp")
    for _ in range(3):
        await told(claudecode.PROFILE, launch("claude"), programs.env, "/")
    assert (programs.runs("node"), programs.runs("claude")) == (1, 0)
