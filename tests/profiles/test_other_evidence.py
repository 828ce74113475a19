"""codex's locks and omp's breadcrumbs."""

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from hybridmux.agents import codex_locks, omp_breadcrumb
from hybridmux.agents import testimony as files
from hybridmux.agents.codex import PROFILE as CODEX
from hybridmux.agents.omp_breadcrumb import Breadcrumb

OLD, NEW = "01a22a6a-70e8-7dc2-ad0c-b97e8b7be7a7", "01a22a6b-0000-7dc2-ad0c-b97e8b7be7a7"
HOME = "/home/user/.codex"
LOCKS = f"{HOME}/thread-writer-locks"

# --- codex ---


SIDE = "01a22e24-958e-72a1-b3ef-b235e272fa0d"
LATER = "01a22e24-aaaa-72a1-b3ef-b235e272fa0d"


def rollout(home, thread, day, line):
    folder = home / "sessions" / day
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rollout-2026-11-30T20-27-59-{thread}.jsonl").write_bytes(line + b"\n{}\n")


def meta(source):
    return b'{"type":"session_meta","payload":{"source":"cli","thread_source":"%s"}}' % source


@pytest.mark.parametrize(
    ("day", "line", "found"),
    [
        ("2026/11/30", meta(b"tui_side_chat"), OLD),
        ("2026/11/29", meta(b"tui_side_chat"), OLD),
        ("2026/12/01", meta(b"subagent"), OLD),
        ("2026/11/30", meta(b"user"), SIDE),
        ("2026/11/30", meta(b"something_new"), SIDE),
        ("2026/11/30", b'{"type":"session_meta","payload":{}}\n' + meta(b"subagent"), SIDE),
        ("2026/11/30", b"", SIDE),
        ("2026/11/28", meta(b"subagent"), SIDE),
    ],
)
def test_a_thread_beside_another_is_not_the_open_one(tmp_path, day, line, found):
    assert codex_locks.open_thread([OLD, SIDE], str(tmp_path)) == SIDE  # nothing was said in it yet
    rollout(tmp_path, SIDE, day, line)
    assert codex_locks.open_thread([OLD, SIDE], str(tmp_path)) == found
    assert codex_locks.open_thread([SIDE], str(tmp_path)) == SIDE
    assert codex_locks.open_thread([OLD, SIDE, LATER], str(tmp_path)) == LATER


def test_the_threads_among_open_files_oldest_first():
    files = {
        f"{LOCKS}/{NEW}.lock",
        f"{LOCKS}/{OLD}.lock",
        f"{HOME}/sessions/2026/11/30/rollout-2026-{OLD}.jsonl",
        "/dev/pts/3",
        "socket:[1]",
    }
    assert codex_locks.threads_in(files, HOME) == [OLD, NEW]


@pytest.mark.parametrize(
    "file",
    [
        f"/other{LOCKS}/{OLD}.lock",
        f"{LOCKS}/{OLD}.lock (deleted)",
        f"{LOCKS}/{OLD[:-1]}.lock",
        f"{LOCKS}/{OLD}.lock.tmp",
        f"{LOCKS}/deeper/{OLD}.lock",
        f"{HOME}/{OLD}.lock",
    ],
)
def test_no_other_file_is_a_lock_of_ours(file):
    assert codex_locks.threads_in([file], HOME) == []


def test_a_lock_that_this_process_holds_is_seen_and_is_its_own(tmp_path):
    where = {"CODEX_HOME": str(tmp_path)}, "/"
    home = codex_locks.home(*where)
    folder = tmp_path / "thread-writer-locks"
    folder.mkdir()
    assert not codex_locks.lockers(OLD, *where)
    with (folder / f"{OLD}.lock").open("w") as file:
        assert codex_locks.held_threads([os.getpid()], home) == [OLD]
        assert not codex_locks.lockers(OLD, *where)
        fcntl.flock(file, fcntl.LOCK_EX)
        assert codex_locks.lockers(OLD, *where) == {os.getpid()}
        assert not codex_locks.lockers(f"../{OLD}", *where)
    assert codex_locks.held_threads([os.getpid()], home) == []


@contextmanager
def holder(home, thread, *, launched=False):
    """A program that holds a thread's lock, or a launcher with such a child; the pid that was started."""
    lock = str(home / "thread-writer-locks" / f"{thread}.lock")
    hold = f"lock = open({lock!r}, 'w'); print(flush=True); input()"
    launch = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    argv = [sys.executable, "-c", launch if launched else hold]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        yield program.pid
        program.stdin.close()


def stated(pid, home):
    """The session that the files state of a codex with this pid."""
    env = {"CODEX_HOME": str(home)}
    subject = files.Subject(pid=pid, start_ticks=0, tty="", cwd="/", env=env, started_at=0)
    return files.testimony(CODEX, subject).session_id


@pytest.mark.parametrize("launched", [False, True])
def test_the_lock_of_a_program_or_of_what_its_launcher_started(tmp_path, launched):
    (tmp_path / "thread-writer-locks").mkdir()
    with holder(tmp_path, OLD, launched=launched) as pid:
        assert stated(pid, tmp_path) == OLD
    assert stated(pid, tmp_path) is None


def test_a_codex_that_was_started_by_a_codex_is_another_one(tmp_path):
    (tmp_path / "thread-writer-locks").mkdir()
    own = (tmp_path / "thread-writer-locks" / f"{OLD}.lock").open("w")
    with own, holder(tmp_path, NEW):
        assert stated(os.getpid(), tmp_path) == OLD


def test_codex_home():
    assert codex_locks.home({"HOME": "/nowhere"}, "/proj") == "/nowhere/.codex"
    assert codex_locks.home({"HOME": "/nowhere", "CODEX_HOME": "/x"}, "/proj") == "/x"
    assert codex_locks.home({"HOME": "/nowhere", "CODEX_HOME": ".own"}, "/proj") == "/proj/.own"


# --- omp ---

ID = "01a22a66-bfac-77b1-8c83-1079dd954913"
FILE = f"/home/user/.omp/agent/sessions/--proj--/2026-11-30T03-06-00-000Z_{ID}.jsonl"
CRUMB = Breadcrumb(cwd="/home/user/proj", session_id=ID, stored=True, written_at=1000.0)


def test_a_breadcrumb():
    text = f"/home/user/proj\n{FILE}\ncwdstat 2049 131\n"
    assert omp_breadcrumb.parse(text.encode(), 1000.0) == CRUMB
    fresh = omp_breadcrumb.parse(f"/home/user/proj\n{FILE}\nfresh\n".encode(), 1000.0)
    assert fresh == evolve(CRUMB, stored=False)
    assert "/home" not in repr(fresh)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"/home/user/proj",
        b"proj\n" + FILE.encode(),
        b"/home/user/proj\n" + FILE.lstrip("/").encode(),
        b"/home/user/proj\n/x/no-id.jsonl",
        b"/home/user/proj\n/x/t_../../y.jsonl",
        b"/home/user/proj\n" + FILE.encode() + b".gz",
        b"\xff\n" + FILE.encode(),
        b"/home/user/proj\n" + FILE.encode() + b"\n" + b"x" * omp_breadcrumb.BYTES,
    ],
)
def test_another_form_is_none(data):
    assert omp_breadcrumb.parse(data) is None


@pytest.mark.parametrize(
    ("cwd", "started_at", "doubt"),
    [
        ("/home/user/proj", 1000.0, None),
        ("/home/user/proj", 1000.5, "old"),
        ("/home/user", 999.0, "cwd"),
    ],
)
def test_each_check_fails_alone(cwd, started_at, doubt):
    assert omp_breadcrumb.doubt(CRUMB, cwd=cwd, started_at=started_at) == doubt


@pytest.mark.parametrize(
    ("tty", "name"), [("/dev/pts/3", "pts-3"), ("/dev/tty1", "tty1"), ("/tmp/x", None), ("/dev/../x", None)]
)
def test_the_name_of_a_terminal_s_breadcrumb(tty, name):
    assert omp_breadcrumb.file_name(tty) == name


def test_the_reader_takes_a_plain_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "pts-3").write_text(f"{tmp_path / 'link'}\n{FILE}\n")
    (tmp_path / "pts-4").symlink_to(tmp_path / "pts-3")
    os.mkfifo(tmp_path / "pts-5")

    here = os.path.realpath(tmp_path)

    def read(tty, cwd=here, started_at=1.0):
        return omp_breadcrumb.breadcrumb_of(tmp_path, tty, cwd=cwd, started_at=started_at)

    crumb = read("/dev/pts/3")
    assert crumb.session_id == ID
    assert read("/dev/pts/3", cwd="/") is None
    assert read("/dev/pts/3", started_at=crumb.written_at + 1) is None
    assert [read(f"/dev/pts/{n}") for n in (4, 5, 6)] == [None] * 3


STATE, MOVED = "/proj/state/omp", "/proj/state/omp/profiles/work"
PI = "/h/.omp/profiles/work/agent"


@pytest.mark.parametrize(
    ("env", "there", "folder"),
    [
        ({}, [], "/h/.omp/agent"),
        ({"PI_CODING_AGENT_DIR": "/x"}, [], "/x"),
        ({"PI_CODING_AGENT_DIR": "own"}, [], "/proj/own"),
        ({"PI_CONFIG_DIR": ".own"}, [], "/h/.own/agent"),
        ({"PI_CONFIG_DIR": "/own"}, [], "/h/own/agent"),
        ({"OMP_PROFILE": "work"}, [], PI),
        ({"PI_PROFILE": " work "}, [], PI),
        ({"OMP_PROFILE": "home", "PI_PROFILE": "work"}, [], "/h/.omp/profiles/home/agent"),
        ({"OMP_PROFILE": "", "PI_PROFILE": "work"}, [], "/h/.omp/agent"),
        ({"OMP_PROFILE": "default"}, [], "/h/.omp/agent"),
        ({"OMP_PROFILE": "../work"}, [], "/h/.omp/agent"),
        ({"OMP_PROFILE": "work", "PI_CONFIG_DIR": ".own"}, [], "/h/.own/profiles/work/agent"),
        ({"OMP_PROFILE": "work", "PI_CODING_AGENT_DIR": "/x"}, [], PI),
        ({"OMP_PROFILE": "", "PI_PROFILE": "work", "PI_CODING_AGENT_DIR": PI}, [], "/h/.omp/agent"),
        ({"OMP_PROFILE": "", "PI_PROFILE": "work", "PI_CODING_AGENT_DIR": "/x"}, [], "/x"),
        ({"XDG_STATE_HOME": "state"}, [], "/h/.omp/agent"),
        ({"XDG_STATE_HOME": "state"}, [STATE], STATE),
        ({"XDG_STATE_HOME": "/proj/state"}, [STATE], STATE),
        ({"XDG_STATE_HOME": "state\0"}, [STATE], "/h/.omp/agent"),
        ({"XDG_STATE_HOME": "state", "PI_CODING_AGENT_DIR": "/x"}, [STATE], "/x"),
        ({"XDG_STATE_HOME": "state", "PI_CODING_AGENT_DIR": "/h/.omp/agent/"}, [STATE], STATE),
        ({"XDG_STATE_HOME": "state", "OMP_PROFILE": "work"}, [STATE], PI),
        ({"XDG_STATE_HOME": "state", "OMP_PROFILE": "work"}, [MOVED], MOVED),
    ],
)
def test_omp_s_folder(tmp_path, env, there, folder):
    """The root of these paths is a folder of the test's own."""

    def below(path):
        return f"{tmp_path}{path}" if path.startswith("/") else path

    for path in there:
        Path(below(path)).mkdir(parents=True)
    rooted = {key: value if key == "PI_CONFIG_DIR" else below(value) for key, value in env.items()}
    found = omp_breadcrumb.folder({"HOME": below("/h"), **rooted}, below("/proj"))
    assert str(found) == below(f"{folder}/terminal-sessions")
