"""What files say of a running TUI and of everybody who has a session open, over real processes and locks."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from hybridmux.agents import agent_files, claude_registry, claudecode, codex, demo_profile, omp, opencode
from hybridmux.agents import testimony as files
from hybridmux.agents.testimony import Openers, Subject, openers
from hybridmux.proc import table
from tests.support.fake_claude import foreign, register
from tests.support.shortage import no_descriptors

SESSION = "48eb007c-3c6b-4ba8-b23f-7c6ce8782516"
OTHER = SESSION.replace("4", "5")
NOBODY: frozenset[int] = frozenset()


def subject(home, pid: int = 0, **changes) -> Subject:
    one = table.entry(pid)
    facts = {"pid": pid, "start_ticks": one.start_ticks if one else 1, "tty": "/dev/pts/0", "cwd": "/"}
    return Subject(**{**facts, "env": {"HOME": str(home)}, "started_at": 0.0, **changes})


@contextmanager
def launched(folder, *, agents: int = 1, name: str = "start", native: bool = True):
    """A launcher that stays and what it has started: two pids, the second of its last `claude`."""
    (folder / "bin").mkdir()
    if native:
        shutil.copy("/bin/sleep", folder / "bin" / "claude")
    else:
        (folder / "bin" / "claude").write_text('#!/bin/sh\nread -r _ <"$0.never"\n')
        os.mkfifo(folder / "bin" / "claude.never")
        (folder / "bin" / "claude").chmod(0o755)
    start = folder / name
    start.write_text(f"#!/bin/sh\n{f'{folder}/bin/claude 600 & ' * agents}echo; read -r _\n")
    start.chmod(0o755)
    with subprocess.Popen([start], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            yield program.pid, until_named(program.pid, agents)
        finally:
            for one in (program.pid, *table.children(program.pid)):
                os.kill(one, signal.SIGKILL)


def until_named(launcher: int, agents: int) -> int:
    """Waits until its children have become what they are to be: forked, they are as their launcher is."""
    while True:
        found = [pid for pid in table.children(launcher) if "/bin/claude 600" in table.command_line(pid)]
        if len(found) == agents:
            return found[-1]
        time.sleep(0.005)


@pytest.mark.parametrize("name", ["start", "node", "claude"])
def test_below_a_launcher_that_stays_its_only_claude_is_the_terminal_s(tmp_path, name):
    with launched(tmp_path, name=name) as (launcher, agent):
        one = subject(tmp_path, launcher)
        assert files.testimony(claudecode.PROFILE, one) == files.Testimony()
        register(tmp_path / ".claude", agent, SESSION, status="busy")
        assert files.testimony(claudecode.PROFILE, one) == files.Testimony(session_id=SESSION, turn="running")
        register(tmp_path / ".claude", agent, SESSION, procStart="1")
        assert files.testimony(claudecode.PROFILE, one) == files.Testimony()


def test_of_several_below_a_launcher_none_is_the_terminal_s(tmp_path):
    with launched(tmp_path, agents=2) as (launcher, agent):
        register(tmp_path / ".claude", agent, SESSION)
        assert files.testimony(claudecode.PROFILE, subject(tmp_path, launcher)) == files.Testimony(
            not_root=True
        )
        register(tmp_path / ".claude", launcher, OTHER)
        assert files.testimony(claudecode.PROFILE, subject(tmp_path, launcher)).session_id == OTHER


def test_a_claude_that_was_started_by_a_claude_is_another_one(tmp_path):
    with launched(tmp_path, name="claude", native=False) as (root, agent):
        register(tmp_path / ".claude", agent, SESSION)
        assert files.testimony(claudecode.PROFILE, subject(tmp_path, root)) == files.Testimony()


NO_PATHS = ("/x\0y", "/x\ud800y", "\0", "/" + "x" * 5000)


@pytest.mark.parametrize("folder", NO_PATHS)
def test_a_folder_that_is_no_path_is_not_the_terminal_s(tmp_path, folder):
    with foreign(tmp_path / ".claude", SESSION, cwd=folder) as pid:
        assert files.testimony(claudecode.PROFILE, subject(tmp_path, pid, cwd="/x")) == files.Testimony()
        assert openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)}, "/").any_but(NOBODY)
    crumbs = tmp_path / ".omp/agent/terminal-sessions"
    crumbs.mkdir(parents=True)
    (crumbs / "pts-0").write_text(f"{folder}\n/s/1_0123456789.jsonl\n", errors="replace")
    assert files.testimony(omp.PROFILE, subject(tmp_path, cwd="/x")) == files.Testimony()


@pytest.mark.parametrize("folder", NO_PATHS)
@pytest.mark.parametrize("profile", [claudecode.PROFILE, codex.PROFILE, omp.PROFILE])
def test_an_agent_s_folder_that_is_no_path_is_empty(profile, folder):
    env = dict.fromkeys(
        ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_STATE_HOME"), folder
    )
    assert files.testimony(profile, subject("/", os.getpid(), env=env)) == files.Testimony()
    assert not openers(profile, SESSION, env, "/")


def test_only_agents_whose_files_name_everybody_are_looked_at():
    shown = {one.PROFILE.name for one in (claudecode, codex, demo_profile, omp, opencode) if _shows(one)}
    assert shown == {"claudecode", "codex"}


def _shows(module) -> bool:
    return module.PROFILE.names_openers


def test_who_is_registered_counts_while_it_lives(tmp_path):
    env = {"HOME": str(tmp_path)}
    with foreign(tmp_path / ".claude", SESSION) as pid:
        found = openers(claudecode.PROFILE, SESSION, env, "/")
        assert found.any_but(NOBODY)
        assert not found.any_but(frozenset({pid}))
        assert not openers(claudecode.PROFILE, OTHER, env, "/")
    assert not openers(claudecode.PROFILE, SESSION, env, "/")


@pytest.mark.parametrize("change", [{"procStart": "1"}, {"pidDomain": "linux:x:pid:[1]"}, {"pid": 1}])
def test_a_registration_that_does_not_fit_its_process_counts_for_nothing(tmp_path, change):
    with foreign(tmp_path / ".claude", SESSION, **change):
        assert not openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)}, "/")


def test_who_is_registered_is_seen_without_a_descriptor(tmp_path):
    with foreign(tmp_path / ".claude", SESSION) as pid:
        one = subject(tmp_path, pid, cwd=os.path.realpath("."))
        with no_descriptors():
            found = openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)}, "/")
            assert files.testimony(claudecode.PROFILE, one).session_id == SESSION
        assert found.any_but(NOBODY)


@pytest.mark.parametrize("blind", [claude_registry, agent_files, table])
def test_nobody_is_taken_for_absent_where_not_even_the_spare_helps(tmp_path, monkeypatch, blind):
    def taken(work):
        raise OSError(errno.EMFILE, "Too many open files")

    with foreign(tmp_path / ".claude", SESSION) as pid:
        one = subject(tmp_path, pid, cwd=os.path.realpath("."))
        monkeypatch.setattr(blind, "with_spare", taken)
        with pytest.raises(OSError, match="Too many"):
            openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)}, "/")
        stated = files.testimony(claudecode.PROFILE, one)
        assert stated.session_id == (SESSION if blind is table else None)


def test_of_several_launched_that_cannot_be_looked_at_none_is_the_only_one(tmp_path, monkeypatch):
    with launched(tmp_path, agents=2) as (launcher, agent):
        register(tmp_path / ".claude", agent, SESSION)
        one, (hidden, _) = subject(tmp_path, launcher), sorted(table.children(launcher), key=agent.__eq__)
        look = table.with_spare

        def one_fails(work):
            if work.args[0] == f"/proc/{hidden}/stat":
                raise OSError(errno.EMFILE, "Too many open files")
            return look(work)

        monkeypatch.setattr(table, "with_spare", one_fails)
        assert files.testimony(claudecode.PROFILE, one) == files.Testimony()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_registry_that_is_there_and_cannot_be_looked_at_hides_who_is_in_it(tmp_path, monkeypatch, number):
    def refuse(folder):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(OSError, match=os.strerror(number)):
        openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)}, "/")
    assert files.testimony(claudecode.PROFILE, subject(tmp_path, os.getpid())) == files.Testimony()


@pytest.mark.parametrize("where", ["missing", "file", "loop"])
def test_nobody_is_in_a_registry_that_is_no_folder(tmp_path, where):
    config = tmp_path / ".claude"
    config.mkdir()
    if where == "file":
        (config / "sessions").touch()
    elif where == "loop":
        (config / "sessions").symlink_to(config / "sessions")
    assert not openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)}, "/")


def test_who_holds_a_lock_counts_until_it_ends(tmp_path):
    env = {"CODEX_HOME": str(tmp_path)}
    file = tmp_path / f"thread-writer-locks/{SESSION}.lock"
    file.parent.mkdir()
    file.touch()
    hold = "import fcntl,sys,time; f=open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); time.sleep(600)"
    assert not openers(codex.PROFILE, SESSION, env, "/")
    program = subprocess.Popen([sys.executable, "-S", "-c", hold, str(file)], stdout=subprocess.PIPE)
    try:
        assert program.stdout.readline() == b"\n"
        found = openers(codex.PROFILE, SESSION, env, "/")
        assert found.any_but(NOBODY)
        assert not found.any_but(frozenset({program.pid}))
    finally:
        program.kill()
        program.communicate()
    assert not openers(codex.PROFILE, SESSION, env, "/")
    with file.open() as ours:
        fcntl.flock(ours, fcntl.LOCK_EX)
        assert not openers(codex.PROFILE, SESSION, env, "/").any_but(frozenset({os.getpid()}))


def test_nothing_of_them_is_in_their_text():
    assert repr(Openers(frozenset({(28671, 309755)}))) == "Openers()"


def test_another_process_with_the_same_pid_is_another_one():
    before, now = Openers(frozenset({(5, 1), (6, 1)})), Openers(frozenset({(5, 2), (6, 1)}))
    assert now.without(before).any_but(frozenset({6}))
    assert not now.without(now)
