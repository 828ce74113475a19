"""`hybridmux-demo tui`: the full-screen terminal UI."""

import asyncio
import signal
import termios
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer

from hybridmux.agents.demo import limits, screen, script, tui_faults
from hybridmux.agents.demo.dialogs import Dialogs
from hybridmux.agents.demo.evidence import BLOCKED, IDLE, WORKING, Evidence
from hybridmux.agents.demo.faults import Faults
from hybridmux.agents.demo.history import Line
from hybridmux.agents.demo.keys import bindings
from hybridmux.agents.demo.menu import Menu
from hybridmux.agents.demo.session import OPTIONS, Session
from hybridmux.agents.demo.store import InUse, NoSuchSession, Store
from hybridmux.agents.demo.transcript import Row, Transcript
from hybridmux.agents.demo.turn import Turn

HELP = """\
Enter sends · Ctrl-J new line · Esc interrupts · PageUp, PageDown scroll · Ctrl-C, Ctrl-D quit
/new · /resume [ID] · /mode default|plan · /model demo-small|demo-large · /help · /quit
"""


class Tui:
    """The program's state, what keys do to it, and the `Front` of its turns."""

    def __init__(self, store: Store, faults: Faults, session: Session) -> None:
        self.store = store
        self.faults = faults
        self.session = session
        self.transcript = Transcript()
        self.turn: Turn | None = None
        self._queued: list[str] = []
        self._back = 0
        self._started = 0.0
        self._told: Evidence | None = None
        self._painted = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.composer = Buffer(multiline=True)
        self.dialogs = Dialogs(self.composer, self._note, self._changed)
        self.app: Application[int] = Application(
            layout=screen.layout(self, self.composer),
            key_bindings=bindings(self),
            style=screen.STYLE,
            full_screen=True,
            min_redraw_interval=0.01,
            after_render=lambda _: self._tell(),
        )
        self.app.ttimeoutlen = self.app.timeoutlen = limits.KEY_PAUSE
        self._show_session(session)

    # What is on the screen.

    def _show_session(self, session: Session) -> None:
        """Puts `session` on the screen, its whole history scrolled to the end."""
        self.session, self.transcript, self._back = session, Transcript(), 0
        if session.stored:
            talk = self.store.read(session.id)
            if tui_faults.lags(self.faults, self.store, talk):
                talk = talk.without_last_turn()
            for item in talk.items:
                self.transcript.apply(item)
        if not self.transcript.blocks:
            self._note("Say something, or /help.", "notice")
        self._changed()

    def header(self) -> str:
        home = f"{Path.home()}/"
        cwd = self.session.cwd
        place = f"~/{cwd.removeprefix(home)}" if cwd.startswith(home) else cwd
        return f" {self.session.id} · {place} · Demo agent"

    def conversation(self, width: int, height: int) -> list[Row]:
        view = self.transcript.view(width, height, self._back)
        self._back = view.back
        return view.rows

    def status(self) -> str:
        config = f"{self.session.config['model']} · {self.session.config['mode']}"
        if self.dialogs.menu:
            return self.dialogs.menu.hint
        if self.dialogs.typing:
            return "enter answers · esc cancels"
        if self.turn:
            return f"⠿ esc to interrupt · {time.monotonic() - self._started:.0f}s · {config}"
        return f"ready · /help · {config}"

    def waiting(self) -> str:
        """The messages that were sent during a turn, as one line."""
        return "queued: " + " | ".join(" ".join(t.split()) for t in self._queued) if self._queued else ""

    def _tell(self) -> None:
        """After each repaint: tells the terminal what changed since."""
        self._painted.set()
        state = BLOCKED if self.dialogs.blocking else WORKING if self.turn else IDLE
        draft = bool(self.composer.text or self._queued)
        evidence = Evidence(state, self.session.id, self.session.title, draft, self.session.stored)
        if evidence != self._told and not self.app.is_done:
            self._told = evidence
            self.app.output.write_raw(evidence.osc_title() + evidence.report())
            self.app.output.flush()

    def _note(self, text: str, kind: str) -> None:
        self.transcript.note(text, kind)
        self._changed()

    def _changed(self) -> None:
        self.app.invalidate()

    # What keys do.

    def scroll(self, rows: int) -> None:
        """Moves back by `rows`, or forward if negative."""
        self._back = max(self._back + rows, 0)

    def submit(self) -> None:
        """Enter: sends what is in the composer, or queues it behind the running turn."""
        text = self.composer.text.strip()
        if self.dialogs.typing:
            self.dialogs.typed(text)
        elif text:
            self.composer.reset()
            if self.turn and text not in ("/quit", "/exit"):
                self._queued.append(text)
            else:
                self._obey(text)

    def escape(self) -> None:
        if self.dialogs.typing:
            self.dialogs.typed(None)
        elif self.turn:
            self._start(tui_faults.interrupt(self.faults, self.turn))

    def interrupt(self) -> None:
        """Ctrl-C: interrupts a turn, else clears the draft, else quits."""
        if self.turn:
            self._start(tui_faults.interrupt(self.faults, self.turn))
        elif self.composer.text:
            self.composer.reset()
        else:
            self.quit()

    def quit(self) -> None:
        if not (self.turn and self.turn.hung) and not self.faults.find("quit", "hang"):
            self._start(self._quit())

    async def _quit(self) -> None:
        if self.turn:
            self.turn.interrupt()
        others = self._tasks - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=limits.QUIT_WAIT if self.turn else 0)
        self.leave(0)

    def leave(self, status: int) -> None:
        """Ends the program with `status`."""
        if self.app.is_running and not self.app.is_done:
            self.app.exit(result=status)

    def _obey(self, text: str) -> None:
        """Does what was sent: a command of the TUI, or a prompt for the agent."""
        word, _, rest = text.partition(" ")
        self._back = 0
        match word:
            case "/quit" | "/exit":
                self.quit()
            case "/new":
                self.session.close()
                self._show_session(Session.new(self.store, self.session.cwd))
            case "/help":
                self._note(HELP + script.HELP, "notice")
            case "/resume":
                self._start(self._resume(rest.strip()))
            case "/mode" | "/model":
                self._configure(word[1:], rest.strip())
            case _:
                self._start(self._play(text))

    def _configure(self, name: str, value: str) -> None:
        try:
            self.session.configure(name, value)
        except ValueError:
            self._note(f"{name}: one of {', '.join(OPTIONS[name])}", "error")
        else:
            self._note(f"{name} is {value}", "notice")

    async def _resume(self, session: str) -> None:
        if not session:
            session = await self._pick()
        if session in ("", self.session.id):
            return
        try:
            found = Session.reopen(self.store, session)
        except NoSuchSession:
            self._note(f"No such session: {session}", "error")
        except InUse:
            self._note(f"Session {session} is open in another program", "error")
        else:
            self.session.close()
            self._show_session(found)

    async def _pick(self) -> str:
        """Lets the user choose among the other sessions of this folder; empty: none."""
        summaries = [s for s in self.store.summaries(self.session.cwd) if s.id != self.session.id]
        options = [
            (s.id, f"{s.title or '(empty)'} · {s.updated_at[:16].replace('T', ' ')}") for s in summaries
        ]
        if not options:
            self._note("There is no other session of this folder.", "notice")
            return ""
        menu = Menu("Resume which session?", options, escape="", blocking=False, hint="esc goes back")
        return str(await self.dialogs.choose(menu))

    # Turns.

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._changed()

    async def _play(self, text: str) -> None:
        instead = tui_faults.at_prompt(self.faults, text)
        self._started = time.monotonic()
        self.turn = Turn(self.session, self, deaf=self.faults.find("interrupt", "hang") is not None)
        ending = await self.turn.run([{"type": "text", "text": text}], instead=instead)
        self.turn = None
        if self._queued and ending.reason == "end_turn":
            self._obey(self._queued.pop(0))
        elif self._queued:
            self._hand_back()
        self._changed()

    def _hand_back(self) -> None:
        """Puts what was queued behind an interrupted turn into the composer."""
        text = "\n\n".join(filter(None, [*self._queued, self.composer.text]))
        self._queued = []
        self.composer.text = text
        self.composer.cursor_position = len(text)

    async def show(self, line: Line) -> None:
        """Shows a line; the user's own is painted, and the turn reported, before the answer begins."""
        self.transcript.apply(line)
        self._changed()
        if line["type"] == "user":
            self._painted.clear()
            await self._painted.wait()

    async def settle(self) -> None:
        self._changed()
        await asyncio.sleep(limits.KEY_PAUSE)

    async def permit(self, tool: Line) -> str:
        return await self.dialogs.permit(tool["title"])

    async def fill(self, message: str, schema: Line) -> Line | None:
        return await self.dialogs.fill(message, schema)

    # From start to end.

    async def run(self) -> int:
        """Answers the exit status; the terminal is restored then."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.leave, 128 + number)
        tui_faults.harden(self.faults)
        clock = asyncio.ensure_future(self._clock())
        try:
            return await self.app.run_async()
        except (OSError, EOFError, termios.error):
            return 128 + signal.SIGHUP  # the terminal is gone
        finally:
            clock.cancel()
            await self._stop()

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=limits.QUIT_WAIT)

    async def _clock(self) -> None:
        while True:
            await asyncio.sleep(1)
            if self.turn:
                self._changed()
