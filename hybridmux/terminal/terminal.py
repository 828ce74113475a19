"""One program on a PTY: its output in a journal, its input in order, its screen, its end.

Five tasks: the reader (one read for each time there is something), the exit watcher (a grandchild may hold
the output open long after the program has gone), the screen keeper, the repainter, and one that answers
queries. The body of `open_terminal` is the terminal's life; leaving it ends everything the program has
started.
"""

import errno
import os
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

import trio

from hybridmux.budgets import DRAIN_BYTES, PTY_READ, Budgets
from hybridmux.proc.family import EndReport, Family
from hybridmux.proc.mark import Mark
from hybridmux.proc.spawn import Child, failures
from hybridmux.terminal.keyboard import Keyboard
from hybridmux.terminal.modes import killed
from hybridmux.terminal.output import Output
from hybridmux.terminal.pacing import Pace, Viewer
from hybridmux.terminal.pty import Pty
from hybridmux.terminal.repaint import Repainter

_REOPEN_PAUSE = 0.1
"""Seconds between looks whether a program that has closed its terminal opens it again."""
_LAST_OUTPUT = 1.0
"""Seconds to wait for the end of the output once every process is gone: the kernel has it at once."""


class Terminal:
    """A program on a PTY. Made by `open_terminal`."""

    def __init__(
        self, pty: Pty, child: Child, family: Family, budgets: Budgets, *, answer_osc7501: bool
    ) -> None:
        self._pace = Pace(budgets.pace_patience)
        self._output = Output(
            pty.cols,
            pty.rows,
            budgets.scrollback_bytes,
            listens=answer_osc7501,
            viewers=self._pace.viewers,
        )
        self.journal = self._output.journal
        """The output without agent states; closed when the program has exited and nobody has it open."""
        self.screen = self._output.screen
        self.epoch = secrets.token_hex(8)
        """Tells this PTY's positions from those of any other."""
        self.child = child
        self.family = family
        self.exit_code: int | None = None
        """None while it runs; negative is a signal's number."""
        self.end_report: EndReport | None = None
        """How the family ended, after the `async with`."""
        self.changes = 0
        """Moves with each output, title, agent state and exit, and at the end of the output."""
        self._pty = pty
        self._budgets = budgets
        self._changed = trio.lowlevel.ParkingLot()
        self._exited = trio.Event()
        self._output_ended = trio.Event()
        self._keyboard = Keyboard(pty, budgets.input_stall)
        self._repainter = Repainter(pty, self.journal, runs=lambda: self.exit_code is None)
        self._life = trio.CancelScope(shield=True)

    @property
    def cols(self) -> int:
        """Columns, clamped."""
        return self._pty.cols

    @property
    def rows(self) -> int:
        """Rows, clamped."""
        return self._pty.rows

    @property
    def title(self) -> str:
        """What the program set by OSC 0 or 2, at most `TITLE_CHARS`, without control characters."""
        return self._output.title

    @property
    def osc7501(self) -> str | None:
        """The last agent state the program reported, raw; its queries (`?`) are not states."""
        return self._output.osc7501

    def safe_start(self) -> int:
        """The oldest position still in the journal where one may start to read: no sequence or character is
        cut there. Where there is none (one endless control string), the tail."""
        return self._output.safe_start()

    async def opening(self) -> tuple[int, bytes]:
        """`safe_start()`, and what a fresh terminal has to be fed before what is read from there: the modes
        that were set in what is gone. Empty at position 0."""
        return await self._output.opening()

    def repaint(self, position: int) -> None:
        """Has the program draw everything again, for one who reads from `position`; only now and then."""
        self._repainter.want(position)

    def viewer(self) -> AbstractContextManager[Viewer]:
        """`with terminal.viewer() as v`: while inside, `v.position` takes part in the pacing."""
        return self._pace.viewer(self.journal.end)

    def resize(self, cols: int, rows: int) -> None:
        """Sets the clamped size; the program gets SIGWINCH if it is another. Nothing after the end."""
        if self._pty.master < 0:
            return
        before = self.cols, self.rows
        self._pty.resize(cols, rows)
        if before != (self.cols, self.rows):
            self.screen.resize(self.cols, self.rows)
            self._change()

    async def write(self, data: bytes) -> None:
        """Types `data`: after all that was written before, and in whole.

        Raises `InputStuck` when the program does not read for `Budgets.input_stall`,
        `trio.BrokenResourceError` when it is gone, `trio.ClosedResourceError` after the end. Cancelled, a
        part may have been written.
        """
        await self._keyboard.write(data)

    def sift(self, data: bytes) -> bytes:
        """A viewer's input without what its terminal answers to a question that has its answer already."""
        return self._output.questions.sift(data)

    async def wait_exited(self) -> int:
        """Waits for the end of the program itself (its descendants may live on) and gives its exit code."""
        await self._exited.wait()
        assert self.exit_code is not None
        return self.exit_code

    async def changed(self, since: int) -> int:
        """Waits until `changes` is more than `since` and gives it. It stops at the output's end."""
        await trio.lowlevel.checkpoint()
        while self.changes <= since:
            await self._changed.park()
        return self.changes

    def _change(self) -> None:
        self.changes += 1
        self._changed.unpark_all()

    # Output.

    async def _read(self) -> None:
        """One read for each readiness: more in a row gains little and makes everyone else wait."""
        while True:
            await self._pace.wait(self.journal.end)
            await trio.lowlevel.wait_readable(self._pty.master)
            if self._read_once() == 0:
                if self._exited.is_set():
                    break
                # All have closed it, but the program lives and may open its terminal again.
                with trio.move_on_after(_REOPEN_PAUSE):
                    await self._exited.wait()
        if killed(self.exit_code):
            self._output.repair()  # those who outlived it may have gone on drawing
        self._output.close()
        self._output_ended.set()
        self._keyboard.nobody_reads = True
        self._change()

    def _read_once(self) -> int | None:
        """The number of bytes read; 0 at the end, None when there is nothing now."""
        try:
            data = os.read(self._pty.master, PTY_READ)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return 0
        if data:
            self._output.take(data)
            self._change()
        return len(data)

    async def _watch_exit(self) -> None:
        code = await self.child.wait()
        # What it wrote last is in the kernel's buffer: those who wait for the exit find it in the journal.
        until = self.journal.end + DRAIN_BYTES
        while self.journal.end < until and self._read_once():
            pass
        if killed(code):
            self._output.repair()
        self.exit_code = code
        self._exited.set()
        self._change()

    # Life.

    async def run(self) -> None:
        """The tasks, until `stop()`. A cancellation from outside is for the body; they see the program to its
        end."""
        with self._life:
            async with trio.open_nursery() as nursery:
                for task in (self._read, self._watch_exit):
                    nursery.start_soon(task)
                nursery.start_soon(self._output.questions.run, self.write)
                nursery.start_soon(self._output.keep_screen)
                nursery.start_soon(self._repainter.keep)

    async def end(self) -> EndReport:
        """Ends the family and takes its last output. Not cancellable."""
        self._pace.off()
        with trio.CancelScope(shield=True):
            report = self.end_report = await self.family.end(self._budgets.stopping_step)
            with trio.move_on_after(_LAST_OUTPUT):
                await self._exited.wait()
                await self._output_ended.wait()
        return report

    def stop(self) -> None:
        """Ends the tasks."""
        self._life.cancel()

    def close(self) -> None:
        """Lets go of the PTY; the journal stays readable."""
        if self.exit_code is None:
            self.exit_code = self.child.returncode  # whoever watched for it has failed
        if self.child.returncode is None:
            self.child.disown()
        self.child.close()
        self._pty.close()
        self._output.close()
        self._change()


@asynccontextmanager
async def open_terminal(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    mark: Mark,
    cols: int,
    rows: int,
    budgets: Budgets,
    answer_osc7501: bool = False,
    spare: Sequence[str] = (),
) -> AsyncIterator[Terminal]:
    """Starts `argv` on a PTY of this size. Raises `SpawnFailed`, also where there is no PTY to be had.

    `answer_osc7501`: say yes to a program that asks whether somebody listens to its agent state. `spare`: see
    `Family`. What the body raises comes out as it is, not in a group.
    """
    with failures(argv[0]):
        pty = Pty.open(cols, rows)
        try:
            child = await pty.spawn(argv, cwd=cwd, env=env, mark=mark)
        except BaseException:
            pty.close()
            raise
    terminal = Terminal(pty, child, Family(child, spare=spare), budgets, answer_osc7501=answer_osc7501)
    raised: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            try:
                nursery.start_soon(terminal.run)
                yield terminal
            except BaseException as error:
                raised = error
            finally:
                try:
                    await terminal.end()
                finally:
                    terminal.stop()  # its tasks are shielded: nothing else would end them
        if raised is not None:
            raise raised
    finally:
        terminal.close()
