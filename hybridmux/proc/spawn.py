"""Starting a program: found and checked first, in a session of its own, marked, with nothing leaked into it.

No Python runs between fork and exec (`subprocess` uses vfork then): a fork beside threads can hang for ever.
A program on a PTY goes through another that makes a session with the terminal as its controlling one and then
becomes the program under the same pid: `setsid -c`, which hands on the environment as it is. Where there is
none, a one-line shell opens the terminal by its name, which does the same for a session leader that has none;
but dash drops variables whose names are no identifiers.
"""

import errno
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE

import trio
from attrs import define, field

from hybridmux.budgets import SHEBANG_BYTES
from hybridmux.errors import HybridmuxError
from hybridmux.proc import table
from hybridmux.proc.mark import ENV, Mark

__all__ = [
    "DEVNULL",
    "PIPE",
    "Child",
    "SpawnFailed",
    "failures",
    "live_children",
    "owned",
    "resolve",
    "spawn",
]

_INTERPRETER = re.compile(rb"#![ \t]*([^ \t\n\0]+)[ \t\n]")
_SHIM = ("/bin/sh", "-c", ': <>"$0"; exec "$@"')

_owned: dict[int, int] = {}
"""pid → start ticks of every child that somebody here waits for; the reaper keeps its hands off them."""
_spawning = 0


class SpawnFailed(HybridmuxError):
    """The program could not be started; the message says why. `missing`: it is not there at all."""

    status = 502

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


def owned() -> Mapping[int, int] | None:
    """The children somebody waits for, pid → start ticks; None while one starts, its pid unknown."""
    return None if _spawning else _owned


def live_children() -> int:
    """How many of our direct children have not been waited for yet."""
    return len(_owned)


@define(eq=False)
class Child:
    """A started program. Whoever started it waits for it, and closes its pipes with `close()`."""

    pid: int
    start_ticks: int
    mark: Mark
    tty_name: str | None
    stdin: int | None
    """Our end where `PIPE` was asked for, non-blocking."""
    stdout: int | None
    stderr: int | None
    _process: trio.Process = field(repr=False)

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative is a signal's number."""
        code = self._process.returncode
        if code is not None:
            _owned.pop(self.pid, None)
        return code

    async def wait(self) -> int:
        """Waits for its end and reaps it. Any number of tasks may."""
        code = await self._process.wait()
        _owned.pop(self.pid, None)
        return code

    def close_stdin(self) -> None:
        """Closes our end of its standard input: end of file for the program."""
        _close(self.stdin)
        self.stdin = None

    def close(self) -> None:
        """Closes our ends of its pipes; whoever waits on one gets `trio.ClosedResourceError`."""
        self.close_stdin()
        _close(self.stdout)
        _close(self.stderr)
        self.stdout = self.stderr = None

    def disown(self) -> None:
        """Gives up waiting for a child that cannot be ended; the reaper takes it when it goes."""
        _owned.pop(self.pid, None)


def _close(fd: int | None) -> None:
    if fd is not None:
        trio.lowlevel.notify_closing(fd)
        os.close(fd)


async def spawn(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: int,
    stdout: int,
    stderr: int,
    mark: Mark,
    tty_name: str | None = None,
) -> Child:
    """Starts `argv` in `cwd` (absolute) with exactly `env`, the mark and `PWD`.

    `stdin`, `stdout`, `stderr` are file descriptors, `PIPE` or `DEVNULL`. With `tty_name`, the path of the
    terminal they are open on, that becomes the controlling terminal. Raises `SpawnFailed`. There is no
    checkpoint after the program has started, so a cancelled caller still gets its child.
    """
    program = resolve(argv[0], env.get("PATH", os.defpath), cwd)
    command, leads = [*_by_shell(program, cwd), program, *argv[1:]], True
    if tty_name:
        before, leads = _onto(tty_name)
        command = [*before, *command]
    full_env = {**env, ENV: str(mark), "PWD": cwd}
    with failures(argv[0]), ExitStack() as theirs, ExitStack() as ours:
        ends = [
            _end(fd, theirs, ours, reading=reading)
            for fd, reading in ((stdin, False), (stdout, True), (stderr, True))
        ]
        with _guarded():
            process = await trio.lowlevel.open_process(
                command,
                stdin=ends[0][0],
                stdout=ends[1][0],
                stderr=ends[2][0],
                cwd=cwd,
                env=full_env,
                start_new_session=leads,
            )
            # A zombie still has its entry: nobody else may reap it.
            seen = table.entry(process.pid)
            ticks = seen.start_ticks if seen else 0
            _owned[process.pid] = ticks
        ours.pop_all()
    return Child(process.pid, ticks, mark, tty_name, ends[0][1], ends[1][1], ends[2][1], process)


@cache
def _setsid() -> str | None:
    """The system's own; what is in the user's PATH may be anything."""
    return shutil.which("setsid", path=os.defpath)


def _onto(tty_name: str) -> tuple[Sequence[str], bool]:
    """The words before a command that make the terminal its controlling one, and whether it has to be the
    leader of a session before. `setsid` must not be: it would fork, and the program be another process."""
    setsid = _setsid()
    return ((setsid, "-c"), False) if setsid else ((*_SHIM, tty_name), True)


def _end(fd: int, theirs: ExitStack, ours: ExitStack, *, reading: bool) -> tuple[int, int | None]:
    """What the child gets, and our end of it if it is a pipe."""
    if fd != PIPE:
        return fd, None
    reader, writer = os.pipe()
    mine, other = (reader, writer) if reading else (writer, reader)
    ours.callback(os.close, mine)
    theirs.callback(os.close, other)
    os.set_blocking(mine, False)
    return other, mine


@contextmanager
def _guarded() -> Iterator[None]:
    global _spawning  # noqa: PLW0603 - the process has one set of children
    _spawning += 1
    try:
        yield
    finally:
        _spawning -= 1


@contextmanager
def failures(name: str) -> Iterator[None]:
    """What the kernel or `subprocess` has against starting it, as one sentence: raises `SpawnFailed`."""
    try:
        yield
    except OSError as error:
        raise SpawnFailed(f"cannot start {name}: {error.strerror or error}") from error
    except (ValueError, subprocess.SubprocessError) as error:
        raise SpawnFailed(f"cannot start {name}: {error}") from error


def _by_shell(program: str, cwd: str) -> tuple[str, ...]:
    """What runs a text whose first line does not say it: the kernel refuses it, a shell gives it to sh.

    Raises `SpawnFailed` if the line names an interpreter that is not there: what starts the program would say
    that the program is not.
    """
    try:
        with Path(program).open("rb") as file:
            first = file.read(SHEBANG_BYTES)
    except OSError:
        return ()
    if found := _INTERPRETER.match(first):
        interpreter = os.fsdecode(found[1])
        if number := _usable(os.path.join(cwd, interpreter)):  # noqa: PTH118
            raise SpawnFailed(f"cannot start {program}: {_unusable(interpreter, number)}")
    return () if first.startswith(b"#!") or b"\0" in first else ("/bin/sh",)


def _unusable(interpreter: str, number: int) -> str:
    if interpreter.endswith("\r"):  # unseen in a sentence, which would name a file that may well be there
        return "its first line ends in a carriage return (Windows line ends)"
    return f"its interpreter {interpreter}: {os.strerror(number)}"


def resolve(name: str, path: str, cwd: str) -> str:
    """The program's absolute path, found as a shell in `cwd` with this `PATH` would. Raises `SpawnFailed`."""
    if not name or "\0" in name or "\0" in cwd or not os.path.isabs(cwd):  # noqa: PTH117
        raise SpawnFailed(f"cannot start {name!r} in {cwd!r}: a program and an absolute folder are needed")
    _check_folder(cwd)
    return search(name, path, cwd)


def search(name: str, path: str, cwd: str) -> str:
    """The same without a look at the folder."""
    searched = [f"{folder or '.'}/{name}" for folder in path.split(os.pathsep)]
    number = errno.ENOENT
    for candidate in [name] if "/" in name else searched:
        full = os.path.join(cwd, candidate)  # noqa: PTH118
        found = _usable(full)
        if not found:
            return full
        if found != errno.ENOENT:
            number = found
    if number == errno.ENOENT:
        where = "" if "/" in name else " in PATH"
        raise SpawnFailed(f"cannot start {name}: no such program{where}", missing=True)
    raise SpawnFailed(f"cannot start {name}: {os.strerror(number)}")


def _usable(path: str) -> int:
    """0 for a file we may execute, else the errno that running it would give."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return errno.EACCES
    except ValueError:  # a text that no file can be called
        return errno.EINVAL
    except OSError as error:
        return errno.ENOENT if error.errno in (errno.ENOENT, errno.ENOTDIR) else error.errno or errno.EIO
    return 0 if os.access(path, os.X_OK) else errno.EACCES


def _check_folder(cwd: str) -> None:
    try:
        is_folder = stat.S_ISDIR(os.stat(cwd).st_mode)  # noqa: PTH116
    except OSError as error:
        raise SpawnFailed(f"cannot use the folder {cwd}: {error.strerror}") from error
    if not is_folder:
        raise SpawnFailed(f"cannot use the folder {cwd}: it is not a folder")
    if not os.access(cwd, os.X_OK):
        raise SpawnFailed(f"cannot use the folder {cwd}: {os.strerror(errno.EACCES)}")
