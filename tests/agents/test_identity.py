"""Which conversation a terminal has open: after `/new`, beside another, and without the agent's evidence."""

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest

from hybridmux.acp.reading import Json
from hybridmux.budgets import Budgets
from tests.agents.sides import PROFILE, connector
from tests.agents.use import (
    AGENT,
    PATIENCE,
    ask_in_terminal,
    heard,
    hybrid,
    record_of,
    said,
    say_in_chat,
    say_in_terminal,
    server_of,
    session_of,
    start,
    submit,
)
from tests.support.client import Client, TerminalView, Unexpected, request_id
from tests.support.leaks import processes
from tests.support.talk import until_info


async def begin_anew(term: TerminalView, command: str) -> None:
    """A conversation after that of the first words."""
    await term.until_text("echo: first words", PATIENCE)
    await term.until_text(AGENT.ready, PATIENCE)
    await submit(term, command)
    await term.until_no_text("echo: first words", PATIENCE)
    await term.until_quiet()  # it may show its input before it takes Enter
    await ask_in_terminal(term, "new words")


@pytest.mark.parametrize("command", AGENT.begin_anew)
async def test_a_new_conversation_begun_in_the_terminal_is_the_one_that_moves(tmp_path, command):
    async with session_of(tmp_path) as (client, sid):
        await say_in_terminal(client, sid, "first words")
        await client.switch(sid, "acp")
        was = (await hybrid(client, sid))["agentSessionId"]
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            await begin_anew(term, command)
            await client.switch(sid, "acp")
        assert await heard(client, sid) == [*AGENT.begun_anew, *said("new words")]
        assert (await hybrid(client, sid))["agentSessionId"] != was
        assert (await record_of(client, sid))["agentSessionHistory"] == [was]


@pytest.mark.skipif(AGENT.pick_older is None, reason="no list to choose from that takes few keys")
async def test_an_older_conversation_opened_in_the_terminal_is_the_one_that_moves(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        await say_in_terminal(client, sid, "first words")
        await client.switch(sid, "acp")
        older = (await hybrid(client, sid))["agentSessionId"]
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            await begin_anew(term, AGENT.begin_anew[0])
            await client.switch(sid, "acp")
        newer = (await hybrid(client, sid))["agentSessionId"]
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            await term.until_text("echo: new words", PATIENCE)
            await term.until_text(AGENT.ready, PATIENCE)
            await submit(term, "/resume")
            await term.until_text("first words", PATIENCE)
            await term.until_quiet()
            await term.send(AGENT.pick_older)
            await term.until_quiet()
            await term.send(b"\r")
            await term.until_text("echo: first words", PATIENCE)
            await term.until_quiet()
            await client.switch(sid, "acp")
        assert await heard(client, sid) == said("first words")
        assert (await hybrid(client, sid))["agentSessionId"] == older
        assert (await record_of(client, sid))["agentSessionHistory"] == [newer]
        change = await id_change(client, sid)
        if PROFILE.evidence == "locks":  # it holds the locks of both
            assert (change["was"], change["now"]) == (newer, older)
        else:
            assert change is None


async def id_change(client: Client, sid: str) -> Json | None:
    """What the chat state says of another conversation than was thought."""
    async with client.chat(sid) as chat:
        change: Json | None = chat.state["idChange"]
        return change


async def to_chat_by_title(client: Client, sid: str, words: str) -> bool:
    """Switches, choosing by the title if it has to be chosen; whether it had to be."""
    body = {"clientRequestId": request_id(), "to": "acp"}
    status, answer = await client.ask("POST", f"/api/sessions/{sid}/switch", body)
    if status == 200:
        return False
    assert (status, answer["reason"]) == (409, "session_ambiguous")
    fits = [one["agentSessionId"] for one in answer["candidates"] if words in (one["title"] or "")]
    assert len(fits) == 1, answer
    await client.switch_to(sid, fits[0])
    return True


@pytest.mark.skipif(PROFILE.reopens_unprompted, reason="names no conversation before its first message")
async def test_before_its_first_message_a_terminal_has_no_conversation_to_move(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        await until_info(client, sid, lambda info: info["hybrid"]["agentSessionId"], PATIENCE)
        async with client.chat(sid) as chat:
            await chat.until(
                lambda view: view.state["eligibility"].get("reason") == "no_session_id", PATIENCE
            )
        await say_in_terminal(client, sid, "first words")
        await until_info(client, sid, lambda info: info["status"] == "idle", PATIENCE)
        async with client.chat(sid) as chat:
            assert chat.state["eligibility"] == {"available": True}


@pytest.mark.skipif(AGENT.side_chat is None, reason="has no side chats")
async def test_a_side_chat_is_not_the_conversation(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        await say_in_terminal(client, sid, "first words")
        await until_info(client, sid, lambda info: info["hybrid"]["agentSessionId"], PATIENCE)
        was = (await hybrid(client, sid))["agentSessionId"]
        async with client.terminal(sid) as term:
            await submit(term, f"{AGENT.side_chat} by the way")
            await term.until_text("echo: by the way", PATIENCE)
            await term.until_quiet(2 * Budgets().evidence_beat, PATIENCE)
        assert (await hybrid(client, sid))["agentSessionId"] == was
        assert (await client.switch(sid, "acp"))["side"] == "acp"
        assert (await heard(client, sid))[:2] == said("first words")
        assert (await hybrid(client, sid))["agentSessionId"] == was
        assert (await record_of(client, sid))["agentSessionHistory"] == []


async def test_two_sessions_in_one_folder_keep_apart(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        one, other = await start(client), await start(client)
        await say_in_terminal(client, one, "red apples")
        await say_in_terminal(client, other, "green pears")
        chosen = await to_chat_by_title(client, one, "red apples")
        assert chosen == (PROFILE.evidence is None)
        assert not await to_chat_by_title(client, other, "green pears")
        assert await heard(client, one) == said("red apples")
        assert await heard(client, other) == said("green pears")
        ids = {(await hybrid(client, sid))["agentSessionId"] for sid in (one, other)}
        assert len(ids) == 2


def spoil() -> None:
    """Takes away the files that name the conversation of a terminal; the program does not notice."""
    home = Path.home()
    match PROFILE.evidence:
        case "registry":
            for record in (home / ".claude/sessions").glob("*.json"):
                record.unlink()
        case "locks":
            with suppress(FileNotFoundError):  # made again for a new thread only
                shutil.move(home / ".codex/thread-writer-locks", mkdtemp())
        case "breadcrumb":
            for crumb in (home / ".omp/agent/terminal-sessions").iterdir():
                crumb.unlink()


async def talk_elsewhere(text: str) -> str:
    """A conversation of a program that is not the server's, in the same folder; its id."""
    block: Json = {"type": "text", "text": text}
    async with connector() as (chat, _):
        await chat.initialize()
        session_id, _ = await chat.new_session()
        await chat.prompt([block])
        await chat.stop()
    return session_id


async def test_without_evidence_the_only_candidate_is_taken(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            spoil()
            with pytest.raises(Unexpected) as refused:
                await client.switch(sid, "acp")
            assert refused.value.status == 409
            assert refused.value.reason == "not_eligible"
            assert refused.value.body["eligibility"] == "no_session_id"
            await ask_in_terminal(term, "first words")
            await term.until_quiet()
            spoil()
            assert (await client.switch(sid, "acp"))["side"] == "acp"
        assert await heard(client, sid) == said("first words")


async def test_without_evidence_one_of_several_is_chosen(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        async with client.terminal(sid) as term:
            await term.until_text(AGENT.ready, PATIENCE)
            other = await talk_elsewhere("other words")
            spoil()
            with pytest.raises(Unexpected) as refused:
                await client.switch(sid, "acp")  # nothing was entered here: that was somebody else
            assert refused.value.body["eligibility"] == "no_session_id"
            await ask_in_terminal(term, "first words")
            await term.until_quiet()
            spoil()
            with pytest.raises(Unexpected) as refused:
                await client.switch(sid, "acp")
            assert (refused.value.status, refused.value.reason) == (409, "session_ambiguous")
            offered = {one["agentSessionId"] for one in refused.value.body["candidates"]}
            assert other in offered
            (ours,) = offered - {other}
            await term.until_text("echo: first words")
            await client.switch_to(sid, ours)
        assert await heard(client, sid) == said("first words")
        assert (await hybrid(client, sid))["agentSessionId"] == ours


@pytest.mark.skipif(PROFILE.evidence is not None, reason="states which conversation its terminal has open")
async def test_a_conversation_of_others_that_changed_meanwhile_is_not_moved_on_to(tmp_path):
    async with session_of(tmp_path) as (client, sid):
        await say_in_terminal(client, sid, "first words")
        await client.switch(sid, "acp")
        await say_in_chat(client, sid, "second words")
        ours = (await hybrid(client, sid))["agentSessionId"]
        await client.switch(sid, "tui")
        async with client.terminal(sid) as term:
            await term.until_text("echo: second words", PATIENCE)
        await talk_elsewhere("other words")
        await client.switch(sid, "acp")
        assert await heard(client, sid) == said("first words", "second words")
        assert (await hybrid(client, sid))["agentSessionId"] == ours
        assert (await record_of(client, sid))["agentSessionHistory"] == []
        assert await id_change(client, sid) is None


async def test_a_choice_that_the_agent_does_not_have_touches_nothing(tmp_path):
    async with server_of(tmp_path) as server:
        client = server.client
        sid = await start(client)
        async with client.terminal(sid) as term:
            await ask_in_terminal(term, "first words")
            await term.until_quiet()
            if PROFILE.evidence is not None:  # it is known better
                with pytest.raises(Unexpected) as refused:
                    await client.switch_to(sid, AGENT.unknown_id)
                assert refused.value.status == 400
            spoil()
            before = {one.pid for one in processes(server.data)}
            with pytest.raises(Unexpected) as refused:
                await client.switch_to(sid, AGENT.unknown_id)
            assert (refused.value.status, refused.value.reason) == (409, "not_eligible")
            assert refused.value.body["eligibility"] == "not_listed"
            assert {one.pid for one in processes(server.data)} == before
            assert term.closed is None
            await ask_in_terminal(term, "second words")
            await term.until_quiet()
            spoil()
            await client.switch(sid, "acp")
        assert await heard(client, sid) == said("first words", "second words")
