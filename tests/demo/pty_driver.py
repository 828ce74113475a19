"""Drives a real `hybridmux-demo tui` in a real PTY, with a screen that understands it."""

import contextlib
import re
import time

import pexpect
import pyte

from tests.demo.acp_client import COMMAND, DEADLINE

ESC, CTRL_C, CTRL_D = "\x1b", "\x03", "\x04"
REPORT = re.compile(rb"\x1b\]7501;([^\x07\x1b]*)\x1b\\")
TITLE = re.compile(rb"\x1b\]0;([^\x07\x1b]*)\x07")


class Tty:
    """`raw` is everything the program has written."""

    def __init__(self, environ, cwd, *arguments, cols=80, rows=24):
        self.screen = pyte.Screen(cols, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.home = environ["HYBRIDMUX_DEMO_HOME"]
        self.child = pexpect.spawn(
            COMMAND[0],
            [*COMMAND[1:], "tui", *arguments],
            env=environ | {"TERM": "xterm-256color"},
            cwd=str(cwd),
            dimensions=(rows, cols),
            timeout=DEADLINE,
        )
        self.child.delaybeforesend = None
        self.child.ptyproc.delayafterclose = self.child.ptyproc.delayafterterminate = 0.01
        self.child.delayafterclose = self.child.delayafterterminate = 0.01

    def take(self, seconds=0.05):
        """Reads once; False at the end of the program's output."""
        try:
            data = self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    def until(self, condition, seconds=DEADLINE):
        """Reads until the condition holds; fails with the screen when it does not."""
        end = time.monotonic() + seconds
        while not condition():
            more = self.take()
            in_time = time.monotonic() < end and (more or condition())
            assert in_time, f"waited in vain, screen:\n{self.text()}"

    def text(self):
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip()

    def shows(self, *words):
        self.until(lambda: all(word in self.text() for word in words))

    def reports(self):
        """The state reports so far, each as a mapping."""
        return [dict(p.split("=", 1) for p in r.decode().split(":")) for r in REPORT.findall(self.raw)]

    def titles(self):
        return [title.decode() for title in TITLE.findall(self.raw)]

    def says(self, **fields):
        """Waits until the newest report has these fields; answers it."""
        self.until(lambda: self.reports() and fields.items() <= self.reports()[-1].items())
        return self.reports()[-1]

    def type(self, text):
        self.child.send(text)

    def prompt(self, text):
        """Sends a line and waits for the end of its turn."""
        self.ready()
        before = len(self.reports())
        self.type(text + "\r")
        self.until(
            lambda: (
                any(r["state"] == "working" for r in self.reports()[before:])
                and self.reports()[-1]["state"] == "idle"
            )
        )

    def ready(self):
        return self.says(state="idle")

    def resize(self, cols, rows):
        self.screen.resize(rows, cols)
        self.child.setwinsize(rows, cols)

    def finish(self, seconds=DEADLINE):
        """Reads to the end; answers the exit status, negative for a signal."""
        end = time.monotonic() + seconds
        while self.take():
            assert time.monotonic() < end, f"still there, screen:\n{self.text()}"
        self.child.wait()
        return -self.child.signalstatus if self.child.signalstatus else self.child.exitstatus

    def alive(self):
        return self.child.isalive()

    def end(self):
        """Leaves nothing behind."""
        with contextlib.suppress(Exception):
            self.child.close(force=True)
