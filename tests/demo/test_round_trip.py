"""One conversation that moves: TUI, ACP, TUI, ACP on the same store."""

import pytest

from tests.demo.acp_client import Answered


def users(talk):
    return [message["text"] for message in talk["messages"] if message["role"] == "user"]


def test_the_conversation_moves_and_keeps_its_id(tui, acp, demo):
    terminal = tui()
    terminal.prompt("from the terminal")
    session = terminal.reports()[-1]["session"]
    terminal.type("\x04")
    assert terminal.finish() == 0

    client = acp()
    assert [s["sessionId"] for s in client.call("session/list", cwd=client.cwd)["sessions"]] == [session]
    client.load(session)
    assert client.texts("user") == ["from the terminal"]
    assert client.texts("agent") == ["echo: from the terminal"]
    client.prompt(session, "from the chat")
    assert client.close() == 0

    terminal = tui("--resume", session)
    terminal.shows(
        "❯ from the terminal", "● echo: from the terminal", "❯ from the chat", "● echo: from the chat"
    )
    terminal.prompt("and back")
    terminal.type("\x04")
    assert terminal.finish() == 0

    client = acp()
    client.load(session)
    assert client.texts("user") == ["from the terminal", "from the chat", "and back"]
    assert users(demo("show", session)) == client.texts("user")


def test_an_empty_chat_can_go_on_in_the_terminal(tui, acp):
    client = acp()
    session = client.new()
    assert client.close() == 0
    terminal = tui("--resume", session)
    assert terminal.ready()["session"] == session
    terminal.prompt("first words")
    terminal.shows("● echo: first words")


def test_an_interrupted_turn_moves_with_its_partial_answer(tui, acp):
    terminal = tui()
    session = terminal.ready()["session"]
    terminal.type("slow 30\r")
    terminal.shows("tick 2")
    terminal.type("\x1b")
    terminal.says(state="idle")
    terminal.type("\x04")
    assert terminal.finish() == 0
    client = acp()
    client.load(session)
    assert client.texts("agent")[0].startswith("tick 1 tick 2")


def test_the_lock_of_a_running_tui_keeps_the_chat_out(tui, acp):
    terminal = tui()
    terminal.prompt("mine")
    session = terminal.reports()[-1]["session"]
    client = acp()
    assert [s["sessionId"] for s in client.call("session/list")["sessions"]] == [session]
    with pytest.raises(Answered) as caught:
        client.load(session)
    assert caught.value.data["reason"] == "active_writer"
    terminal.type("/new\r")
    terminal.until(lambda: terminal.reports()[-1]["session"] != session)
    client.load(session)


def test_mode_goes_along(tui, acp):
    terminal = tui()
    terminal.ready()
    terminal.type("/mode plan\r")
    terminal.shows("mode is plan")
    terminal.prompt("hello")
    session = terminal.reports()[-1]["session"]
    terminal.type("\x04")
    terminal.finish()
    options = {o["id"]: o["currentValue"] for o in acp().load(session)["configOptions"]}
    assert options["mode"] == "plan"
