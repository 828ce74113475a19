"""The ACP agent over real pipes."""

import base64

import pytest

from tests.demo.acp_client import Answered, content, selected

PNG = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"x" * 68).decode()}


def test_initialize(acp):
    result = acp().initialized
    assert result["protocolVersion"] == 1
    assert result["agentInfo"]["name"] == "hybridmux-demo"
    assert result["authMethods"] == []
    assert result["_meta"] == {"steering": {"supported": True}}
    assert result["agentCapabilities"] == {
        "loadSession": True,
        "promptCapabilities": {"image": True, "embeddedContext": True},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
    }


def test_an_echo_turn(acp, demo):
    client = acp()
    session = client.new()
    result = client.prompt(session, "hello big world")
    assert result["stopReason"] == "end_turn"
    assert client.texts("agent") == ["echo: hello big world"]
    assert client.kinds().count("agent_message_chunk") == 4
    assert client.texts("user") == []
    client.until(lambda: "session_info_update" in client.kinds())
    assert "usage_update" in client.kinds()
    assert client.updates[-1]["title"] == "hello big world"
    stored = demo("show", session)
    assert [(m["role"], m["text"]) for m in stored["messages"]] == [
        ("user", "hello big world"),
        ("agent", "echo: hello big world"),
    ]
    assert stored["ends"] == ["end_turn"]


def test_a_thought(acp):
    client = acp()
    client.prompt(client.new(), "think: deep things")
    assert client.texts("thought") == ["deep things"]
    assert client.texts("agent") == ["echo: deep things"]


def test_load_replays_everything_and_resume_nothing(acp):
    first = acp()
    session = first.new()
    first.prompt(session, "think: one")
    first.prompt(session, "plan")
    running = first.start_prompt(session, "run: echo out")
    first.reply(first.request("session/request_permission"), selected("allow-once"))
    first.answer(running)
    assert first.close() == 0
    second = acp()
    options = second.load(session)["configOptions"]
    assert [option["id"] for option in options] == ["mode", "model", "effort", "fast"]
    assert second.texts("user") == ["think: one", "plan", "run: echo out"]
    assert second.texts("thought") == ["one"]
    assert second.texts("agent") == ["echo: one", "The plan is done.", "exit 0"]
    assert second.texts("agent") == first.texts("agent")
    (tool,) = second.tools()
    assert (tool["status"], tool["title"]) == ("completed", "echo out")
    assert tool["content"][0]["content"]["text"] == "out\n"
    (plan,) = [u for u in second.updates if u["sessionUpdate"] == "plan"]
    assert {entry["status"] for entry in plan["entries"]} == {"completed"}
    assert second.kinds()[-1] != "available_commands_update"  # that one follows the answer
    second.until(lambda: "session_info_update" in second.kinds())
    assert second.close() == 0
    third = acp()
    third.call("session/resume", sessionId=session, cwd=third.cwd, mcpServers=[])
    assert not [kind for kind in third.kinds() if kind.endswith("_chunk")]
    third.prompt(session, "go on")
    assert third.texts("agent") == ["echo: go on"]


def test_commands_follow_the_answer(acp):
    client = acp()
    client.new()
    client.until(lambda: client.updates)
    commands = client.updates[0]["availableCommands"]
    assert {"help", "plan", "slow"} <= {command["name"] for command in commands}


def test_list_is_by_real_folder_newest_first(acp, place, tmp_path):
    client = acp()
    (tmp_path / "other").mkdir()
    link = tmp_path / "link"
    link.symlink_to(place)
    ids = [client.call("session/new", cwd=cwd)["sessionId"] for cwd in (str(place), str(link), str(place))]
    elsewhere = client.call("session/new", cwd=str(tmp_path / "other"))["sessionId"]
    client.prompt(ids[1], "touched last")
    found = client.call("session/list", cwd=str(link))["sessions"]
    assert [item["sessionId"] for item in found] == [ids[1], ids[2], ids[0]]
    assert {item["cwd"] for item in found} == {str(place)}
    assert [item["title"] for item in found] == ["touched last", "New session", "New session"]
    everything = client.call("session/list")["sessions"]
    assert elsewhere in [item["sessionId"] for item in everything]


def test_list_has_pages(acp, place):
    client = acp()
    made = [client.new() for _ in range(30)]
    first = client.call("session/list", cwd=str(place))
    second = client.call("session/list", cwd=str(place), cursor=first["nextCursor"])
    assert (len(first["sessions"]), len(second["sessions"])) == (25, 5)
    assert "nextCursor" not in second
    assert {s["sessionId"] for s in first["sessions"] + second["sessions"]} == set(made)


def test_config_options(acp):
    client = acp()
    session = client.new()
    result = client.call("session/set_config_option", sessionId=session, configId="mode", value="plan")
    client.call("session/set_config_option", sessionId=session, configId="effort", value="high")
    client.call("session/set_config_option", sessionId=session, configId="fast", type="boolean", value=True)
    assert values(result)["mode"] == "plan"
    client.until(lambda: client.kinds().count("config_option_update") == 3)
    assert values(client.updates[-1]) == {
        "mode": "plan",
        "model": "demo-small",
        "effort": "high",
        "fast": True,
    }
    client.close()
    kept = values(acp().load(session))
    assert kept == {"mode": "plan", "model": "demo-small", "effort": "low", "fast": False}


def values(result):
    return {option["id"]: option["currentValue"] for option in result["configOptions"]}


def test_attachments(acp):
    client = acp()
    session = client.new()
    text = {
        "type": "resource",
        "resource": {"uri": "file:///n.txt", "mimeType": "text/plain", "text": "notes"},
    }
    client.prompt(session, "look at", PNG, text)
    assert client.texts("agent") == ["echo: look at [image/png 68 bytes] [text/plain 5 bytes]"]
    client.close()
    second = acp()
    second.load(session)
    replayed = [u["content"] for u in second.updates if u["sessionUpdate"] == "user_message_chunk"]
    assert replayed == content("look at", PNG, text)


def test_title(acp):
    client = acp()
    session = client.new()
    client.prompt(session, "title: Better name")
    assert client.call("session/list")["sessions"][0]["title"] == "Better name"
    client.close()
    again = acp()
    again.load(session)
    again.until(lambda: "session_info_update" in again.kinds())
    assert again.updates[-1]["title"] == "Better name"


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/unknown", {}, -32601),
        ("session/new", {"cwd": "relative"}, -32602),
        ("session/new", {"cwd": "/no/such/folder"}, -32602),
        ("session/new", {}, -32602),
        ("session/prompt", {"sessionId": "demo_000000000000", "prompt": content("x")}, -32002),
        ("session/load", {"sessionId": "demo_000000000000"}, -32002),
        ("session/load", {"sessionId": 5}, -32602),
        ("session/list", {"cursor": "x"}, -32602),
    ],
)
def test_errors(acp, method, params, code):
    with pytest.raises(Answered) as caught:
        acp().call(method, **params)
    assert caught.value.code == code


@pytest.mark.parametrize("prompt", [None, "text", [1], [], content("  ")])
def test_bad_prompts(acp, prompt):
    client = acp()
    with pytest.raises(Answered) as caught:
        client.call("session/prompt", sessionId=client.new(), prompt=prompt)
    assert caught.value.code == -32602


def test_lines_that_are_no_messages_are_passed_over(acp):
    client = acp()
    client.write(b'no json\n\xff\xfe\n42\n[]\nnull\n{}\n\n{"jsonrpc":"2.0","id":[],"result":1}\n')
    assert client.call("session/list") == {"sessions": []}


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_one_writer(acp, method):
    first, second = acp(), acp()
    session = first.new()
    with pytest.raises(Answered) as caught:
        second.call(method, sessionId=session, cwd=second.cwd)
    assert caught.value.code == -32600
    assert caught.value.data == {"reason": "active_writer", "sessionId": session}
    first.call("session/close", sessionId=session)
    second.load(session)
