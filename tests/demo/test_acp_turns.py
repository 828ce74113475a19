"""What happens inside turns on the ACP side: permissions, cancels, queues, steering, forms."""

import os
import signal

import pytest

from tests.demo.acp_client import Answered, content, selected, wait_for
from tests.demo.watching import running


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
    wait_for(lambda: running("sleep 4242") and running("sleep 4243"))
    client.notify("session/cancel", sessionId=session)
    assert client.answer(number)["stopReason"] == "cancelled"
    wait_for(lambda: not running("sleep 424"))


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
