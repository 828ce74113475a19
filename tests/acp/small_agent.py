"""A connector as a real process, for tests: `python small_agent.py [WORD...]`, where a word is a bad habit.

It answers `initialize`, `session/new` and `session/prompt` (echo). It runs without any package.
"""

import json
import os
import signal
import subprocess
import sys
import time

habits = set(sys.argv[1:])


def say(**message) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(message: dict):
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": 1,
                "agentInfo": {"name": "small", "version": "1"},
                "_meta": {"pid": os.getpid()},
            }
        case "session/new":
            return {
                "sessionId": "s-1",
                "cwd": os.path.realpath("."),
                "mark": os.environ.get("HYBRIDMUX_MARK"),
            }
        case "session/prompt":
            words = message["params"]["prompt"][0]["text"]
            content = {"type": "text", "text": words}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            say(method="session/update", params={"sessionId": "s-1", "update": update})
            return {"stopReason": "end_turn"}
    return {}


if "stubborn" in habits:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "noisy" in habits:
    sys.stderr.write("noise\n" * 200_000 + "\x1b[1mlast words\x1b[0m\n")
    sys.stderr.flush()
if "child" in habits:
    # Keeps the output open after its parent's end.
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
if "crash" in habits:
    sys.stderr.write("cannot go on\n")
    sys.exit(3)

for line in sys.stdin:
    message = json.loads(line)
    if "method" in message and "id" in message:
        say(id=message["id"], result=answer(message))
    if "leaves" in habits:
        break
    if "reads once" in habits:
        time.sleep(1000)
if "stays" in habits or "stubborn" in habits:
    time.sleep(1000)
