import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from hybridmux.proc import spawn as module
from hybridmux.proc import table
from hybridmux.proc.mark import ENV
from hybridmux.proc.spawn import DEVNULL, PIPE, SpawnFailed, resolve, spawn


def program(path, text="#!/bin/sh\n", mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return str(path)


class TestResolve:
    def test_found_as_a_shell_would(self, tmp_path):
        program(tmp_path / "a" / "tool", mode=0o644)
        (tmp_path / "b" / "tool").mkdir(parents=True)
        wanted = program(tmp_path / "c" / "tool")
        program(tmp_path / "d" / "tool")
        path = ":".join(f"{tmp_path}/{one}" for one in ("missing", "a", "b", "c", "d"))
        assert resolve("tool", path, "/") == wanted

    def test_relative_to_the_childs_folder(self, tmp_path):
        wanted = program(tmp_path / "bin" / "tool")
        assert Path(resolve("bin/tool", "", str(tmp_path))).samefile(wanted)
        assert Path(resolve("./bin/tool", "/usr/bin", str(tmp_path))).samefile(wanted)
        assert Path(resolve("tool", "bin", str(tmp_path))).samefile(wanted)
        assert Path(resolve("tool", "/x:", str(tmp_path / "bin"))).samefile(wanted)

    @pytest.mark.parametrize(
        ("name", "cwd", "sentence", "missing"),
        [
            ("no-such-tool", "/", "cannot start no-such-tool: no such program in PATH", True),
            ("/no/such/tool", "/", "cannot start /no/such/tool: no such program", True),
            ("/etc/passwd/x", "/", "cannot start /etc/passwd/x: no such program", True),
            ("/etc/passwd", "/", "cannot start /etc/passwd: Permission denied", False),
            ("/tmp", "/", "cannot start /tmp: Permission denied", False),
            (
                "sh",
                "/no/such/folder",
                "cannot use the folder /no/such/folder: No such file or directory",
                False,
            ),
            ("sh", "/etc/passwd", "cannot use the folder /etc/passwd: it is not a folder", False),
            ("", "/", "cannot start '' in '/': a program and an absolute folder are needed", False),
            ("sh", "tmp", "cannot start 'sh' in 'tmp': a program and an absolute folder are needed", False),
            (
                "s\0h",
                "/",
                r"cannot start 's\x00h' in '/': a program and an absolute folder are needed",
                False,
            ),
        ],
    )
    def test_what_is_wrong_is_said(self, name, cwd, sentence, missing):
        with pytest.raises(SpawnFailed) as caught:
            resolve(name, "/usr/bin", cwd)
        assert str(caught.value) == sentence
        assert caught.value.missing is missing


async def finished(argv, env, mark, cwd="/"):
    """(exit code, output) of a program."""
    child = await spawn(
        argv, cwd=cwd, env=env, stdin=DEVNULL, stdout=PIPE, stderr=subprocess.STDOUT, mark=mark
    )
    code = await child.wait()
    output = b""
    while piece := os.read(child.stdout, 65536):
        output += piece
    child.close()
    return code, output.decode()


async def test_what_a_child_gets(mark, env, tmp_path):
    env = {**env, "ONE": "1", ENV: "the outer server's"}
    code, output = await finished(["env"], env, mark, cwd=str(tmp_path))
    assert code == 0
    given = dict(line.split("=", 1) for line in output.splitlines())
    assert given == {**env, ENV: str(mark), "PWD": str(tmp_path)}


async def test_its_own_session_and_group(mark, env):
    _, output = await finished(["cat", "/proc/self/stat"], env, mark)
    seen = table.parse_stat(output.encode())
    assert seen.pid == seen.sid == seen.pgid


async def test_only_the_standard_descriptors(mark, env):
    leak, other = os.pipe()
    os.set_inheritable(leak, True)
    _, output = await finished(["sh", "-c", "ls /proc/$$/fd"], env, mark)
    os.close(leak)
    os.close(other)
    assert output.split() == ["0", "1", "2"]


async def test_signals_are_as_in_a_new_login(mark, env):
    _, output = await finished(["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"], env, mark)
    assert [int(line.split()[1], 16) for line in output.splitlines()] == [0, 0]


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -signal.SIGKILL)])
async def test_exit_codes(started, script, code):
    child = await started(script)
    assert await child.wait() == child.returncode == code
    child.close()


async def test_everyone_may_wait(started):
    child = await started("read x; exit 3")
    codes = []

    async def wait():
        codes.append(await child.wait())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert child.returncode is None
        assert module.live_children() == 1
        child.close_stdin()
    assert codes == [3, 3, 3]
    assert module.live_children() == 0
    child.close()


async def test_pipes_do_not_block(started):
    child = await started("read x; cat >/dev/null")
    with pytest.raises(BlockingIOError):
        os.read(child.stdout, 1)
    assert not os.get_blocking(child.stdin)
    with suppress(BlockingIOError):
        while os.write(child.stdin, bytes(65536)):
            pass
    child.close()
    assert await child.wait() == 0


async def test_closing_wakes_who_reads(started):
    child = await started("read x")

    async def read():
        with pytest.raises(trio.ClosedResourceError):
            await trio.lowlevel.wait_readable(child.stdout)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        child.close()
    child.close()
    await child.wait()


@pytest.mark.parametrize("text", ['printf %s "$1"\n', "\n", ""])
async def test_a_text_without_a_first_line_is_run_by_sh_as_shells_do(mark, env, tmp_path, text):
    argv = [program(tmp_path / "text", text), "a b"]
    child = await spawn(argv, cwd="/", env=env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, mark=mark)
    assert await child.wait() == 0
    assert os.read(child.stdout, 99) == (b"a b" if "printf" in text else b"")
    child.close()


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["no-such-tool"], "no such program"),
        (["sh", "-c", "\0"], "cannot start sh: embedded null byte"),
        (["sh", "-c", "x" * 2_000_000], "cannot start sh: Argument list too long"),
        (["./other"], "cannot start ./other: Exec format error"),
        (["./script"], "/script: its interpreter /no/such/interpreter: No such file or directory"),
        (["./spaced"], "/spaced: its interpreter ./other/x: No such file or directory"),
        (["./windows"], r"/windows: its first line ends in a carriage return \(Windows line ends\)$"),
        (["./folder"], "/folder: its interpreter /etc: Permission denied"),
    ],
)
async def test_failures_leave_nothing(mark, env, tmp_path, argv, sentence):
    program(tmp_path / "other", "\x7fELF\0 of another machine")
    program(tmp_path / "script", "#!/no/such/interpreter\n")
    program(tmp_path / "spaced", "#! \t./other/x -w\n")
    program(tmp_path / "windows", "#!/bin/sh\r\n")
    program(tmp_path / "folder", "#!/etc\n")
    with pytest.raises(SpawnFailed, match=sentence):
        await spawn(argv, cwd=str(tmp_path), env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE, mark=mark)
    assert module.owned() == {}


@pytest.mark.parametrize("line", ["#!sh\n", "#! {folder}/link -e\n"])
async def test_an_interpreter_that_is_there_is_no_obstacle(mark, env, tmp_path, line):
    (tmp_path / "link").symlink_to("/bin/sh")
    (tmp_path / "sh").symlink_to("/bin/sh")
    script = program(tmp_path / "script", line.format(folder=tmp_path) + "exit 7\n")
    child = await spawn(
        [script], cwd=str(tmp_path), env=env, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, mark=mark
    )
    assert await child.wait() == 7
    child.close()


async def test_cancelled_before_it_starts_anything(mark, env):
    with trio.CancelScope() as scope:
        scope.cancel()
        await spawn(["sh"], cwd="/", env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE, mark=mark)
    assert scope.cancelled_caught
    assert module.owned() == {}


async def test_cancelled_while_it_starts_the_caller_still_gets_it(mark, env, monkeypatch):
    """Or else nobody would wait for it."""
    real = trio.lowlevel.open_process

    async def cancelled_in_between(*args, **kwargs):
        process = await real(*args, **kwargs)
        scope.cancel()
        return process

    monkeypatch.setattr(trio.lowlevel, "open_process", cancelled_in_between)
    with trio.CancelScope() as scope:
        child = await spawn(["true"], cwd="/", env=env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, mark=mark)
    assert await child.wait() == 0
    child.close()
