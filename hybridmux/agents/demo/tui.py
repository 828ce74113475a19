"""`hybridmux-demo tui`: the full-screen terminal UI."""

import asyncio
import contextlib
import os
import signal
import sys
import termios
import time
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer

from hybridmux.agents.demo import limits, screen, script, tui_faults
from hybridmux.agents.demo.evidence import BLOCKED, CLEAR_TITLE, IDLE, WORKING, Evidence
from hybridmux.agents.demo.faults import Faults
from hybridmux.agents.demo.forms import choices, value_of
from hybridmux.agents.demo.history import Line
from hybridmux.agents.demo.keys import bindings
from hybridmux.agents.demo.menu import Menu
from hybridmux.agents.demo.session import OPTIONS, Session
from hybridmux.agents.demo.store import InUse, NoSuchSession, Store
from hybridmux.agents.demo.transcript import Row, Transcript, View
from hybridmux.agents.demo.turn import Turn

APPROVAL = [("once", "Yes, once"), ("always", "Yes, always this command"), ("reject", "No")]
HELP = """\
Enter sends · Ctrl-J a new line · Esc interrupts · PageUp and PageDown scroll · Ctrl-C or Ctrl-D quits
/new · /resume [ID] · /mode default|plan · /model demo-small|demo-large · /help · /quit
"""


class Tui:
    """The program's state; also the `Front` of its turns."""

    def __init__(self, store: Store, faults: Faults, session: Session) -> None:
        self.store = store
        self.faults = faults
        self.menu: Menu | None = None
        self.turn: Turn | None = None
        self._answer: asyncio.Future[Any] | None = None
        self._question: asyncio.Future[str | None] | None = None
        self._queued: list[str] = []
        self._back = 0
        self._most_back = 0
        self._started = 0.0
        self._told: Evidence | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.composer = Buffer(multiline=True)
        self.app: Application[int] = Application(
            layout=screen.layout(self, self.composer),
            key_bindings=bindings(self),
            style=screen.STYLE,
            full_screen=True,
            min_redraw_interval=0.01,
            after_render=lambda _: self._tell(),
        )
        self.app.ttimeoutlen = self.app.timeoutlen = limits.KEY_PAUSE
        self.show_session(session)

    # What is on the screen.

    def show_session(self, session: Session) -> None:
        """Makes `session` the one on the screen, its whole history scrolled to the end."""
        self.session = session
        self.transcript = Transcript()
        self._back = 0
        if session.stored:
            talk = self.store.read(session.id)
            if tui_faults.lags(self.faults, self.store, talk):
                talk = talk.without_last_turn()
            for item in talk.items:
                self.transcript.apply(item)
        else:
            self.transcript.note("Say something, or /help.")

    def header(self) -> str:
        home = os.path.expanduser("~")
        cwd = "~" + self.session.cwd[len(home) :] if self.session.cwd.startswith(home + "/") else self.session.cwd
        return f" {self.session.id} · {cwd} · Demo agent ".ljust(1000)

    def conversation(self, width: int, height: int) -> View:
        view = self.transcript.view(width, height, self._back)
        self._most_back = view.most_back
        self._back = min(self._back, view.most_back)
        return view

    def status(self) -> str:
        config = f"{self.session.config['model']} · {self.session.config['mode']}"
        if self.menu:
            return "waiting for you" if self.menu.blocking else "esc to go back"
        if self._question:
            return "enter answers · esc cancels"
        if self.turn:
            return f"⠿ esc to interrupt · {time.monotonic() - self._started:.0f}s · {config}"
        return f"ready · {config} · /help"

    def waiting(self) -> str:
        """The messages that were sent during a turn, as one line."""
        return "queued: " + " | ".join(" ".join(t.split()) for t in self._queued) if self._queued else ""

    def menu_rows(self, width: int, height: int) -> list[Row]:
        return self.menu.rows(width, height) if self.menu else []

    def _tell(self) -> None:
        """After each repaint: what changed since, as title and state report."""
        asking = self._question is not None or (self.menu is not None and self.menu.blocking)
        state = BLOCKED if asking else WORKING if self.turn else IDLE
        draft = bool(self.composer.text or self._queued)
        evidence = Evidence(state, self.session.id, self.session.title, draft, self.session.stored)
        if evidence != self._told and not self.app.is_done:
            self._told = evidence
            self.app.output.write_raw(evidence.osc_title() + evidence.report())
            self.app.output.flush()

    # What keys do.

    def scroll(self, rows: int) -> None:
        self._back = min(max(self._back + rows, 0), self._most_back)

    def menu_key(self, key: str) -> None:
        picked = self.menu.key(key) if self.menu else None
        if picked and self._answer and not self._answer.done():
            self._answer.set_result(picked.value)

    def submit(self) -> None:
        """Enter: sends what is in the composer, or queues it behind the running turn."""
        text = self.composer.text.strip()
        if self._question:
            self.composer.reset()
            self._question.set_result(text)
        elif text:
            self.composer.reset()
            if self.turn and text != "/quit":
                self._queued.append(text)
            else:
                self._obey(text)

    def escape(self) -> None:
        """Esc, and Ctrl-C in a turn."""
        if self._question:
            self.composer.reset()
            self._question.set_result(None)
        elif self.turn and not self.faults.find("interrupt", "hang"):
            self.turn.interrupt()

    def interrupt(self) -> None:
        """Ctrl-C: interrupts a turn, else clears the draft, else quits."""
        if self.turn:
            self.escape() if self._question else None
            self.turn.interrupt()
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
            await asyncio.wait([t for t in self._tasks if t is not asyncio.current_task()], timeout=limits.QUIT_WAIT)
        self.leave(0)

    def leave(self, status: int) -> None:
        if not self.app.is_done and self.app.is_running:
            self.app.exit(result=status)

    # Turns.

    def _obey(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        match word:
            case "/quit" | "/exit":
                self.quit()
            case "/new":
                self.session.close()
                self.show_session(Session.new(self.store, self.session.cwd))
            case "/help":
                self.transcript.note(HELP + script.HELP)
            case "/resume":
                self._start(self._resume(rest.strip()))
            case "/mode" | "/model":
                self._configure(word[1:], rest.strip())
            case _:
                self._start(self._turn(text))
        self._back = 0

    def _configure(self, name: str, value: str) -> None:
        try:
            self.session.configure(name, value)
        except ValueError:
            self.transcript.note(f"{name}: one of {', '.join(OPTIONS[name])}", "error")
        else:
            self.transcript.note(f"{name} is {value}")

    async def _resume(self, session: str) -> None:
        if not session:
            found = [(s.id, f"{s.title or '(empty)'}  {s.updated_at[:16]}") for s in self.store.summaries(self.session.cwd)]
            found = [f for f in found if f[0] != self.session.id]
            if not found:
                self.transcript.note("No other session was made in this folder.")
                return
            session = await self._choose(Menu("Resume which session?", found, escape="", blocking=False))
        if session:
            self._reopen(session)

    def _reopen(self, session: str) -> None:
        if session == self.session.id:
            return
        try:
            found = Session.reopen(self.store, session)
        except NoSuchSession:
            self.transcript.note(f"No such session: {session}", "error")
        except InUse:
            self.transcript.note(f"Session {session} is open in another program", "error")
        else:
            self.session.close()
            self.show_session(found)

    async def _turn(self, text: str) -> None:
        instead = tui_faults.at_prompt(self.faults)
        self.turn, self._started = Turn(self.session, self), time.monotonic()
        ending = await self.turn.run([{"type": "text", "text": text}], instead=instead)
        self.turn = None
        if self._queued and ending.reason == "end_turn":
            self._obey(self._queued.pop(0))
        elif self._queued:
            self.composer.text = "\n\n".join([*self._queued, self.composer.text]).strip()
            self.composer.cursor_position = len(self.composer.text)
            self._queued = []
        self.app.invalidate()

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.app.invalidate()

    # The front of a turn.

    async def show(self, line: Line) -> None:
        self.transcript.apply(line)
        self.app.invalidate()

    async def settle(self) -> None:
        self.app.invalidate()
        await asyncio.sleep(limits.KEY_PAUSE)

    async def permit(self, tool: Line) -> str:
        return str(await self._choose(Menu("Run this command?", APPROVAL, escape="reject", body=f"$ {tool['title']}")))

    async def fill(self, message: str, schema: Line) -> Line | None:
        content: Line = {}
        for name, field in schema["properties"].items():
            required = name in schema.get("required", [])
            answer = await self._field(f"{message}: {field.get('description', name)}", field, required=required)
            if answer is CANCELLED:
                return {"action": "cancel"}
            if answer is not None:
                content[name] = answer
        return {"action": "accept", "content": content}

    async def _field(self, title: str, field: Line, *, required: bool) -> Any:
        if options := choices(field):
            return await self._choose(Menu(title, options, escape=CANCELLED))
        self.transcript.note(title)
        while True:
            text = await self._ask()
            if text is None:
                return CANCELLED
            try:
                value = value_of(field, text)
            except ValueError as problem:
                self.transcript.note(str(problem), "error")
                continue
            if value is not None or not required:
                return value

    async def _choose(self, menu: Menu) -> Any:
        self.menu, self._answer = menu, asyncio.get_running_loop().create_future()
        self.app.invalidate()
        try:
            return await self._answer
        finally:
            self.menu = self._answer = None
            self.app.invalidate()

    async def _ask(self) -> str | None:
        """One free answer, typed into the composer; a draft that was there comes back afterwards."""
        draft, self._question = self.composer.text, asyncio.get_running_loop().create_future()
        self.composer.reset()
        self.app.invalidate()
        try:
            return await self._question
        finally:
            self._question = None
            self.composer.text = draft
            self.composer.cursor_position = len(draft)
            self.app.invalidate()

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
            for task in list(self._tasks):
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=limits.QUIT_WAIT)

    async def _clock(self) -> None:
        while True:
            await asyncio.sleep(1)
            if self.turn:
                self.app.invalidate()


CANCELLED = object()
"""The answer to a question that the user did not want to answer."""


def main(store: Store, faults: Faults, resume: str | None) -> int:
    """Answers the exit status."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("hybridmux-demo tui needs a terminal\n")
        return 2
    tui_faults.before_paint("start", faults)
    try:
        session = _session(store, faults, resume)
    except NoSuchSession as problem:
        sys.stdout.write(f"No such session: {problem}\n")
        return 1
    except InUse as problem:
        sys.stdout.write(f"Session {problem} is open in another program\n")
        return 1
    tui = Tui(store, faults, session)
    status = asyncio.run(tui.run())
    with contextlib.suppress(OSError):
        _farewell(tui)
        tui_faults.at_quit(faults)
    return status


def _session(store: Store, faults: Faults, resume: str | None) -> Session:
    if resume is None:
        return Session.new(store, os.getcwd())
    tui_faults.before_paint("load", faults, resume)
    if faults.find("load", "other"):
        return Session.new(store, os.getcwd())
    return Session.reopen(store, resume)


def _farewell(tui: Tui) -> None:
    sys.stdout.write(CLEAR_TITLE)
    if tui.session.stored:
        sys.stdout.write(f"Continue with: hybridmux-demo tui --resume {tui.session.id}\n")
    sys.stdout.flush()
    tui.session.close()
