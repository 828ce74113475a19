"""A program that passes for Claude Code and its connector, and others that have its conversations open.

    python fake_claude.py tui|acp [ARGUMENT…]

It keeps the process registry as Claude Code does, with values that cannot be mistaken for anything else, and
a secret beside each record. What is said decides what it does. In the terminal `busy` and `waiting` are
states that last until Esc, `torn` breaks its record, `mended` writes it anew, `/resume ID` goes on to another
conversation; in the chat `hang` runs until it is cancelled. Anything else is echoed. It needs no package.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import termios
import time
import tty
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECRET = "sesame-0f1e2d3c4b5a69788796a5b4c3d2e1f0"
NAME = "unmistakable-peer-name"
SOCKET = "/tmp/unmistakable-socks"
FEATURE = "unmistakable_feature"
KEY_HASH = "deadbeefcafe"
MODELS = {
    "id": "model", "name": "Model", "type": "select", "currentValue": "small",
    "options": [{"value": name, "name": name} for name in ("small", "large")],
}  # fmt: skip
OWN = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
"""The configuration folder of this process, when it is the program."""


def install(folder: Path) -> str:
    """Makes `claude` and `claude-agent-acp` below a folder: the PATH on which they are found."""
    (folder / "bin").mkdir()
    script = shlex.join([sys.executable, "-P", __file__])  # beside it are names of the standard library
    for name, side in (("claude", "tui"), ("claude-agent-acp", "acp")):
        file = folder / "bin" / name
        file.write_text(f'#!/bin/sh\nexec {script} {side} "$@"\n')
        file.chmod(0o755)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


@contextmanager
def foreign(config: Path, session: str, /, **changes: Any) -> Iterator[int]:
    """A living program outside the server, registered with that conversation: its pid.

    It is killed at the end, and its record stays behind, as one does after a SIGKILL.
    """
    with subprocess.Popen(["sleep", "600"]) as program:
        try:
            register(config, program.pid, session, **changes)
            yield program.pid
        finally:
            program.kill()


# --- the registry and the conversations ---


def place(config: Path, name: str, text: str) -> None:
    """A file of the registry; moved into it, so that it is never seen to be opened in there."""
    fresh = config / f"fresh-{os.getpid()}"
    fresh.write_text(text)
    fresh.rename(config / "sessions" / name)


def register(config: Path, pid: int, session: str, /, **changes: Any) -> None:
    """The record of a process, and its secret. A change to None leaves a value out."""
    registry, machine = config / "sessions", Path("/etc/machine-id").read_text().strip()
    registry.mkdir(parents=True, exist_ok=True)
    value = {
        "pid": pid,
        "sessionId": session,
        "cwd": str(Path(f"/proc/{pid}/cwd").readlink()),
        "startedAt": int(time.time() * 1000),
        "procStart": Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19],
        "version": "2.1.332",
        "peerProtocol": 1,
        "peerFeatures": [FEATURE],
        "kind": "interactive",
        "entrypoint": "cli",
        "pidDomain": f"linux:{machine}:{Path(f'/proc/{pid}/ns/pid').readlink()}",
        "messagingSocketPath": f"{SOCKET}/{pid}.sock",
        "name": NAME,
        "nameSource": "derived",
        "status": "idle",
        **changes,
    }
    place(config, f"{pid}.json", json.dumps({key: one for key, one in value.items() if one is not None}))
    if not (registry / f"{pid}.{KEY_HASH}.key").exists():
        place(config, f"{pid}.{KEY_HASH}.key", SECRET)


def unregister() -> None:
    """At a clean end of this process."""
    for name in (f"{os.getpid()}.json", f"{os.getpid()}.{KEY_HASH}.key"):
        (OWN / "sessions" / name).unlink(missing_ok=True)


def history(session: str) -> list[tuple[str, str]]:
    """What was said: (role, text)."""
    file = OWN / "projects" / f"{session}.jsonl"
    return [tuple(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def keep(session: str, text: str) -> None:
    """One turn."""
    (OWN / "projects").mkdir(parents=True, exist_ok=True)
    with (OWN / "projects" / f"{session}.jsonl").open("a") as file:
        file.write(json.dumps(["user", text]) + "\n" + json.dumps(["agent", f"echo: {text}"]) + "\n")


# --- the terminal ---


class Tui:
    """Its screen is the text so far and a composer."""

    def __init__(self, session: str) -> None:
        self.session, self.status, self.draft, self.armed = session, "idle", "", False

    def open(self, session: str) -> None:
        """Goes on with a conversation."""
        self.session = session
        self.state("idle")
        self.paint("welcome", *(text for _, text in history(session)))

    def paint(self, *lines: str) -> None:
        """Says lines, and shows the composer again."""
        mark = {"idle": "✳", "busy": "◐", "waiting": "✳"}[self.status]
        said = "".join(f"\r\x1b[K{line}\r\n" for line in lines)
        sys.stdout.write(f"\x1b]0;{mark} work\x07{said}\r\x1b[K❯ {self.draft}")
        sys.stdout.flush()

    def state(self, status: str) -> None:
        """Another state, told in the registry a moment before the screen moves on, as with the real one."""
        self.status = status
        register(OWN, os.getpid(), self.session, status=status)
        time.sleep(0.2)

    def key(self, char: str) -> bool:
        """One key; False when it has quit."""
        if char == "\x03" and self.armed and self.status == "idle":
            return False
        self.armed = char == "\x03"
        if char == "\x03":
            self.paint("Press Ctrl-C again to exit")
        elif char == "\x1b":
            self.state("idle")
            self.paint("interrupted")
        elif char == "\r":
            self.enter(self.draft)
        else:
            self.draft += char
            self.paint()
        return True

    def enter(self, text: str) -> None:
        """A message."""
        self.draft = ""
        if text in ("busy", "waiting"):
            self.state(text)
            self.paint(f"> {text}")
        elif text == "torn":
            place(OWN, f"{os.getpid()}.json", '{"pid": ')
            time.sleep(0.2)
            self.paint("torn now")
        elif text == "mended":
            self.state("idle")
            self.paint("mended now")
        elif text.startswith("/resume "):
            self.open(text.removeprefix("/resume "))
        else:
            keep(self.session, text)
            self.paint(f"> {text}", f"echo: {text}")

    def run(self) -> None:
        """Until it is told to quit."""
        before = termios.tcgetattr(0)
        tty.setraw(0)
        self.open(self.session)
        while (data := os.read(0, 1024)) and all(map(self.key, data.decode())):
            pass
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        unregister()
        print(f"\r\nResume this session with:\r\nclaude --resume {self.session}")


# --- the connector ---


class Connector:
    """ACP over stdin and stdout. The file `fails` of the configuration folder names a method that fails."""

    def __init__(self) -> None:
        self.hanging: int | None = None

    def say(self, **message: Any) -> None:
        """One line."""
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def tell(self, session: str, role: str, text: str, number: int) -> None:
        """One message of the conversation."""
        update = {
            "sessionUpdate": f"{role}_message_chunk",
            "messageId": f"{role}{number}",
            "content": {"type": "text", "text": text},
        }
        self.say(method="session/update", params={"sessionId": session, "update": update})

    def open(self, session: str) -> dict[str, Any]:
        """It is this process's from now on; its options."""
        register(OWN, os.getpid(), session, status=None, entrypoint="sdk-ts")
        return {"configOptions": [MODELS]}

    def prompt(self, session: str, text: str) -> dict[str, Any] | None:
        """One turn; None when it has not ended."""
        self.tell(session, "agent", f"echo: {text}", len(history(session)) + 1)
        keep(session, text)
        return None if text == "hang" else {"stopReason": "end_turn"}

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """The result of one call; None when it comes later."""
        session = params.get("sessionId", "")
        match method:
            case "initialize":
                can = {"loadSession": True, "sessionCapabilities": {"list": {}, "resume": {}}}
                return {"protocolVersion": 1, "agentCapabilities": can}
            case "session/list":
                kept = (OWN / "projects").glob("*.jsonl")
                return {"sessions": [{"sessionId": file.stem, "cwd": params["cwd"]} for file in kept]}
            case "session/new":
                session = str(uuid.uuid4())
                return {"sessionId": session, **self.open(session)}
            case "session/load" | "session/resume":
                opened = self.open(session)
                for number, (role, text) in enumerate(history(session) if method == "session/load" else ()):
                    self.tell(session, role, text, number)
                return opened
            case "session/prompt":
                return self.prompt(session, params["prompt"][0]["text"])
        return {}

    def call(self, number: int, method: str, params: dict[str, Any]) -> None:
        """Answers one call, or is about to."""
        fails = OWN / "fails"
        if fails.exists() and method == fails.read_text():
            print("the provider's quota is used up", file=sys.stderr)
            sys.exit(71)
        result = self.answer(method, params)
        if result is None:
            self.hanging = number
        else:
            self.say(id=number, result=result)

    def run(self) -> None:
        """Until the end of its input."""
        for line in sys.stdin:
            message = json.loads(line)
            method = message.get("method")
            if method == "session/cancel" and self.hanging is not None:
                self.say(id=self.hanging, result={"stopReason": "cancelled"})
                self.hanging = None
            elif method and "id" in message:
                self.call(message["id"], method, message.get("params") or {})
        unregister()


def main(side: str, args: list[str]) -> None:
    """One of the two."""
    if "--version" in args:
        print("2.1.332 (Claude Code)")
    elif side == "acp":
        Connector().run()
    else:
        named = re.search(r"--resume (\S+)", " ".join(args))
        Tui(named[1] if named else str(uuid.uuid4())).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
