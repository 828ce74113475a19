"""A program that passes for Claude Code and its connector.

    python fake_claude.py tui|acp|foreign [ARGUMENT…]

It keeps the process registry as Claude Code does, with values that cannot be mistaken for anything else, and
a secret beside each record. What is typed decides what it does: `busy` and `waiting` are states that last
until Esc, `torn` breaks its record, `mended` writes it anew, anything else is echoed.
"""

import json
import os
import re
import shlex
import sys
import termios
import time
import tty
import uuid
from pathlib import Path
from typing import Any

SECRET = "sesame-0f1e2d3c4b5a69788796a5b4c3d2e1f0"
NAME = "unmistakable-peer-name"
SOCKET = "/tmp/unmistakable-socks"
FEATURE = "unmistakable_feature"
KEY_HASH = "deadbeefcafe"
FOLDER = "unmistakable-config"

config = Path(os.environ.get("CLAUDE_CONFIG_DIR", "/nowhere"))
registry = config / "sessions"
store = config / "projects"


def start_ticks() -> str:
    """When this process started, as /proc says."""
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]


def place(name: str, text: str) -> None:
    """A file of the registry; moved into it, so that it is never seen to be opened in there."""
    fresh = config / f"fresh-{os.getpid()}"
    fresh.write_text(text)
    fresh.rename(registry / name)


def register(session: str, status: str | None, entrypoint: str = "cli", **changes: Any) -> None:
    """The record of this process, and its secret."""
    registry.mkdir(parents=True, exist_ok=True)
    pid, domain = os.getpid(), Path("/etc/machine-id").read_text().strip()
    value = {
        "pid": pid,
        "sessionId": session,
        "cwd": os.getcwd(),  # noqa: PTH109 - a real path
        "startedAt": int(time.time() * 1000),
        "procStart": start_ticks(),
        "version": "2.1.332",
        "peerProtocol": 1,
        "peerFeatures": [FEATURE],
        "kind": "interactive",
        "entrypoint": entrypoint,
        "pidDomain": f"linux:{domain}:{os.readlink('/proc/self/ns/pid')}",  # noqa: PTH115
        "messagingSocketPath": f"{SOCKET}/{pid}.sock",
        "name": NAME,
        "nameSource": "derived",
        **({"status": status} if status else {}),
        **changes,
    }
    place(f"{pid}.json", json.dumps(value))
    if not (registry / f"{pid}.{KEY_HASH}.key").exists():
        place(f"{pid}.{KEY_HASH}.key", SECRET)


def unregister() -> None:
    """At a clean end."""
    for name in (f"{os.getpid()}.json", f"{os.getpid()}.{KEY_HASH}.key"):
        (registry / name).unlink(missing_ok=True)


def history(session: str) -> list[tuple[str, str]]:
    """What was said: (role, text)."""
    file = store / f"{session}.jsonl"
    return [tuple(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def keep(session: str, text: str) -> None:
    """One turn."""
    store.mkdir(parents=True, exist_ok=True)
    with (store / f"{session}.jsonl").open("a") as file:
        file.write(json.dumps(["user", text]) + "\n" + json.dumps(["agent", f"echo: {text}"]) + "\n")


def install(folder: Path) -> dict[str, str]:
    """Makes `claude` and `claude-agent-acp` below a folder: the environment in which they are found."""
    (folder / "bin").mkdir()
    (folder / FOLDER / "sessions").mkdir(parents=True)
    script = shlex.join([sys.executable, __file__])
    for name, side in (("claude", "tui"), ("claude-agent-acp", "acp")):
        file = folder / "bin" / name
        file.write_text(f'#!/bin/sh\nexec {script} {side} "$@"\n')
        file.chmod(0o755)
    return {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "CLAUDE_CONFIG_DIR": str(folder / FOLDER),
    }


# --- the terminal ---


class Tui:
    """Its screen is the text so far and a composer."""

    def __init__(self, session: str) -> None:
        self.session, self.status, self.draft, self.armed = session, "idle", "", False

    def paint(self, *lines: str) -> None:
        """Says lines, and shows the composer again."""
        mark = {"idle": "✳", "busy": "◐", "waiting": "✳"}[self.status]
        said = "".join(f"\r\x1b[K{line}\r\n" for line in lines)
        sys.stdout.write(f"\x1b]0;{mark} work\x07{said}\r\x1b[K❯ {self.draft}")
        sys.stdout.flush()

    def state(self, status: str) -> None:
        """Another state, told in the registry a moment before the screen moves on, as with the real one."""
        self.status = status
        register(self.session, status)
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
            place(f"{os.getpid()}.json", '{"pid": ')
            time.sleep(0.2)
            self.paint("torn now")
        elif text == "mended":
            self.state("idle")
            self.paint("mended now")
        else:
            keep(self.session, text)
            self.paint(f"> {text}", f"echo: {text}")

    def run(self) -> None:
        """Until it is told to quit."""
        before = termios.tcgetattr(0)
        tty.setraw(0)
        self.state("idle")
        self.paint("welcome", *(text for _, text in history(self.session)))
        while (data := os.read(0, 1024)) and all(map(self.key, data.decode())):
            pass
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        unregister()
        print(f"\r\nclaude --resume {self.session}")


# --- the connector ---


class Connector:
    """ACP over stdin and stdout. `$CLAUDE_CONFIG_DIR/fails` names a method that fails."""

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

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one call."""
        session = params.get("sessionId", "")
        if method == "initialize":
            can = {"loadSession": True, "sessionCapabilities": {"list": {}}}
            return {"protocolVersion": 1, "agentCapabilities": can}
        if method == "session/list":
            return {"sessions": [{"sessionId": f.stem, "cwd": params["cwd"]} for f in store.glob("*.jsonl")]}
        if method == "session/new":
            session = str(uuid.uuid4())
            register(session, None, "sdk-ts")
            return {"sessionId": session}
        if method == "session/load":
            register(session, None, "sdk-ts")
            for number, (role, text) in enumerate(history(session)):
                self.tell(session, role, text, number)
        if method == "session/prompt":
            text = params["prompt"][0]["text"]
            self.tell(session, "agent", f"echo: {text}", len(history(session)) + 1)
            keep(session, text)
            return {"stopReason": "end_turn"}
        return {}

    def run(self) -> None:
        """Until the end of its input."""
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message or "method" not in message:
                continue
            fails = (config / "fails").read_text() if (config / "fails").exists() else ""
            if message["method"] == fails:
                print("the provider's quota is used up", file=sys.stderr)
                sys.exit(71)
            self.say(id=message["id"], result=self.answer(message["method"], message.get("params") or {}))
        unregister()


def main(side: str, args: list[str]) -> None:
    """One of the two."""
    if "--version" in args:
        print("2.1.332 (Claude Code)")
    elif side == "acp":
        Connector().run()
    elif side == "foreign":  # somebody else's, until the end of its input
        register(args[0], "idle")
        print("registered", flush=True)
        sys.stdin.read()
        unregister()
    else:
        named = re.search(r"--resume (\S+)", " ".join(args))
        Tui(named[1] if named else str(uuid.uuid4())).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
