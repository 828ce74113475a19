"""Real programs on real PTYs."""

import hashlib
import os
import signal
import time

import pytest
import trio
from attrs import evolve

from hybridmux.budgets import PACE_LEAD, PTY_READ, Budgets
from hybridmux.proc import spawn, table
from hybridmux.proc.mark import ENV
from hybridmux.proc.spawn import SpawnFailed
from hybridmux.terminal.keyboard import InputStuck
from hybridmux.terminal.terminal import open_terminal
from tests.support.processes import open_descriptors

FAST = evolve(Budgets(), stopping_step=5.0)


def everything(t):
    return t.journal.read(t.journal.tail, 10**9)


async def ended(t):
    """Waits for the end of the output."""
    with trio.fail_after(10):
        while not t.journal.closed:
            await t.journal.wait(t.journal.end)


async def test_what_the_program_gets(terminal, shows):
    script = f"stty size; tty; echo pwd=$PWD mark=${ENV}; ls /proc/$$/fd | tr '\\n' ' '; ps -o sid= -p $$"
    async with terminal(script, cols=70, rows=20) as t:
        assert await t.wait_exited() == 0
        text = everything(t).decode()
        assert text.startswith(f"20 70\r\n{t.child.tty_name}\r\npwd=/ mark={t.child.mark}\r\n0 1 2 ")
        assert text.split()[-1] == str(t.child.pid)
        assert (t.cols, t.rows) == (70, 20)


ODD = {
    "spring.profile": "dev",
    "BASH_FUNC_hi%%": "() {  echo hi\n}",
    "npm_config_@me:registry": "https://registry",
    "ProgramFiles(x86)": "C:",
    "EMPTY": "",
}


async def test_it_gets_exactly_its_environment(env, mark):
    given = {**env, **ODD}
    async with open_terminal(
        ["env", "-0"], cwd="/", env=given, mark=mark, cols=80, rows=24, budgets=FAST
    ) as t:
        await t.wait_exited()
        seen = everything(t).decode().replace("\r\n", "\n")
    assert dict(one.split("=", 1) for one in seen.split("\0") if one) == {**given, ENV: str(mark), "PWD": "/"}


@pytest.fixture(params=["setsid", "shell"])
def way(request, monkeypatch):
    """How a program gets its terminal: as here, and as on a machine without `setsid`."""
    if request.param == "shell":
        monkeypatch.setattr(spawn, "_setsid", lambda: None)


@pytest.mark.usefixtures("way")
async def test_the_terminal_is_its_own_under_the_same_pid(terminal, until):
    async with terminal("exec sleep 1000") as t:
        seen = await until(lambda: (one := table.entry(t.child.pid)) and one.name == "sleep" and one)
        assert (seen.start_ticks, seen.ppid) == (t.child.start_ticks, os.getpid())
        assert seen.pid == seen.sid == seen.pgid
        assert seen.tty_nr == os.stat(t.child.tty_name).st_rdev  # noqa: PTH116 - does not block
        await t.write(b"\x03")  # the terminal's own signal finds it: it is in the foreground
        assert await t.wait_exited() == -signal.SIGINT


@pytest.mark.usefixtures("way")
async def test_signals_are_as_in_a_new_login(terminal):
    async with terminal("grep -E 'Sig(Ign|Blk)' /proc/self/status") as t:
        await t.wait_exited()
        assert [int(line.split()[1], 16) for line in everything(t).decode().splitlines()] == [0, 0]


@pytest.mark.usefixtures("way")
async def test_what_the_kernel_does_not_run_is_said_on_the_terminal(env, mark, tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0 of another machine")
    program.chmod(0o755)
    async with open_terminal(
        [str(program)], cwd="/", env=env, mark=mark, cols=80, rows=24, budgets=FAST
    ) as t:
        assert await t.wait_exited() in (126, 127)
        assert str(program) in everything(t).decode()


async def test_an_interpreter_that_is_missing_is_said_at_once(env, mark, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(SpawnFailed, match="/script: its interpreter /no/such/interpreter: No such file"):
        async with open_terminal([str(script)], cwd="/", env=env, mark=mark, cols=80, rows=24, budgets=FAST):
            pass


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), (":", 0)])
async def test_exit_codes(terminal, script, code):
    async with terminal(script) as t:
        assert t.exit_code is None
        assert await t.wait_exited() == t.exit_code == code
        await ended(t)
    assert t.end_report.how == "exited"


async def test_the_last_output_is_there_at_the_exit(terminal):
    for size in (1, 4000, 60_000):
        async with terminal(f"head -c {size} /dev/zero | tr '\\0' x") as t:
            await t.wait_exited()
            assert everything(t) == b"x" * size


async def test_input_in_order(terminal, shows):
    async with terminal("stty raw -echo; echo ready; head -c 300000 | sha256sum; sleep 100") as t:
        await shows(t, "ready")
        pieces = [bytes([65 + n % 26]) * 30_000 for n in range(10)]
        async with trio.open_nursery() as nursery:
            for piece in pieces:
                nursery.start_soon(t.write, piece)
                await trio.testing.wait_all_tasks_blocked(0.001)
        await shows(t, hashlib.sha256(b"".join(pieces)).hexdigest())


async def test_input_nobody_reads(terminal, shows):
    """The caller gets its error in bounded time, and the output goes on meanwhile."""
    budgets = evolve(FAST, input_stall=0.3)
    async with terminal("stty raw -echo; while :; do echo tick; sleep 0.02; done", budgets=budgets) as t:
        await shows(t, "tick")
        before = t.journal.end
        with trio.fail_after(5), pytest.raises(InputStuck, match="does not read") as caught:
            await t.write(bytes(1_000_000))
        assert 0 < caught.value.written < 1_000_000
        assert t.journal.end > before


async def test_input_to_nobody(terminal):
    async with terminal("exit") as t:
        await t.wait_exited()
        await ended(t)
        with pytest.raises(trio.BrokenResourceError):
            await t.write(b"x")
    with pytest.raises(trio.ClosedResourceError):
        await t.write(b"x")
    t.resize(50, 20)
    assert t.journal.closed


@pytest.mark.parametrize("watched", [False, True], ids=["unwatched", "held back by a viewer"])
async def test_ctrl_c_during_a_flood(terminal, shows, until, watched):
    async with terminal("yes") as t:
        with t.viewer() as viewer:
            viewer.position = 10**12 if not watched else 0
            await until(lambda: t.journal.end > PACE_LEAD)
            began = time.perf_counter()
            await t.write(b"\x03")
            viewer.position = 10**12
            assert await t.wait_exited() == -signal.SIGINT
            assert time.perf_counter() - began < 1.0


async def test_read_freely_with_nobody_watching(terminal):
    size = 5_000_000
    async with terminal(f"head -c {size} /dev/zero | tr '\\0' x") as t:
        with trio.fail_after(20):
            await t.wait_exited()
            await ended(t)
        assert t.journal.end == size
        assert t.journal.cost <= Budgets().scrollback_bytes
        assert t.safe_start() - t.journal.tail <= 4096


async def test_read_as_fast_as_the_fastest_viewer(terminal, until):
    budgets = evolve(FAST, pace_patience=0.4)
    async with terminal("yes", budgets=budgets) as t:
        with t.viewer() as viewer, t.viewer() as stuck:
            bound = PACE_LEAD + 2 * PTY_READ
            for position in range(0, 2_000_000, 250_000):
                viewer.position = position
                await until(lambda: t.journal.end > position + PACE_LEAD)  # noqa: B023 - waited for here
                assert t.journal.end <= position + bound
            await trio.sleep(0.05)
            assert t.journal.end <= viewer.position + bound
            await until(lambda: t.journal.end > viewer.position + 4 * bound)
            assert stuck.stalled
            assert viewer.stalled


async def test_a_grandchild_that_holds_the_output(terminal, shows, tmp_path, until):
    """The exit shows at once, its later words still arrive, and only then is the journal closed."""
    go = tmp_path / "go"
    os.mkfifo(go)
    async with terminal(f"trap '' HUP; (read x < {go}; echo LATE) & echo early; exit 3") as t:
        assert await t.wait_exited() == 3
        assert not t.journal.closed
        assert b"LATE" not in everything(t)
        fd = os.open(go, os.O_RDWR)
        os.write(fd, b"\n")
        await ended(t)
        os.close(fd)
        assert everything(t) == b"early\r\nLATE\r\n"


async def test_a_program_that_closes_its_terminal_and_opens_it_again(terminal, shows):
    async with terminal("exec <&- >&- 2>&-; sleep 0.2; exec <>/dev/tty >&0; echo back; read x; exit $x") as t:
        await shows(t, "back")
        assert not t.journal.closed
        await t.write(b"5\r")
        assert await t.wait_exited() == 5


async def test_marks_and_changes(terminal, shows):
    script = r"""
    read x; printf '\033]0;one %s\007' "$(printf '\001x%600s' y)"
    read x; printf '\033]7501;?\007\033]7501;state=working:app=demo\033\\'
    read x; exit"""
    async with terminal(script) as t:
        seen = t.changes

        async def after(key, condition):
            nonlocal seen
            await t.write(key + b"\r")
            with trio.fail_after(5):
                while not condition():
                    seen = await t.changed(seen)

        assert (t.title, t.osc7501) == ("", None)
        await after(b"1", lambda: t.title != "")
        assert t.title.startswith("one x ")
        assert len(t.title) == 512
        await after(b"2", lambda: t.osc7501 is not None)
        assert t.osc7501 == "state=working:app=demo"
        await after(b"3", lambda: t.exit_code is not None)
        await ended(t)


@pytest.mark.parametrize("answer", [True, False])
async def test_a_query_for_agent_states(terminal, shows, answer):
    script = r"stty raw -echo; printf '\033]7501;?\007'; dd bs=1 count=10 2>/dev/null | od -c -An; sleep 100"
    async with terminal(script, answer_osc7501=answer) as t:
        if not answer:
            await t.changed(0)
            await t.write(b"0123456789")
        await shows(t, r"033   ]   7   5   0   1   ;   ? 033" if answer else "0   1   2   3   4")
        assert t.osc7501 is None


async def test_resizing(terminal, shows):
    async with terminal("trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done") as t:
        await shows(t, "ready")
        for asked, given in [
            ((100, 30), "30 100"),
            ((1, 5000), "1000 2"),
            ((0, -3), "2 2"),
            ((80, 24), "24 80"),
        ]:
            seen = t.changes
            t.resize(*asked)
            assert f"{t.rows} {t.cols}" == given
            assert len(t.screen.lines()) == t.rows
            with trio.fail_after(5):
                while given.encode() not in everything(t)[-20:]:
                    seen = await t.changed(seen)


class TestTheEnd:
    async def test_nothing_is_left(self, terminal, shows, until):
        stray = "(setsid sleep 1000 </dev/null >/dev/null 2>&1 &); env -i setsid sleep 1000 &"
        script = f"{stray} trap '' HUP; echo up; cat"
        async with terminal(script) as t:
            await shows(t, "up")
            await until(lambda: len(t.family.members()) == 4)
            members = t.family.members()
        assert t.end_report.survivors == []
        assert [pid for pid in members if (one := table.entry(pid)) and one.alive] == []
        assert t.exit_code is not None
        assert t.journal.closed

    async def test_an_interactive_shell_goes_at_the_first_word(self, terminal, shows):
        async with terminal("exec bash --norc -i") as t:
            await shows(t, "bash")
            began = trio.current_time()
        assert (t.end_report.how, t.exit_code) == ("SIGTERM", -signal.SIGHUP)
        assert trio.current_time() - began < 3

    async def test_last_words(self, terminal, shows):
        script = "trap 'echo farewell; exit 4' TERM; trap '' HUP; echo up; while :; do sleep 0.01; done"
        async with terminal(script) as t:
            await shows(t, "up")
        assert t.exit_code == 4
        assert everything(t).endswith(b"farewell\r\n")

    async def test_while_a_viewer_holds_the_reader_back(self, terminal, until):
        async with terminal("yes") as t:
            with t.viewer() as viewer:
                viewer.position = 0
                await until(lambda: t.journal.end > PACE_LEAD)
                began = trio.current_time()
                await t.end()
                assert trio.current_time() - began < 3
        assert t.exit_code in (-signal.SIGTERM, -signal.SIGHUP)

    async def test_what_the_body_raises_comes_out_as_it_is(self, terminal):
        with pytest.raises(LookupError, match="mine"):
            async with terminal("sleep 1000") as t:
                raise LookupError("mine")
        assert t.exit_code is not None

    async def test_cancelled(self, terminal):
        with trio.CancelScope() as scope:
            async with terminal("sleep 1000") as t:
                scope.cancel()
                await trio.sleep_forever()
        assert scope.cancelled_caught
        assert t.exit_code is not None

    async def test_an_error_while_cancelled_is_not_lost(self, terminal):
        async def fail():
            async with terminal("sleep 1000"):
                scope.cancel()
                raise LookupError

        with trio.CancelScope() as scope, pytest.raises(LookupError):
            await fail()


@pytest.mark.parametrize("argv", ["no-such-tool", "/etc/passwd"])
async def test_what_cannot_be_started_leaves_nothing(env, mark, argv):
    before = open_descriptors()
    with pytest.raises(SpawnFailed):
        async with open_terminal([argv], cwd="/", env=env, mark=mark, cols=80, rows=24, budgets=FAST):
            raise AssertionError("it cannot have been started")
    assert open_descriptors() == before


class CancelAt(trio.abc.Instrument):
    """Cancels a scope when its task is about to go on for the n-th time."""

    def __init__(self, scope, turn):
        self.scope, self.turn, self.task = scope, turn, trio.lowlevel.current_task()

    def before_task_step(self, task):
        if task is self.task:
            self.turn -= 1
            if self.turn == 0:
                self.scope.cancel()


async def test_cancelled_at_every_checkpoint(terminal):
    """No descriptor, process or owned child is left, wherever the cancellation strikes."""
    turn, finished = 0, False
    while not finished:
        turn += 1
        before = open_descriptors()
        with trio.CancelScope() as scope:
            instrument = CancelAt(scope, turn)
            trio.lowlevel.add_instrument(instrument)
            try:
                async with terminal("read x; exit $x") as t:
                    await t.write(b"3\r")
                    seen = await t.changed(0)
                    await t.changed(seen - 1)
                    t.resize(90, 20)
                    await t.screen.look()
                    await t.wait_exited()
                finished = instrument.turn > 0
            finally:
                trio.lowlevel.remove_instrument(instrument)
        assert open_descriptors() == before
        assert spawn.live_children() == 0
    assert turn > 5


async def test_many_at_once(terminal):
    """Twenty programs that write and end; each journal is whole."""

    async def one(number):
        async with terminal(f"seq {number} {number + 2000}") as t:
            await t.wait_exited()
            await ended(t)
        assert t.exit_code == 0, (t.end_report, everything(t))
        lines = everything(t).decode().split()
        assert lines == [str(n) for n in range(number, number + 2001)]

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(one, number)


async def test_epochs_differ(terminal):
    async with terminal("exit") as one, terminal("exit") as other:
        assert one.epoch != other.epoch


async def test_idle_costs_nothing(terminal, shows):
    async with terminal("echo up; sleep 1000") as t:
        await shows(t, "up")
        await trio.testing.wait_all_tasks_blocked()
        counted = 0

        class Steps(trio.abc.Instrument):
            def before_task_step(self, task):
                nonlocal counted
                counted += 1

        instrument = Steps()
        trio.lowlevel.add_instrument(instrument)
        await trio.sleep(0.3)
        trio.lowlevel.remove_instrument(instrument)
        assert counted <= 2
