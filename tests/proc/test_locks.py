"""Who holds a lock and who listens, by what the kernel says of this process."""

import errno
import fcntl
import os
import socket
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.proc import locks
from hybridmux.proc.locks import holders, listener, listening, lock_holder, lock_holders, parse_locks

TABLE = """\
1: FLOCK  ADVISORY  WRITE 100 fe:00:2377152 0 EOF
2: POSIX  ADVISORY  READ 101 08:01:77 0 EOF
2: -> POSIX  ADVISORY  WRITE 102 08:01:77 0 EOF
3: OFDLCK ADVISORY  WRITE -1 08:01:78 0 EOF
4: LEASE  ACTIVE    READ 103 08:01:79 0 EOF
5: FLOCK  ADVISORY  WRITE 104 fe:00:2377152 0 EOF
nonsense
"""
INODE = (0xFE, 0, 2377152)


def test_the_locks_that_are_held():
    expected = [(100, INODE), (101, (8, 1, 77)), (-1, (8, 1, 78)), (104, INODE)]
    assert parse_locks(TABLE) == expected


@pytest.mark.parametrize(
    ("inode", "having_it_open", "held"),
    [
        (INODE, set(), {100, 104}),
        ((8, 1, 78), set(), {-1}),
        ((0xFE, 0, 2377153), {100, 104}, set()),
        ((0xFE, 1, 2377152), set(), set()),
        ((0xFE, 1, 2377152), {104}, {104}),
        ((0, 0x2B, 77), {101, 102}, {101}),
        ((0, 0x2B, 78), {-1}, set()),
    ],
)
def test_who_holds_a_lock(inode, having_it_open, held):
    assert holders(parse_locks(TABLE), inode, having_it_open.__contains__) == held


def test_nobody_s_files_are_looked_at_for_a_lock_on_another_inode():
    asked = []
    assert not holders(parse_locks(TABLE), (0, 0x2B, 77), asked.append)
    assert asked == [101]


@given(st.text())
def test_no_table_makes_it_raise(text):
    assert parse_locks(text + "\n1: FLOCK  ADVISORY  WRITE 1 00:00:1 0 EOF")


def on_another_device(parse, text):
    """As on overlayfs: the kernel names the device below."""
    return [(pid, (major, minor + 1, number)) for pid, (major, minor, number) in parse(text)]


def test_a_lock_that_the_kernel_files_under_another_device(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "parse_locks", partial(on_another_device, parse_locks))
    (tmp_path / "link").symlink_to(tmp_path)
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert lock_holders(tmp_path / "lock") == {os.getpid()}
        assert lock_holders(tmp_path / "link" / "lock") == {os.getpid()}
        (tmp_path / "lock").rename(tmp_path / "elsewhere")
        (tmp_path / "lock").touch()
        assert not lock_holders(tmp_path / "lock")


def test_who_holds_what_cannot_be_looked_at_is_not_known(tmp_path, monkeypatch):
    def dead(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "stat", dead)
    with pytest.raises(OSError, match="Input/output"):
        lock_holders(tmp_path / "lock")
    assert lock_holder(tmp_path / "lock") is None


@pytest.mark.parametrize("name", ["x\0y", "x\ud800y", "x" * 300])
def test_nobody_holds_what_is_no_path(tmp_path, name):
    assert not lock_holders(tmp_path / name)


def test_the_holder_of_a_lock(tmp_path):
    path = tmp_path / "lock"
    assert lock_holder(path) is None
    with path.open("w") as file:
        assert lock_holder(path) is None
        fcntl.flock(file, fcntl.LOCK_EX)
        assert lock_holder(path) == os.getpid()
    assert lock_holder(path) is None


def test_who_listens():
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as sock:
            sock.bind((host, 0))
            port = sock.getsockname()[1]
            assert listener(port) is None
            sock.listen()
            found = listener(port)
            assert found is not None
            assert found.pid == os.getpid()


def test_only_listening_sockets_of_the_port_count():
    end = "00000000:00000000 00:00000000 00000000  1000        0 {} 1 0000 100 0 0 10 0"
    lines = [
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
        "   0: 0100007F:2253 00000000:0000 0A " + end.format(11),
        "   1: 0100007F:2253 0100007F:9000 01 " + end.format(12),
        "   2: 0100007F:2254 00000000:0000 0A " + end.format(13),
        "garbage",
    ]
    assert listening(lines, 0x2253) == {"socket:[11]"}
