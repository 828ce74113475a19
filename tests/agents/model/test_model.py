"""The fake model: each dialect reads what an agent would send and writes what it would read."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agents.model import chat, messages, responses
from tests.agents.model.behaviour import Plan, decide
from tests.agents.model.server import ModelServer

NOTE = {"type": "text", "text": "<system-reminder>said by the agent</system-reminder>"}
CALL = {"command": "date", "description": "run a command"}


def chat_body(prompt: str) -> dict[str, Any]:
    content = [NOTE, {"type": "text", "text": prompt}, NOTE]
    tools = [{"type": "function", "function": {"name": "bash"}}]
    return {"model": "m", "messages": [{"role": "user", "content": content}], "tools": tools}


def messages_body(prompt: str) -> dict[str, Any]:
    content = [NOTE, {"type": "text", "text": prompt}]
    return {"model": "m", "messages": [{"role": "user", "content": content}], "tools": [{"name": "bash"}]}


def responses_body(prompt: str) -> dict[str, Any]:
    said = [{"type": "input_text", "text": text} for text in ("# AGENTS.md instructions", prompt)]
    tools = [{"type": "namespace", "name": "all", "tools": [{"name": "bash"}]}]
    return {"model": "m", "input": [{"type": "message", "role": "user", "content": said}], "tools": tools}


def data(plan: Plan, dialect: Any) -> list[Any]:
    """What the events of an answer say, the pauses left out."""
    frames = [frame for frame, _ in dialect.stream(plan, {"model": "m"}, 7)]
    assert all(frame.endswith("\n\n") for frame in frames)
    lines = [frame.split("data: ", 1)[1].strip() for frame in frames]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def read_chat(plan: Plan) -> tuple[str, str, Any]:
    deltas = [one["choices"][0]["delta"] for one in data(plan, chat)]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    texts = ("".join(delta.get(key, "") for delta in deltas) for key in ("reasoning_content", "content"))
    return (*texts, json.loads(calls[0]["function"]["arguments"]) if calls else None)


def read_messages(plan: Plan) -> tuple[str, str, Any]:
    deltas = [one["delta"] for one in data(plan, messages) if one["type"] == "content_block_delta"]
    keys = ("thinking", "text", "partial_json")
    thought, text, call = ("".join(delta.get(key, "") for delta in deltas) for key in keys)
    return thought, text, json.loads(call) if call else None


def read_responses(plan: Plan) -> tuple[str, str, Any]:
    events = data(plan, responses)
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    kinds = ("response.reasoning_summary_text.delta", "response.output_text.delta")
    thought, text = ("".join(one["delta"] for one in events if one["type"] == kind) for kind in kinds)
    calls = [one for one in events[-1]["response"]["output"] if one["type"] == "function_call"]
    return thought, text, json.loads(calls[0]["arguments"]) if calls else None


DIALECTS = pytest.mark.parametrize(
    ("dialect", "body", "read"),
    [
        (chat, chat_body, read_chat),
        (messages, messages_body, read_messages),
        (responses, responses_body, read_responses),
    ],
    ids=["chat", "messages", "responses"],
)


@DIALECTS
@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("two  words", ("", "echo: two  words", None)),
        ("think: hard", ("hard", "echo: think: hard", None)),
        ("slow 1", ("", "tick 1 tick 2 done", None)),
        ("run: date", ("", "I run a command. ", CALL)),
        ('tool: ask {"q": 1}', ("", "", {"q": 1})),
    ],
)
def test_a_prompt_is_read_and_answered(dialect: Any, body: Any, read: Any, prompt: str, answer: Any) -> None:
    turn = dialect.read(body(prompt))
    assert (turn.role, turn.text, turn.tools >= {"bash"}) == ("user", prompt, True)
    assert read(decide(turn)) == answer
    assert json.loads(json.dumps(dialect.whole(decide(turn), {"model": "m"}, 7)))["model"] == "m"


def tool_results() -> Iterator[Any]:
    yield chat, {"messages": [{"role": "tool", "content": [{"type": "text", "text": "42"}]}]}
    result = {"type": "tool_result", "content": [{"type": "text", "text": "42"}]}
    yield messages, {"messages": [{"role": "user", "content": [result, NOTE]}]}
    yield responses, {"input": [{"type": "function_call_output", "output": "42"}]}


@pytest.mark.parametrize(("dialect", "body"), [*tool_results()])
def test_what_a_tool_said_is_repeated(dialect: Any, body: dict[str, Any]) -> None:
    assert decide(dialect.read(body)).text == "tool said: 42"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer(("127.0.0.1", 0))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def ask(server: ModelServer, path: str, body: Any = None) -> tuple[int, str]:
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}{path}", data=sent)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_failures_and_broken_answers_come_over_the_wire(server: ModelServer) -> None:
    streaming = {"stream": True}
    assert ask(server, "/v1/messages?beta=true", messages_body("fail: 429"))[0] == 429
    status, text = ask(server, "/v1/messages", {**messages_body("broken: cut"), **streaming})
    assert (status, "message_start" in text, "message_stop" in text) == (200, True, False)
    status, text = ask(server, "/v1/responses", {**responses_body("broken: nonsense"), **streaming})
    with pytest.raises(ValueError, match="property name"):
        json.loads(text.removeprefix("data: "))
    status, text = ask(server, "/v1/responses", {**responses_body("hello"), **streaming})
    assert "response.completed" in text


def test_lists_counts_and_the_log(server: ModelServer) -> None:
    assert json.loads(ask(server, "/v1/models")[1])["data"][0]["id"] == "fake-model"
    assert json.loads(ask(server, "/v1/messages/count_tokens", messages_body("hello"))[1])["input_tokens"] > 1
    assert ask(server, "/nowhere", {})[0] == 404
    ask(server, "/v1/chat/completions", chat_body("hello"))
    asked = json.loads(ask(server, "/requests")[1])
    assert asked[0] == {"path": "/nowhere", "unknown": "POST"}
    assert asked[1]["users"] == ["hello"]
