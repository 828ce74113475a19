"""The server's parent: a tiny process that outlives it by an instant and leaves nothing below it.

    shell ── keeper (this module, nothing heavy imported)
               └── server (everything else)
                     └── agents, shells, connectors, and what they started

Both are child subreapers. An orphan goes to the server, and when the server ends, however it ends, to the
keeper, which kills all it has until the kernel says there is no child left: the only proof without a gap.

Keeper and server stay in one process group, so the terminal's foreground group is right by itself and
Ctrl-C and Ctrl-Z reach both. The kernel says where a signal came from, and the keeper passes on only those
a process sent; whoever signals the whole group reaches the server twice, which `signals.stop_requests`
takes as once.

Nothing heavy is imported here: the fork must come before threads and before megabytes.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

PR_SET_CHILD_SUBREAPER = 36
SI_KERNEL = 0x80
PASSED_ON = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2})
_LISTENED = PASSED_ON | {signal.SIGQUIT, signal.SIGCHLD}
LAST_SECONDS = 5.0
"""How long the keeper goes on killing; only a process in an uninterruptible system call outlives this."""

_keeper: int | None = None


def keeper_pid() -> int | None:
    """The pid of the keeper above this process; None when it was started without one."""
    return _keeper


def set_subreaper() -> None:
    """Orphans below this process become its children. Not inherited by fork. Raises OSError if refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(number)}")


def run_under_keeper(main: Callable[[], int]) -> NoReturn:
    """Forks; `main` runs in the child, which is the server, and its result is the exit code of both.

    Returns in neither process. A server that dies of a signal gives 128 + its number.
    """
    global _keeper  # noqa: PLW0603 - one process has one keeper
    above = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _LISTENED)
    server = os.fork()
    if server:
        set_subreaper()
        os._exit(_keep(server))
    _keeper = above
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    set_subreaper()
    sys.exit(main())


def _keep(server: int) -> int:
    """Passes signals on until the server is gone, then ends what is left. The server's exit code."""
    while True:
        info = signal.sigwaitinfo(_LISTENED)
        if info.si_signo == signal.SIGCHLD:
            code = _reap(server)
            if code is not None:
                kill_below()
                return code
        elif info.si_signo in PASSED_ON and info.si_code != SI_KERNEL:
            # It has not been reaped, so its pid is still its own.
            os.kill(server, info.si_signo)


def _reap(server: int) -> int | None:
    """Reaps every child that has ended; the server's exit code if it was among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == server:
                code = os.waitstatus_to_exitcode(status)
            if not pid:
                break
    return 128 - code if code is not None and code < 0 else code


def kill_below(seconds: float = LAST_SECONDS) -> bool:
    """SIGKILLs all children of this subreaper, and those they leave behind, until none is left.

    Waits for any child, so never beside somebody else's waits. False when some outlived `seconds`.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            reaped, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if not reaped:
            time.sleep(0.001)
    return False


def _children() -> list[int]:
    """The pids whose parent is this process; an unreaped child's pid cannot have been given away."""
    me = os.getpid()
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib would be an import
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 1 and int(fields[1]) == me:
            found.append(int(name))
    return found
