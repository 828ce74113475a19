"""A conversation for people and for programs; pure."""

from typing import Any

from hybridmux.agents.demo.history import Conversation, Line, shown


def as_dict(talk: Conversation) -> dict[str, Any]:
    """`{id, cwd, title, createdAt, config, messages: [{role, messageId?, text, …}], ends: [stopReason]}`."""
    return {
        "id": talk.id,
        "cwd": talk.cwd,
        "title": talk.title,
        "createdAt": talk.created_at,
        "config": talk.config,
        "messages": [_message(item) for item in talk.items if item["type"] != "end"],
        "ends": [item["stopReason"] for item in talk.items if item["type"] == "end"],
    }


def _message(item: Line) -> Line:
    role = item["type"]
    match role:
        case "user":
            extra = {"steered": True} if item.get("steered") else {}
            return {"role": role, "messageId": item["messageId"], "text": shown(item["blocks"]), **extra}
        case "tool":
            status, call = item.get("status"), item.get("toolCallId")
            return {"role": role, "toolCallId": call, "text": item.get("title", ""), "status": status}
        case "plan":
            return {
                "role": role,
                "text": "\n".join(f"{e['status']}: {e['content']}" for e in item["entries"]),
            }
    return {"role": role, "messageId": item.get("messageId"), "text": item.get("text", "")}


def as_text(talk: Conversation) -> str:
    lines = [f"{talk.id}  {talk.title}  {talk.cwd}"]
    for item in talk.items:
        if item["type"] == "end":
            lines.append(f"({item['stopReason']})")
        else:
            message = _message(item)
            lines.append(f"{message['role']}: {message['text'].strip()}")
    return "\n".join(lines) + "\n"
