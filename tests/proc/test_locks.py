"""Who holds a lock and who listens, by what the kernel says of this process."""

import fcntl
import os
import socket

from hybridmux.proc.locks import listener, listening, lock_holder


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
