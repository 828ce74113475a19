"""An agent that tells megabytes wherever it may say anything: what is kept of it is bounded."""

from collections.abc import Iterator

import orjson
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.budgets import (
    ACP_OPEN_REQUESTS,
    EVENT_NODES,
    EVENT_TEXT,
    LIST_TEXT,
    PENDING_REQUESTS,
    REQUESTS_BYTES,
    Budgets,
)
from hybridmux.conversation.view import chat_state, session_info
from hybridmux.wire.convert import write
from tests.acp.fake_agent import Fail, FakeAgent

from .play import play
from .wired import WiredSides
from .world import World

MESSAGE = 6_000_000
"""Bytes of one message, encoded; a text has about a fifth of them."""
SMALL = 64 * 1024
"""What everything else in a chat state, a record or the session in the list may be."""


def fields(word: str) -> Iterator[dict]:
    """What stands for every text of a message, and how long its lists are: few huge texts, or very many."""
    size = len(orjson.dumps(word)) - 2
    for length in (MESSAGE // 5 // size, 4000, 500, 1):
        yield {"text": word * length, "count": max(1, MESSAGE // (15 * (length * size + 20)))}


def names(text: str, count: int, **more) -> list[dict]:
    """Entries that are told apart by their ids."""
    keys = ("id", "modeId", "modelId", "value", "name", "optionId")
    one = dict.fromkeys(("title", "description", "category", "kind", "content", "status", "priority"), text)
    return [
        {
            **one,
            "type": "select",
            "currentValue": text,
            **{key: f"{n}{text}"[: len(text)] for key in keys},
            **more,
        }
        for n in range(count)
    ]


def contents(text: str) -> list[dict]:
    return [
        {"type": "text", "text": text},
        {"type": "image", "mimeType": text, "data": text},
        {"type": "resource_link", "name": text, "uri": text, "mimeType": text},
        {"type": "resource", "resource": {"uri": text, "text": text, "mimeType": text}},
        {"type": text},
    ]


def tools(text: str, count: int) -> Iterator[dict]:
    common = {"sessionUpdate": "tool_call", "title": text, "name": text, "kind": text, "status": text}
    wide = {f"{n}{text}"[:5000]: text for n in range(min(count, 2000))}
    yield {**common, "toolCallId": text, "rawInput": wide, "rawOutput": [text] * count}
    yield {**common, "toolCallId": f"1{text}", "rawOutput": {"output": text, "metadata": {"exit": 1}}}
    yield {**common, "toolCallId": f"2{text}", "_meta": {"terminal_output_delta": {"data": text}}}
    yield {**common, "toolCallId": f"3{text}", "_meta": {"terminal_exit": {"signal": text}}}
    diff = {"type": "diff", "path": text, "oldText": text, "newText": text}
    shown = [{"type": "content", "content": one} for one in contents(text)]
    parts = [diff, {"type": "terminal", "terminalId": text}, *shown]
    yield {**common, "toolCallId": f"4{text}", "content": parts * (count // 20 or 1)}
    links = [{"type": "content", "content": {"type": "resource_link", "uri": text}}] * (12 * count)
    yield {"sessionUpdate": "tool_call", "toolCallId": f"6{text}", "content": links if count > 1 else []}
    yield {**common, "toolCallId": f"5{text}", "locations": [{"path": text}] * count}


def updates(text: str, count: int) -> Iterator[dict]:
    """Every kind of update."""
    for role in ("user", "agent", "agent_thought"):
        kind = f"{role}_chunk" if "thought" in role else f"{role}_message_chunk"
        for content in contents(text):
            yield {"sessionUpdate": kind, "messageId": text, "content": content}
    yield from tools(text, count)
    entries = names(text, count)
    yield {"sessionUpdate": "plan", "entries": entries}
    yield {
        "sessionUpdate": "available_commands_update",
        "availableCommands": names(text, count, input={"hint": text}),
    }
    yield {"sessionUpdate": "config_option_update", "configOptions": names(text, 1, options=entries)}
    yield {"sessionUpdate": "config_option_update", "configOptions": names(text, count, options=entries[:1])}
    yield {"sessionUpdate": "current_mode_update", "currentModeId": text}
    yield {"sessionUpdate": "current_model_update", "currentModelId": text}
    yield {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": text}}
    yield {"sessionUpdate": "session_info_update", "title": text, "updatedAt": text}
    yield {"sessionUpdate": "compaction_update", "compactionId": text, "status": text, "error": text}
    said = [{"type": "text", "text": text}] * count
    yield {"sessionUpdate": "compaction_update", "compactionId": text, "summary": said}
    yield {"sessionUpdate": "compaction_summary_chunk", "compactionId": text, "content": contents(text)[0]}
    yield {"sessionUpdate": text}
    yield {
        "sessionUpdate": "session_info_update",
        "_meta": {"codex": {"threadStatus": {"type": "systemError"}, "error": text}},
    }


def requests(text: str, count: int) -> Iterator[tuple[str, dict]]:
    """Everything it may ask."""
    call = {"toolCallId": text, "title": text, "kind": text, "rawInput": {"x": text}}
    yield "session/request_permission", {"toolCall": call, "options": names(text, count)}
    fields = {f"{n}{text}"[:600]: {"type": "string", "title": text} for n in range(min(count, 50))}
    yield "elicitation/create", {"message": text, "requestedSchema": {"properties": fields}}
    yield "elicitation/create", {"message": text, "requestedSchema": {"required": [text] * count}}


def teach(agent: FakeAgent) -> None:
    async def initialize(agent, params):
        big = "x" * MESSAGE
        info = {"name": big, "title": big, "version": big}
        return {"protocolVersion": 1, "agentInfo": info, "authMethods": [{"id": big}]}

    begin = agent.handlers["session/new"]

    async def new(agent, params):
        found = {"modes": "availableModes", "models": "availableModels"}
        offered = {key: {name: names("x" * 500, 600)} for key, name in found.items()}
        return {**await begin(agent, params), **offered}

    async def prompt(agent, params):
        raise Fail(-32603, "y" * MESSAGE, {"details": "z" * MESSAGE})

    agent.handlers |= {"initialize": initialize, "session/new": new, "session/prompt": prompt}


def weight(word: str) -> float:
    """How many bytes of JSON a byte of text is."""
    return (len(orjson.dumps(word)) - 2) / len(word.encode())


def check(p, word: str) -> None:
    """All that is kept and shown of it."""
    state = chat_state(p.session)
    for part in ("configOptions", "commands", "plan"):
        assert len(orjson.dumps(state[part])) < weight(word) * LIST_TEXT * 1.5
    assert len(orjson.dumps(state)) < weight(word) * 3 * LIST_TEXT + REQUESTS_BYTES + SMALL
    assert len(orjson.dumps(write(session_info(p.session)))) < SMALL
    assert len(orjson.dumps(write(p.record))) < SMALL
    log = p.session.log.journal
    entries = log.read(log.tail, 10**9)
    assert max(len(one.encoded) for one in entries) < weight(word) * EVENT_TEXT + 100 * EVENT_NODES
    assert log.cost <= Budgets().chat_log_bytes


@pytest.mark.parametrize("word", ["\x01", "🙂"], ids=["control", "wide"])
async def test_what_is_kept_of_an_agent_is_bounded_whatever_it_tells(autojump_clock, word):
    async with play(World(), "acp", sides=WiredSides(World(), teach)) as p:
        check(p, "x")
        assert [one["id"] for one in chat_state(p.session)["configOptions"]] == ["mode"]
        for more in fields(word):
            for update in updates(**more):
                p.sides.agent.update(update)
                await wait_all_tasks_blocked()
            check(p, word)
        await p.session.turns.prompt("hello")
        await wait_all_tasks_blocked()
        check(p, word)
        assert p.events("turn.end")[-1]["stopReason"] == "error"


@pytest.mark.parametrize("word", ["\x01", "🙂"], ids=["control", "wide"])
async def test_what_waits_for_a_person_is_bounded_whatever_is_asked(autojump_clock, word):
    async with play(World(), "acp", sides=WiredSides(World(), teach)) as p, trio.open_nursery() as nursery:
        p.session.turns.asking.set_mode("ask")
        for more in fields(word):
            for method, params in requests(**more):
                nursery.start_soon(p.sides.agent.ask, method, params)
                await wait_all_tasks_blocked()
        check(p, word)
        shown = chat_state(p.session)["requests"]
        assert {one["kind"] for one in shown} >= {"permission"}
        small = {"toolCall": {"title": word * 2048}, "options": names(word * 500, 40)}
        for _ in range(ACP_OPEN_REQUESTS):
            nursery.start_soon(p.sides.agent.ask, "session/request_permission", small)
        await wait_all_tasks_blocked()
        check(p, word)
        assert len(shown) <= len(chat_state(p.session)["requests"]) <= PENDING_REQUESTS
        p.session.turns.asking.withdraw()
