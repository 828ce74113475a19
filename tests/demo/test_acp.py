"""The ACP agent over real pipes."""

import base64
import os
import signal
import time
from pathlib import Path

import pytest

from tests.demo.acp_client import Answered, content, wait_for

PNG = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"x" * 68).decode()}


def runs(text):
    """The processes whose command line contains `text`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


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


def selected(option):
    return {"outcome": {"outcome": "selected", "optionId": option}}


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


def test_plan_mode_runs_nothing(acp):
    client = acp()
    session = client.new()
    client.call("session/set_config_option", sessionId=session, configId="mode", value="plan")
    client.prompt(session, "run: echo hi")
    assert client.tools()[0]["status"] == "failed"
    assert client.requests == []


@pytest.mark.parametrize(
    ("option", "status", "said"),
    [
        ("allow-once", "completed", "exit 0"),
        ("reject", "failed", "Not run. The user rejected this command."),
        (None, "failed", "Not run. The user rejected this command."),
    ],
)
def test_permission(acp, option, status, said):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "run: echo $((6*7))")
    request = client.request("session/request_permission")
    assert [o["kind"] for o in request["params"]["options"]] == ["allow_once", "allow_always", "reject_once"]
    assert client.tools()[0]["toolCallId"] == request["params"]["toolCall"]["toolCallId"]
    client.reply(request, selected(option) if option else {"outcome": {"outcome": "cancelled"}})
    assert client.answer(number)["stopReason"] == "end_turn"
    (tool,) = client.tools()
    assert tool["status"] == status
    assert tool["content"][0]["content"]["text"] == ("42\n" if option == "allow-once" else said[9:])
    assert client.texts("agent") == [said]


def test_always_is_remembered_for_that_command(acp):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "run: true")
    client.reply(client.request("session/request_permission"), selected("allow-always"))
    client.answer(number)
    client.prompt(session, "run: true")
    number = client.start_prompt(session, "run: false")
    client.reply(client.request("session/request_permission"), selected("allow-once"))
    client.answer(number)
    assert [tool["status"] for tool in client.tools()] == ["completed", "completed", "failed"]


def test_cancel_in_a_stream_keeps_the_partial_text(acp, demo):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "slow 30")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.notify("session/cancel", sessionId=session)
    assert client.answer(number)["stopReason"] == "cancelled"
    stored = demo("show", session)
    assert stored["messages"][-1]["text"] == client.texts("agent")[0]
    assert stored["ends"] == ["cancelled"]
    assert client.prompt(session, "still here")["stopReason"] == "end_turn"


def test_cancel_with_a_permission_open(acp):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "run: true")
    request = client.request("session/request_permission")
    client.notify("session/cancel", sessionId=session)
    client.reply(request, {"outcome": {"outcome": "cancelled"}})
    assert client.answer(number)["stopReason"] == "cancelled"
    assert client.tools()[0]["status"] == "failed"


def test_cancel_kills_the_whole_shell(acp):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "run: sleep 4242 & sleep 4243")
    client.reply(client.request("session/request_permission"), selected("allow-once"))
    wait_for(lambda: runs("sleep\x004242") and runs("sleep\x004243"))
    client.notify("session/cancel", sessionId=session)
    assert client.answer(number)["stopReason"] == "cancelled"
    wait_for(lambda: not runs("sleep\x00424"))


def test_output_comes_while_the_command_runs(acp, place):
    client = acp()
    number = client.start_prompt(
        client.new(), "run: echo first; sleep 0.3; echo second; while [ ! -e go ]; do sleep 0.01; done"
    )
    client.reply(client.request("session/request_permission"), selected("allow-once"))
    client.until(lambda: "second" in str(client.tools()[0].get("content")))
    assert client.tools()[0]["status"] == "in_progress"
    (place / "go").touch()
    client.answer(number)
    assert client.tools()[0]["content"][0]["content"]["text"] == "first\nsecond\n"


def test_a_command_that_leaves_a_child_behind_still_ends(acp, place):
    client = acp()
    number = client.start_prompt(client.new(), "run: sleep 4244 & echo $! > pid")
    client.reply(client.request("session/request_permission"), selected("allow-once"))
    assert client.answer(number)["stopReason"] == "end_turn"
    os.kill(int((place / "pid").read_text()), signal.SIGKILL)


def test_two_prompts_at_once_are_answered_in_order(acp, demo):
    client = acp()
    session = client.new()
    first, second = client.start_prompt(session, "slow 0.3"), client.start_prompt(session, "after")
    client.answer(first)
    client.answer(second)
    assert [m["text"] for m in demo("show", session)["messages"] if m["role"] == "user"] == [
        "slow 0.3",
        "after",
    ]


def test_cancel_ends_the_queued_prompt_too(acp):
    client = acp()
    session = client.new()
    first, second = client.start_prompt(session, "slow 30"), client.start_prompt(session, "after")
    client.notify("session/cancel", sessionId=session)
    assert [client.answer(n)["stopReason"] for n in (first, second)] == ["cancelled", "cancelled"]


def test_steering(acp, demo):
    client = acp()
    session = client.new()
    steer = {
        "sessionId": session,
        "prompt": content("and this"),
        "_meta": {"steering": {"idleBehavior": "promptRequired"}},
    }
    assert client.call("_session/steering", **steer) == {
        "outcome": "promptRequired",
        "reason": "noRunningTurn",
    }
    number = client.start_prompt(session, "slow 0.6")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    assert client.call("_session/steering", **steer) == {"outcome": "injected"}
    client.answer(number)
    texts = client.texts("agent")
    assert texts == ["tick 1 ", "echo: and this", "tick 2 tick 3 done."]
    roles = [(m["role"], m.get("steered")) for m in demo("show", session)["messages"]]
    assert roles[:3] == [("user", None), ("agent", None), ("user", True)]


def test_a_form(acp):
    client = acp()
    number = client.start_prompt(client.new(), "ask")
    request = client.request("elicitation/create")
    assert request["params"]["mode"] == "form"
    assert request["params"]["requestedSchema"]["required"] == ["color"]
    client.reply(request, {"action": "accept", "content": {"color": "red", "note": "n"}})
    client.answer(number)
    assert client.texts("agent") == ["You answered: color=red, note=n"]


def test_a_form_the_client_cannot_show(acp):
    client = acp(forms=False)
    client.prompt(client.new(), "ask")
    assert client.texts("agent") == ["This client cannot show forms."]


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


def test_a_diff_is_shown_and_not_written(acp, place):
    client = acp()
    client.prompt(client.new(), "diff")
    (block,) = client.tools()[0]["content"]
    assert (block["type"], block["path"]) == ("diff", str(place / "greeting.txt"))
    assert block["oldText"] != block["newText"]
    assert list(place.iterdir()) == []


def test_a_plan_moves_along(acp):
    client = acp()
    client.prompt(client.new(), "plan")
    plans = [u["entries"] for u in client.updates if u["sessionUpdate"] == "plan"]
    assert [[e["status"] for e in plan].count("completed") for plan in plans] == [0, 1, 2, 3]


def test_a_flood_and_a_big_one(acp):
    client = acp()
    session = client.new()
    client.prompt(session, "flood 3000")
    chunks = [u["content"]["text"] for u in client.updates if u["sessionUpdate"] == "agent_message_chunk"]
    assert (len(chunks), {len(chunk) for chunk in chunks}) == (3000, {64})
    client.updates.clear()
    client.prompt(session, "big 100")
    (chunk,) = [u["content"]["text"] for u in client.updates if u["sessionUpdate"] == "agent_message_chunk"]
    assert len(chunk) == 100 * 1024


def test_a_flood_can_be_cancelled(acp):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "flood 10000000")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.notify("session/cancel", sessionId=session)
    assert client.answer(number)["stopReason"] == "cancelled"


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
    ("prompt", "code", "message"),
    [
        ("fail: 429", -32603, "Internal error: model answered 429"),
        ("auth", -32000, "Authentication required"),
    ],
)
def test_failing_turns(acp, prompt, code, message):
    client = acp()
    session = client.new()
    with pytest.raises(Answered) as caught:
        client.prompt(session, prompt)
    assert (caught.value.code, caught.value.message) == (code, message)
    assert client.prompt(session, "better now")["stopReason"] == "end_turn"


def test_refusal(acp):
    client = acp()
    assert client.prompt(client.new(), "refuse")["stopReason"] == "refusal"


def test_crash(acp, demo):
    client = acp()
    session = client.new()
    client.start_prompt(session, "crash")
    assert client.process.wait(5) == 70
    client.drain()
    assert client.texts("agent") == ["going down "]
    assert demo("show", session)["messages"][-1]["text"] == "going down "
    acp().load(session)


def hanging(client, word):
    session = client.new()
    client.start_prompt(session, word)
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.notify("session/cancel", sessionId=session)
    assert client.call("session/list")["sessions"]  # the process itself is alive
    client.process.stdin.close()


def gone_in(client, seconds):
    try:
        return client.process.wait(seconds)
    except Exception:
        return None


def test_hang_ends_by_sigterm_only(acp):
    client = acp()
    hanging(client, "hang")
    assert gone_in(client, 0.3) is None
    client.process.terminate()
    assert client.process.wait(5) == 143


def test_hang_hard_ends_by_sigkill_only(acp):
    client = acp()
    hanging(client, "hang hard")
    client.process.terminate()
    assert gone_in(client, 0.3) is None
    client.process.kill()
    assert client.process.wait(5) == -signal.SIGKILL


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


def test_closing_ends_the_turn(acp):
    client = acp()
    session = client.new()
    number = client.start_prompt(session, "slow 30")
    client.call("session/close", sessionId=session)
    assert client.answer(number)["stopReason"] == "cancelled"
    with pytest.raises(Answered, match="No such session"):
        client.prompt(session, "gone")


def test_end_of_stdin_ends_the_process_at_once_even_in_a_turn(acp, demo):
    client = acp()
    session = client.new()
    client.start_prompt(session, "slow 30")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    started = time.monotonic()
    assert client.close() == 0
    assert time.monotonic() - started < 1.0  # about 0.02 s; the machine may be busy
    assert demo("show", session)["ends"] == ["cancelled"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals(acp, demo, number):
    client = acp()
    session = client.new()
    client.start_prompt(session, "slow 30")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    client.process.send_signal(number)
    assert client.process.wait(5) == 128 + number
    assert demo("show", session)["ends"] == ["cancelled"]


def test_a_client_that_stops_reading_does_not_hold_up_the_end(environ, place, acp):
    client = acp()
    session = client.new()
    client.start_prompt(session, "big 8192")
    client.start_prompt(session, "flood 1000000")
    client.until(lambda: "agent_message_chunk" in client.kinds())
    assert client.close(2.0) == 0
