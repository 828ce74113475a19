import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.proc import table
from hybridmux.proc.mark import ENV, Mark
from hybridmux.proc.table import Entry, parse_stat

LINE = b"%d (%s) %c 1 2 3 34816 5 4194304 1 2 3 4 5 6 7 8 20 0 %d 0 987654 1000 20 18446744073709551615\n"


@pytest.mark.parametrize("name", [b"sh", b"a b", b") S 1 2 (", b"new\nline", b"\xff\xfe", b""])
def test_a_line_is_read_whatever_the_program_calls_itself(name):
    found = parse_stat(LINE % (77, name, b"S", 1))
    shown = name.decode("utf-8", "replace")
    assert found == Entry(77, shown, "S", 1, 2, 3, 34816, 1, 987654)


@given(st.binary())
def test_reading_survives_any_bytes(text):
    assert parse_stat(text) is None or b" (" in text


@pytest.mark.parametrize(
    ("state", "threads", "alive"),
    [(b"S", 1, True), (b"T", 1, True), (b"Z", 1, False), (b"X", 1, False), (b"Z", 3, True)],
)
def test_who_counts_as_alive(state, threads, alive):
    found = parse_stat(LINE % (77, b"sh", state, threads))
    assert found is not None
    assert found.alive is alive


def tree(*pairs):
    return {pid: Entry(pid, "x", "S", ppid, pid, pid, 0, 1, pid) for pid, ppid in pairs}


def test_relations():
    processes = tree((1, 0), (2, 1), (3, 2), (4, 3), (5, 1), (6, 99))
    assert table.descendants(2, processes) == {3, 4}
    assert table.descendants(1, processes) == {2, 3, 4, 5}
    assert table.descendants(77, processes) == set()
    assert table.below([3, 5, 77], processes) == {3, 4, 5}
    assert table.ancestors(4, processes) == {3, 2, 1}
    assert table.ancestors(6, processes) == set()


def test_a_ring_of_parents_ends():
    """A snapshot is not taken at one instant: with pids used again it may be inconsistent."""
    processes = tree((2, 3), (3, 2))
    assert table.descendants(2, processes) == {3}
    assert table.ancestors(2, processes) == {2, 3}


def test_ourselves():
    me = table.entry(os.getpid())
    assert me is not None
    assert (me.ppid, me.sid, me.pgid) == (os.getppid(), os.getsid(0), os.getpgrp())
    assert table.entries()[os.getpid()].start_ticks == me.start_ticks
    assert Path(sys.executable).name[:6] in table.command_line(os.getpid())


def test_nobody():
    gone = 2**22 + 1  # above the highest pid there can be
    assert table.entry(gone) is None
    assert table.environ_mark(gone) is None
    assert table.command_line(gone) == ""
    assert table.open_files(gone) == set()


async def test_a_childs_mark(started, read_line, mark):
    child = await started("echo ready; read x")
    await read_line(child)
    assert table.environ_mark(child.pid) == mark
    child.close()
    assert await child.wait() == 1
    assert table.environ_mark(child.pid) is None


async def test_a_variable_that_only_ends_like_the_mark_is_none(started, read_line, mark):
    child = await started(f"exec env -i NOT_{ENV}={mark} /bin/sh -c 'echo ready; read x'")
    await read_line(child)
    assert table.environ_mark(child.pid) is None
    child.close()
    await child.wait()


async def test_a_leader_whose_other_threads_run_on_is_alive(started, read_line, until):
    program = (
        "import ctypes, sys, threading; threading.Thread(target=sys.stdin.read).start();"
        "print('ready', flush=True); ctypes.CDLL(None).pthread_exit(None)"
    )
    child = await started(f'exec {sys.executable} -c "{program}"')
    await read_line(child)
    await until(lambda: table.entry(child.pid).state == "Z")
    assert table.entry(child.pid).alive
    child.close()
    await child.wait()


def test_the_boot_has_an_id():
    assert table.boot_id() == table.boot_id()
    assert Mark("d", "s", table.boot_id(), "r")


def test_children_are_those_that_the_table_has(monkeypatch):
    with subprocess.Popen(["sleep", "60"]) as one, subprocess.Popen(["sleep", "60"]) as other:
        quick = set(table.children(os.getpid()))
        monkeypatch.setattr(os.path, "exists", lambda _: False)  # a kernel without such lists
        slow = set(table.children(os.getpid()))
        one.kill()
        other.kill()
    assert {one.pid, other.pid} <= quick
    assert quick == slow
    assert table.children(one.pid) == []
