"""An ACP agent that replays a long history: `python replaying_agent.py COUNT`, over stdin and stdout.

It lists the demo agent's sessions and loads each as the same `updates(COUNT)`.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"list": {}}}


def updates(count: int) -> Iterator[dict[str, Any]]:
    """Messages in pieces, tool calls that go on, plans: no two alike."""
    for n in range(count):
        match n % 10:
            case 0:
                yield _chunk("user", f"u{n // 10}", f"question {n} ")
            case 1 | 2:
                yield {
                    "sessionUpdate": "tool_call" if n % 10 == 1 else "tool_call_update",
                    "toolCallId": f"t{n // 10}",
                    "title": f"tool {n}",
                    "status": "in_progress" if n % 10 == 1 else "completed",
                    "rawOutput": {"output": f"output {n} \u00e9\u4e16"},
                }
            case 3:
                yield {
                    "sessionUpdate": "plan",
                    "entries": [{"content": f"step {n}", "status": "pending", "priority": "low"}],
                }
            case _:
                yield _chunk("agent", f"a{n // 10}", f"word {n} ")


def _chunk(role: str, message_id: str, text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {"sessionUpdate": f"{role}_message_chunk", "messageId": message_id, "content": content}


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def _answer(method: str, params: dict[str, Any], count: int) -> dict[str, Any]:
    if method == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": CAPABILITIES}
    if method == "session/list":
        found = [file.stem for file in Path(os.environ["HYBRIDMUX_DEMO_HOME"]).rglob("*.jsonl")]
        return {"sessions": [{"sessionId": one, "cwd": params["cwd"]} for one in found]}
    if method == "session/load":
        for update in updates(count):
            _say({"method": "session/update", "params": {"sessionId": params["sessionId"], "update": update}})
    return {}


def main() -> None:
    """Until the end of the input."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = _answer(message["method"], message.get("params") or {}, int(sys.argv[1]))
            _say({"id": message["id"], "result": result})
            sys.stdout.flush()


if __name__ == "__main__":
    main()
