"""Field reports, group A: moving one conversation between terminal and chat.

Each test is named after its row and tells the symptom in its docstring. Deadlines and repetitions are played
over scripted sides on the mock clock; what depends on real programs runs over a real server.
"""

import random
import re
from functools import partial

import pytest
import trio
from attrs import evolve
from trio.testing import wait_all_tasks_blocked

from hybridmux.agents import claudecode, codex, omp, opencode
from hybridmux.agents.demo_profile import PROFILE
from hybridmux.agents.executable import chat_environment, own_program
from hybridmux.agents.launch import Launch
from hybridmux.agents.profile import Look
from hybridmux.conversation import lifecycle, view
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import SessionUnknown, SideFailed
from hybridmux.errors import AgentFailed, Conflict
from tests.conversation.play import Play, play
from tests.conversation.world import ID, World
from tests.reports.agents import Wiretap, agent_session, say_in_chat, say_in_terminal, spoken, wiretap
from tests.reports.rows import unaccounted
from tests.support.bench import missing, switch_times
from tests.support.client import Client, Unexpected, marked

ROWS = [f"A{number}" for number in (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22)]
NOT_APPLICABLE = {
    "A16": "there is no dormancy yet: no archive, no snooze, no idle stop",
    "A22": "there is no dormancy yet: nothing sleeps, so nothing has to be woken",
}


def test_every_row_is_tested_or_has_its_reason():
    assert unaccounted(globals(), ROWS, NOT_APPLICABLE) == []


def codes(p: Play) -> list[str]:
    """The notices of the timeline."""
    return [event["code"] for event in p.events("notice")]


def alive(data, words: str) -> list[str]:
    """The processes of a server whose command line has these words."""
    return [line for line in marked(data) if words in line.replace("\\x00", " ")]


@pytest.mark.parametrize("seed", range(5))
async def test_a1_twenty_round_trips_with_random_delays_keep_the_id(autojump_clock, seed):
    """Back from the chat the terminal opened a new, empty conversation: the id was lost in a race."""
    rng = random.Random(seed)
    async with play(World(delay=lambda: rng.choice([0, 0.01, rng.uniform(0, 4)]))) as p:
        ours = p.session.id
        for _ in range(20):
            assert (await p.to_chat()).side == "acp"
            await trio.sleep(rng.uniform(0, 2))
            assert (await p.to_terminal()).side == "tui"
            await trio.sleep(rng.uniform(0, 2))
        assert [what for what in p.world.happened if what.startswith("tui")] == [f"tui {ID}"] * 20
        assert [what for what in p.world.happened if what.startswith("load")] == [f"load {ID}"] * 20
        assert "new" not in p.world.happened
        assert (p.session.id, p.record.id, p.record.agent_session_id) == (ours, ours, ID)
        assert p.record.agent_session_history == []


async def test_a1_the_resume_command_carries_the_id(server, tmp_path):
    """The same with real command lines."""
    tap = wiretap(tmp_path / "bin")
    async with server() as running:
        client = running.client
        sid = await spoken(client, [str(tap.program), "tui"], str(tmp_path))
        agent = await agent_session(client, sid)
        for side in ("acp", "tui") * 3:
            await client.switch(sid, side)
        assert [one for one in tap.argvs() if one != "acp"] == ["tui", *[f"tui --resume {agent}"] * 3]
        assert (await client.get(f"/api/sessions/{sid}"))["hybrid"]["agentSessionId"] == agent


@pytest.mark.parametrize("code", [0, 143, 137])
async def test_a2_the_exit_code_of_the_terminal_says_nothing_about_the_switch(server, tmp_path, code):
    """The program ended instead of switching: the killed child's exit code overwrote the intent."""
    tap = wiretap(tmp_path / "bin", tui_exit=str(code))
    async with server() as running:
        sid = await spoken(running.client, [str(tap.program), "tui"], str(tmp_path))
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"
        await say_in_chat(running.client, sid, "still here")
        (record,) = await running.client.get("/api/hybrid-sessions")
        assert (record["state"], record["side"]) == ("active", "acp")


@pytest.mark.parametrize(("spec", "side"), [("", "acp"), ("acp.load:error", "tui")])
async def test_a2_a_terminal_that_ends_by_itself_first(server, fault, tmp_path, spec, side):
    """The same, with a program that is gone before it is stopped; also where the chat then fails."""
    tap = wiretap(tmp_path / "bin")
    fault.write_text("tui.interrupt:hang")
    async with server() as running:
        client = running.client
        sid = await spoken(client, [str(tap.program), "tui"], str(tmp_path))
        await say_in_terminal(client, sid, "slow 60", "esc to interrupt")
        fault.write_text(spec)
        answers = []

        async def switching() -> None:
            try:
                answers.append((await client.switch(sid, "acp"))["side"])
            except Unexpected as exc:
                answers.append(exc.status)

        async with client.chat(sid) as chat, trio.open_nursery() as nursery:
            nursery.start_soon(switching)
            await chat.until(lambda v: v.state.get("phase") == "interrupting")
            shell = re.compile(r"\d+ b?'?(?:/\S*/)?sh\b")  # the wrapper, which waits for its program
            (program,) = [one for one in alive(running.data, "hybridmux-demo tui") if not shell.match(one)]
            await trio.run_process(["kill", "-TERM", program.split()[0]])
        assert answers == ["acp" if side == "acp" else 502]
        info = await client.get(f"/api/sessions/{sid}")
        assert (info["hybrid"]["state"], info["hybrid"]["side"]) == ("active", side)


@pytest.mark.parametrize("identity", ["report", "list"])
async def test_a3_a_conversation_that_was_never_written_does_not_move(autojump_clock, identity):
    """After a switch the agent knew no conversation with that id: it had not been written."""
    world = World(listed=[], stored=False)
    async with play(world, profile=evolve(PROFILE, identity=identity)) as p:
        p.session.record = evolve(p.session.record, agent_session_id=None)
        tui = p.sides.tui
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert (caught.value.reason, caught.value.extra["eligibility"]) == ("not_eligible", "no_session_id")
        assert world.happened == ["connector", "stop chat"]
        assert (p.sides.tui, tui.code, p.session.position.step) == (tui, None, Step.TUI)


async def test_a3_a_real_terminal_without_a_message(server):
    """The same with a real agent: the terminal goes on untouched."""
    async with server() as running:
        client = running.client
        sid = (await client.demo_session())["id"]
        async with client.terminal(sid) as term:
            await term.until_text("ready")
            with pytest.raises(Unexpected) as caught:
                await client.switch(sid, "acp")
            assert (caught.value.status, caught.value.reason) == (409, "not_eligible")
            assert caught.value.body["eligibility"] == "no_session_id"
            await term.submit("hello")
            await term.until_text("echo: hello")


async def test_a4_the_form_of_the_folder_does_not_matter(server, tmp_path):
    """Taking back started a new session on systems whose paths have several forms."""
    for name in ("with spaces", "plain", "UPPER"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    async with server() as running:
        client = running.client
        for form in ("with spaces", "link", "plain/", "link/", "./plain/../plain", "UPPER"):
            sid = await spoken(client, ["hybridmux-demo", "tui"], f"{tmp_path}/{form}", f"hello {form}")
            agent = await agent_session(client, sid)
            await client.switch(sid, "acp")
            async with client.chat(sid) as chat:
                assert chat.messages() == [("user", f"hello {form}"), ("agent", f"echo: hello {form}")]
            await client.delete(f"/api/sessions/{sid}")
            info = await client.resume(sid, {"side": "tui"})
            assert info["hybrid"]["agentSessionId"] == agent
            assert (await client.switch(sid, "acp"))["side"] == "acp"
            await client.delete(f"/api/sessions/{sid}")


async def approve(client: Client, sid: str, command: str) -> None:
    """Has the agent run a command in the terminal."""
    async with client.terminal(sid) as term:
        await term.submit(f"run: {command}")
        await term.until_text("Run this command")
        await term.send(b"1")
        await term.until_no_text("Run this command")
        await term.until_text("ready")


async def test_a5_what_the_terminal_had_in_the_background_ends_with_it_and_is_named(server, tmp_path):
    """Shells and monitors started in the terminal died at the switch, and nobody was told."""
    async with server() as running:
        client = running.client
        sid = await spoken(client, ["hybridmux-demo", "tui"], str(tmp_path))
        await approve(client, sid, "sleep 600 &")
        assert len(alive(running.data, "sleep 600")) == 1
        async with client.chat(sid) as chat:
            assert chat.state["forceSwitchNote"]
        await client.switch(sid, "acp")
        assert alive(running.data, "sleep 600") == []
        assert len(marked(running.data)) == 1
        async with client.chat(sid) as chat:
            (notice,) = [one for one in chat.of("notice") if one["code"] == "ended_along"]
            assert notice["text"] == "These programs ended with the terminal: sleep"


async def test_a5_what_cut_itself_off_is_named_too(server, tmp_path):
    """The same for a program that nothing connects with the terminal any more: it lives, and that is said."""
    async with server() as running:
        client = running.client
        sid = await spoken(client, ["hybridmux-demo", "tui"], str(tmp_path))
        await approve(client, sid, "env -i setsid sleep 600 </dev/null >/dev/null 2>&1 &")
        await client.switch(sid, "acp")
        async with client.chat(sid) as chat:
            (notice,) = [one for one in chat.of("notice") if one["code"] in ("ended_along", "detached")]
            assert notice["code"] == "detached"
            assert notice["text"].endswith(": sleep")
            assert not re.search(r"\d", notice["text"])


async def test_a6_a_message_to_a_brand_new_session_arrives_once(server):
    """The first message after a hand-over was dropped: position 0 was taken for "not synced"."""
    async with server() as running:
        client = running.client
        sid = (await client.demo_session("acp"))["id"]
        assert await client.prompt(sid, "first") == {"queued": False}
        async with client.chat(sid) as late, client.chat(sid, "?generation=&seq=0") as zero:
            for chat in (late, zero):
                await chat.until_turns_ended(1)
                assert chat.messages() == [("user", "first"), ("agent", "echo: first")]
            generation = zero.snapshot["generation"]
        async with client.chat(sid, f"?generation={generation}&seq=0") as again:
            assert again.messages() == [("user", "first"), ("agent", "echo: first")]


async def test_a8_another_device_sees_the_move_and_what_follows(server):
    """The phone stopped updating while the desktop had control."""
    async with server() as running:
        client = running.client
        sid = (await client.demo_session("acp"))["id"]
        await say_in_chat(client, sid, "hello")
        async with client.chat(sid) as phone:
            await client.switch(sid, "tui")
            await phone.until(lambda v: v.state["side"] == "tui", 1)
            await say_in_terminal(client, sid, "typed")
            frames = len(phone.events)
            await client.switch(sid, "acp")
            await phone.until(lambda v: v.state["side"] == "acp", 1)
            assert (await phone.until_closed())[0] == 1013
            assert frames > 0
        async with client.chat(sid, f"?generation={phone.snapshot['generation']}&seq={frames}") as phone:
            assert phone.snapshot["reset"] is True
            assert [text for role, text in phone.messages() if role == "user"] == ["hello", "typed"]
            await client.prompt(sid, "more")
            await phone.until_turns_ended(1)


async def test_a9_the_state_says_at_any_time_whether_one_may_move(autojump_clock):
    """There was no visible way back: the state says for both directions whether, and if not why not."""

    def shown(p: Play) -> tuple[bool, str | None]:
        state = view.chat_state(p.session)["eligibility"]
        return state["available"], state.get("reason")

    world = World(turn="running", interrupt="ignore")
    async with play(world) as p, trio.open_nursery() as nursery:
        assert shown(p) == (True, None)
        world.stored = False
        assert shown(p) == (False, "no_session_id")
        world.stored, world.missing = True, "nothing to start"
        assert shown(p) == (False, "connector_missing")
        world.missing = None
        nursery.start_soon(p.to_chat)
        await wait_all_tasks_blocked()
        assert shown(p) == (False, "switching")
        p.sides.tui.set("idle")
        await wait_all_tasks_blocked()
        assert p.session.position.step is Step.ACP
        assert shown(p) == (True, None)
        world.turn = "idle"
        await p.to_terminal()
        assert shown(p) == (True, None)
        await p.session.operate("close", partial(lifecycle.close, p.session))
        assert shown(p) == (False, "exited")


async def test_a10_a_history_that_has_the_last_turn_at_the_third_look(autojump_clock):
    """The switch failed at once: the history did not hold the newest finished turn yet."""
    async with play(World(history=[], lag=2)) as p:
        await p.turn_in_terminal("one")
        await p.turn_in_terminal("two")
        assert (await p.to_chat()).side == "acp"
        assert p.world.happened.count(f"load {ID}") == 3
        assert p.texts() == ["one", "two"]


async def test_a10_a_history_that_never_has_it(autojump_clock):
    """The same, for ever: back in the terminal in bounded time, with the reason."""
    async with play(World(history=[], lag=10**6)) as p:
        await p.turn_in_terminal("one")
        await p.turn_in_terminal("two")
        began = trio.current_time()
        with pytest.raises(AgentFailed, match="does not hold the last finished turn"):
            await p.to_chat()
        assert trio.current_time() - began < p.session.budgets.retry + 5
        assert p.session.position.step is Step.TUI
        assert p.sides.tui.session_id == ID
        assert codes(p) == ["switch_failed"]


@pytest.mark.parametrize(("draft", "told"), [(None, []), (False, []), (True, ["terminal_draft"])])
async def test_a12_only_what_the_agent_states_is_a_draft(autojump_clock, draft, told):
    """An empty composer counted as an unsent draft, and so did a failed send."""
    async with play(World(draft=draft)) as p:
        assert (await p.to_chat()).side == "acp"
        assert codes(p) == told


@pytest.mark.parametrize("profile", [claudecode.PROFILE, codex.PROFILE, omp.PROFILE, opencode.PROFILE])
@pytest.mark.parametrize("line", ["❯ Try 'fix the tests'", "> Ask anything", "429 rate limited", "❯ text"])
def test_a12_the_screen_of_an_agent_that_states_nothing_is_never_a_draft(profile, line):
    """Placeholder, dim text and a rate limit's line on the screen claim nothing."""
    look = Look(screen=f"{line}\n\nctrl+p commands", title="", report=None)
    assert profile.observe(look).draft is None


@pytest.mark.parametrize(
    ("typed", "told"), [("", []), ("not sent", ["terminal_draft"])], ids=["empty", "typed"]
)
async def test_a12_in_a_real_terminal_after_a_failed_send(server, tmp_path, typed, told):
    """A send that failed leaves no draft; real text does, and is told of before it can be lost."""
    async with server() as running:
        client = running.client
        sid = await spoken(client, ["hybridmux-demo", "tui"], str(tmp_path))
        await say_in_terminal(client, sid, "fail: 429", "429[^$]*ready")
        async with client.terminal(sid) as term:
            await term.type(typed, enter=False)
            await term.until_text(rf"(?m)^> ?{typed}$")
            await client.switch(sid, "acp")
        async with client.chat(sid) as chat:
            notices = [one["code"] for one in chat.of("notice")]
            assert [one for one in notices if one == "terminal_draft"] == told


@pytest.mark.parametrize("keys", [b"\x1b", b"\x03"])
async def test_a13_a_turn_interrupted_before_any_answer_is_settled(autojump_clock, keys):
    """A turn interrupted before any answer left the history unsettled for ever."""
    async with play(World(turn="running", history=["a question nobody answered"])) as p:
        await wait_all_tasks_blocked()
        p.sides.tui.stop_key_at = trio.current_time() + 1
        p.sides.tui.set("idle")
        await wait_all_tasks_blocked()
        assert (await p.to_chat()).side == "acp"
        assert p.texts() == ["a question nobody answered"]
        assert codes(p) == []


async def test_a15_nothing_is_ever_deleted(server, tmp_path):
    """Changing the view deleted the conversation: something reversible called something destroying."""
    tap = wiretap(tmp_path / "bin")
    async with server() as running:
        client = running.client
        sid = await spoken(client, [str(tap.program), "tui"], str(tmp_path))
        await client.switch(sid, "acp")
        await say_in_chat(client, sid, "more")
        await client.switch(sid, "tui")
        await client.delete(f"/api/sessions/{sid}")
        await client.resume(sid, {"side": "acp"})
        await client.delete(f"/api/sessions/{sid}")
        await client.delete(f"/api/hybrid-sessions/{sid}")
        assert {"session/load", "session/prompt", "session/list"} <= set(tap.methods())
        assert "session/delete" not in tap.methods()


def break_program(tap: Wiretap, how: str) -> None:
    """The program is there no more, but something else of its name is."""
    if how == "directory":
        tap.program.mkdir()
    elif how == "broken link":
        tap.program.symlink_to("nowhere")
    else:
        tap.program.write_text("#!/bin/sh\n")


@pytest.mark.parametrize("side", ["tui", "acp"])
async def test_a18_a_program_that_cannot_be_run_is_refused_before_anything_stops(server, tmp_path, side):
    """The bridge got an executable that cannot be run, and failed after the terminal had been stopped."""
    tap = wiretap(tmp_path / "bin")
    async with server() as running:
        client = running.client
        sid = await spoken(client, [str(tap.program), "tui"], str(tmp_path))
        if side == "acp":
            await client.switch(sid, "acp")
        before, kept = marked(running.data), tmp_path / "kept"
        tap.program.rename(kept)
        for how in ("directory", "broken link", "not executable"):
            break_program(tap, how)
            with pytest.raises(Unexpected) as caught:
                await client.switch(sid, "tui" if side == "acp" else "acp")
            assert caught.value.status == 502
            assert str(tap.program) in caught.value.body["error"]
            assert marked(running.data) == before
            info = await client.get(f"/api/sessions/{sid}")
            assert (info["hybrid"]["side"], info["hybrid"].get("phase")) == (side, None)
            tap.program.rmdir() if how == "directory" else tap.program.unlink()
        kept.rename(tap.program)
        assert (await client.switch(sid, "tui" if side == "acp" else "acp"))["side"] != side


@pytest.mark.parametrize("how", ["directory", "broken link", "not executable"])
def test_a18_a_connector_is_told_only_a_program_that_can_be_run(tmp_path, how):
    """The same for an agent whose connector is told where the agent's own program is."""
    tap = wiretap(tmp_path / "bin")
    launch = Launch(agent="claudecode", program=str(tap.program))

    def told() -> str | None:
        program = own_program(launch, {}, "/")
        return chat_environment(claudecode.PROFILE, {}, program).get("CLAUDE_CODE_EXECUTABLE")

    assert told() == str(tap.program)
    tap.program.unlink()
    break_program(tap, how)
    assert told() is None


@pytest.mark.parametrize("error", [SessionUnknown("no such session"), SideFailed("internal error")])
async def test_a19_a_load_that_fails_is_never_replaced_by_a_new_conversation(autojump_clock, error):
    """A failed resume was replaced by a new, empty thread, and the loss stayed hidden."""
    async with play(World(load=error)) as p:
        with pytest.raises(AgentFailed, match=str(error)):
            await p.to_chat()
        assert p.session.position.step is Step.TUI
        assert "new" not in p.world.happened
        assert p.record.agent_session_id == ID


async def test_a19_a_conversation_that_is_gone_is_named_with_what_there_is_instead(server, fault, tmp_path):
    """The same for a session that is brought back: 409 with the folder's other conversations."""
    tap = wiretap(tmp_path / "bin")
    async with server() as running:
        client = running.client
        cmd = [str(tap.program), "tui"]
        other = await spoken(client, cmd, str(tmp_path), "another one")
        kept = await agent_session(client, other)
        sid = await spoken(client, cmd, str(tmp_path))
        await client.delete(f"/api/sessions/{sid}")
        fault.write_text("acp.load:missing")
        with pytest.raises(Unexpected) as caught:
            await client.resume(sid, {"side": "acp"})
        assert (caught.value.status, caught.value.reason) == (409, "session_missing")
        assert kept in [one["agentSessionId"] for one in caught.value.body["candidates"]]
        assert "session/new" not in tap.methods()
        (record,) = [one for one in await client.get("/api/hybrid-sessions") if one["id"] == sid]
        assert record["state"] == "closed"


async def test_a21_what_a_switch_costs_is_measured_and_no_message_is_lost(tmp_path):
    """Is moving one session worth its cost? `scripts/bench switch` measures it."""
    result = await switch_times(tmp_path, 3)
    assert {side: len(times) for side, times in result.seconds.items()} == {"acp": 3, "tui": 3}
    assert all(0 < one < 10 for times in result.seconds.values() for one in times)
    assert (result.sent, result.lost) == (7, 0)
    assert re.search(r"terminal → chat +p50 +\d+ ms +p95 +\d+ ms", result.report())


@pytest.mark.parametrize(
    ("shown", "lost"), [("a b c", 0), ("a c", 1), ("a b b c", 1), ("b a c", 2), ("x a y b c", 0), ("", 3)]
)
def test_a21_what_counts_as_lost(shown, lost):
    """A message that is not there, is there twice or in another place counts."""
    assert missing(["a", "b", "c"], shown.split()) == lost
