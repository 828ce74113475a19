"""What files say of a running TUI and of everybody who has a session open, over real processes and locks."""

import fcntl
import os
import subprocess
import sys

import pytest

from hybridmux.agents import claudecode, codex, demo_profile, omp, opencode
from hybridmux.agents import testimony as files
from hybridmux.agents.testimony import Openers, Subject, openers
from hybridmux.proc import table
from hybridmux.proc.table import Entry
from tests.support.fake_claude import foreign

SESSION = "48eb007c-3c6b-4ba8-b23f-7c6ce8782516"
OTHER = SESSION.replace("4", "5")
NOBODY: frozenset[int] = frozenset()


def process(pid: int, ppid: int, name: str, state: str = "S") -> Entry:
    return Entry(
        pid=pid, ppid=ppid, name=name, state=state, pgid=1, sid=1, tty_nr=0, threads=1, start_ticks=1
    )


def subject(tmp_path, *, by_engine: bool, pid: int = 10) -> Subject:
    return Subject(
        pid=pid, start_ticks=1, by_engine=by_engine, tty="/dev/pts/0", cwd="/",
        env={"HOME": str(tmp_path)}, started_at=0.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("by_engine", "children", "not_root"),
    [
        (True, [(11, 10, "claude"), (12, 10, "claude")], True),
        (False, [(11, 10, "claude"), (12, 10, "claude")], False),
        (True, [(11, 10, "claude")], False),
        (True, [(11, 10, "claude"), (12, 10, "rg")], False),
        (True, [(11, 10, "claude"), (12, 10, "claude", "Z")], False),
        (True, [(11, 10, "claude"), (12, 11, "claude")], False),
        (True, [(11, 10, "claude"), (12, 1, "claude")], False),
        (True, [], False),
    ],
)
def test_which_program_is_the_terminal_s_own(tmp_path, monkeypatch, by_engine, children, not_root):
    found = {each[0]: process(*each) for each in [(10, 1, "node"), *children]}
    monkeypatch.setattr(table, "entry", found.get)
    monkeypatch.setattr(table, "children", lambda pid: [one.pid for one in found.values() if one.ppid == pid])
    stated = files.testimony(claudecode.PROFILE, subject(tmp_path, by_engine=by_engine))
    assert (stated.not_root, stated.session_id) == (not_root, None)


def test_only_agents_whose_files_name_everybody_are_looked_at():
    shown = {one.PROFILE.name for one in (claudecode, codex, demo_profile, omp, opencode) if _shows(one)}
    assert shown == {"claudecode", "codex"}


def _shows(module) -> bool:
    return module.PROFILE.names_openers


def test_who_is_registered_counts_while_it_lives(tmp_path):
    env = {"HOME": str(tmp_path)}
    with foreign(tmp_path / ".claude", SESSION) as pid:
        found = openers(claudecode.PROFILE, SESSION, env)
        assert found.any_but(NOBODY)
        assert not found.any_but(frozenset({pid}))
        assert not openers(claudecode.PROFILE, OTHER, env)
    assert not openers(claudecode.PROFILE, SESSION, env)


@pytest.mark.parametrize("change", [{"procStart": "1"}, {"pidDomain": "linux:x:pid:[1]"}, {"pid": 1}])
def test_a_registration_that_does_not_fit_its_process_counts_for_nothing(tmp_path, change):
    with foreign(tmp_path / ".claude", SESSION, **change):
        assert not openers(claudecode.PROFILE, SESSION, {"HOME": str(tmp_path)})


def test_who_holds_a_lock_counts_until_it_ends(tmp_path):
    env = {"CODEX_HOME": str(tmp_path)}
    file = tmp_path / f"thread-writer-locks/{SESSION}.lock"
    file.parent.mkdir()
    file.touch()
    hold = "import fcntl,sys,time; f=open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); time.sleep(600)"
    assert not openers(codex.PROFILE, SESSION, env)
    program = subprocess.Popen([sys.executable, "-S", "-c", hold, str(file)], stdout=subprocess.PIPE)
    try:
        assert program.stdout.readline() == b"\n"
        found = openers(codex.PROFILE, SESSION, env)
        assert found.any_but(NOBODY)
        assert not found.any_but(frozenset({program.pid}))
    finally:
        program.kill()
        program.communicate()
    assert not openers(codex.PROFILE, SESSION, env)
    with file.open() as ours:
        fcntl.flock(ours, fcntl.LOCK_EX)
        assert not openers(codex.PROFILE, SESSION, env).any_but(frozenset({os.getpid()}))


def test_nothing_of_them_is_in_their_text():
    assert repr(Openers(frozenset({(28671, 309755)}))) == "Openers()"


def test_another_process_with_the_same_pid_is_another_one():
    before, now = Openers(frozenset({(5, 1), (6, 1)})), Openers(frozenset({(5, 2), (6, 1)}))
    assert now.without(before).any_but(frozenset({6}))
    assert not now.without(now)
