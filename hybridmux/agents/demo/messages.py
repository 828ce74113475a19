"""The ACP v1 shapes the demo agent sends; pure."""

from typing import Any

from hybridmux import __version__
from hybridmux.agents.demo import limits, script
from hybridmux.agents.demo.history import Line
from hybridmux.agents.demo.session import OPTIONS, Session
from hybridmux.agents.demo.store import Summary

INITIALIZE: Line = {
    "protocolVersion": 1,
    "agentCapabilities": {
        "loadSession": True,
        "promptCapabilities": {"image": True, "embeddedContext": True},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
    },
    "agentInfo": {"name": limits.NAME, "title": "Demo agent", "version": __version__},
    "authMethods": [],
    "_meta": {"steering": {"supported": True}},
}

PERMISSION_OPTIONS: list[Line] = [
    {"optionId": "allow-once", "name": "Yes, once", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Yes, always this command", "kind": "allow_always"},
    {"optionId": "reject", "name": "No", "kind": "reject_once"},
]
CHOICES = {"allow-once": "once", "allow-always": "always", "reject": "reject"}

_TITLES = {
    "mode": ("Mode", "mode", "What the agent may do"),
    "model": ("Model", "model", "Who answers"),
    "effort": ("Effort", "thought_level", "How long it thinks"),
}
_NAMES = {
    "default": "Ask before running",
    "plan": "Plan only",
    "demo-small": "Demo small",
    "demo-large": "Demo large",
    "low": "Low",
    "high": "High",
}

COMMANDS: Line = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [
        {"name": name, "description": text, "input": {"hint": hint} if hint else None}
        for name, text, hint in script.COMMANDS
    ],
}


def config_options(session: Session) -> list[Line]:
    found: list[Line] = []
    for option, values in OPTIONS.items():
        name, category, description = _TITLES[option]
        found.append(
            {
                "id": option,
                "name": name,
                "description": description,
                "category": category,
                "type": "select",
                "currentValue": session.config[option],
                "options": [{"value": value, "name": _NAMES[value]} for value in values],
            }
        )
    fast = {"id": "fast", "name": "Fast", "description": "Answers sooner", "category": "model_config"}
    return [*found, {**fast, "type": "boolean", "currentValue": session.config["fast"]}]


def listed(found: Summary) -> Line:
    return {
        "sessionId": found.id,
        "cwd": found.cwd,
        "title": found.title or "New session",
        "updatedAt": found.updated_at,
    }


def updates(line: Line, *, replay: bool = False) -> list[Line]:
    """The `session/update`s for one line of a conversation. The user's words are sent in a replay only."""
    match line["type"]:
        case "user" if replay:
            kind = "user_message_chunk"
            return [
                {"sessionUpdate": kind, "messageId": line["messageId"], "content": block}
                for block in line["blocks"]
            ]
        case "agent" | "thought" as role:
            content = {"type": "text", "text": line["text"]}
            kind = "agent_message_chunk" if role == "agent" else "agent_thought_chunk"
            return [{"sessionUpdate": kind, "messageId": line["messageId"], "content": content}]
        case "tool":
            fields = {k: v for k, v in line.items() if k != "type"}
            return [{"sessionUpdate": "tool_call" if "title" in line else "tool_call_update", **fields}]
        case "plan":
            return [{"sessionUpdate": "plan", "entries": line["entries"]}]
        case "title":
            return [{"sessionUpdate": "session_info_update", "title": line["title"]}]
        case "usage":
            cost = {"amount": line["cost"], "currency": "USD"}
            return [
                {"sessionUpdate": "usage_update", "used": line["used"], "size": line["size"], "cost": cost}
            ]
    return []


def prompt_result(reason: str, characters: int) -> dict[str, Any]:
    tokens = characters // 4
    usage = {"inputTokens": 100, "outputTokens": tokens, "totalTokens": 100 + tokens}
    return {"stopReason": reason, "usage": usage}
