"""A stand-in for Claude Code and its connector, as far as sessions and the process registry go.

`fake_claude.py tui [--resume ID]` is a terminal that registers, `fake_claude.py acp` a connector that does
not. Both keep conversations as files in `$HOME/fake`. It runs without any package.
"""

import json
import os
import signal
import sys
import uuid
from pathlib import Path

STORE = Path(os.environ["HOME"]) / "fake"
OPTIONS = [
    {
        "id": "model", "name": "Model", "type": "select", "currentValue": "small",
        "options": [{"value": name, "name": name} for name in ("small", "large")],
    }
]  # fmt: skip


def keep(session_id: str) -> str:
    """A conversation that is listed from now on."""
    STORE.mkdir(exist_ok=True)
    (STORE / session_id).touch()
    return session_id


def registration(pid: int, session_id: str, cwd: str) -> dict:
    """What Claude Code writes about itself."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    machine = Path("/etc/machine-id").read_text().strip()
    domain = f"linux:{machine}:{Path('/proc/self/ns/pid').readlink()}"
    return {
        "pid": pid, "sessionId": session_id, "cwd": cwd, "procStart": ticks, "pidDomain": domain,
        "status": "idle",
    }  # fmt: skip


def register(home: Path, pid: int, session_id: str, cwd: str) -> Path:
    """Puts it where Claude Code does."""
    folder = home / ".claude/sessions"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{pid}.json"
    file.write_text(json.dumps(registration(pid, session_id, cwd)))
    return file


def terminal(words: list[str]) -> None:
    """Registers, shows a composer, goes on to another conversation with `/resume ID`, ends with Ctrl-C."""
    session_id = keep(words[words.index("--resume") + 1] if "--resume" in words else str(uuid.uuid4()))
    file = register(Path(os.environ["HOME"]), os.getpid(), session_id, os.path.realpath("."))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    try:
        sys.stdout.write("\x1b]2;✳ fake\x07❯ ready\r\n")
        sys.stdout.flush()
        for line in sys.stdin:
            command, _, session_id = line.strip().partition(" ")
            if command == "/resume":
                register(Path(os.environ["HOME"]), os.getpid(), session_id, os.path.realpath("."))
    finally:
        file.unlink(missing_ok=True)


def say(**message) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session_id: str, kind: str, text: str) -> None:
    content = {"type": "text", "text": text}
    say(
        method="session/update",
        params={"sessionId": session_id, "update": {"sessionUpdate": kind, "content": content}},
    )


def answer(method: str, params: dict) -> dict:
    match method:
        case "initialize":
            able = {"loadSession": True, "sessionCapabilities": {"list": {}, "resume": {}}}
            return {"protocolVersion": 1, "agentInfo": {"name": "fake"}, "agentCapabilities": able}
        case "session/list":
            return {"sessions": [{"sessionId": one.name} for one in STORE.glob("*")]}
        case "session/new":
            return {"sessionId": keep(str(uuid.uuid4())), "configOptions": OPTIONS}
        case "session/load":
            for text in (STORE / params["sessionId"]).read_text().splitlines():
                update(params["sessionId"], "user_message_chunk", text)
                update(params["sessionId"], "agent_message_chunk", f"echo: {text}")
            return {"configOptions": OPTIONS}
        case "session/resume":
            return {"configOptions": OPTIONS}
    return {}


def connector() -> None:
    """Echoes; a prompt of `hang` runs until it is cancelled."""
    hanging = None
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method == "session/cancel" and hanging is not None:
            say(id=hanging, result={"stopReason": "cancelled"})
        elif method == "session/prompt":
            text = params["prompt"][0]["text"]
            with (STORE / params["sessionId"]).open("a") as file:
                file.write(f"{text}\n")
            update(params["sessionId"], "agent_message_chunk", f"echo: {text}")
            if text == "hang":
                hanging = message["id"]
            else:
                say(id=message["id"], result={"stopReason": "end_turn"})
        elif "id" in message and method:
            say(id=message["id"], result=answer(method, params))


if __name__ == "__main__":
    connector() if sys.argv[1] == "acp" else terminal(sys.argv[2:])
