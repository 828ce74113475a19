"""Field reports, group B: load, resume and replay.

Each test is named after its row and tells the symptom in its docstring.
"""

import random
import shlex
import sys
from pathlib import Path

import orjson
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.acp.fold import fold
from hybridmux.acp.translate import Translator
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import OccupiedElsewhere
from hybridmux.conversation.view import shown_title
from hybridmux.errors import AgentFailed, Conflict
from tests.conversation.play import Play, play
from tests.conversation.world import ID, World
from tests.reports import replaying_agent
from tests.reports.agents import DEMO, spoken, wiretap
from tests.reports.rows import unaccounted
from tests.support.client import ChatView, Unexpected

ROWS = [f"B{number}" for number in (1, 2, 3, 4, 5, 7, 8, 10, 12, 13, 14)]
NOT_APPLICABLE: dict[str, str] = {}


def test_every_row_is_tested_or_has_its_reason():
    assert unaccounted(globals(), ROWS, NOT_APPLICABLE) == []


def codes(p: Play) -> list[str]:
    """The notices of the timeline."""
    return [event["code"] for event in p.events("notice")]


def markers(p: Play) -> list[str]:
    """The markers of the timeline."""
    return [event["kind"] for event in p.events("marker")]


async def lose_connector(p: Play) -> None:
    """The connector dies; whoever needs one next starts another."""
    p.sides.chat.leave()
    await wait_all_tasks_blocked()
    assert p.session.sides.chat is None


async def test_b1_a_replay_on_resume_shows_nothing_twice(autojump_clock):
    """Resume replayed the whole history, against the rule, and everything was there twice."""
    async with play(World(history=[], remembers=True, replays_on_resume=True), "acp") as p:
        await p.turn_in_chat("one")
        await lose_connector(p)
        await p.turn_in_chat("two")
        assert f"resume {ID}" in p.world.happened
        assert p.texts() == ["one", "echo: one", "two", "echo: two"]


async def test_b1_a_replay_that_goes_on_after_the_answer(autojump_clock):
    """The same from an agent whose replay overtakes its answer; what it says then is new."""
    async with play(World(history=[], remembers=True), "acp") as p:
        await p.turn_in_chat("one")
        await lose_connector(p)
        await p.session.connected()
        p.sides.chat.replay_at_once(["one"])
        assert p.texts() == ["one", "echo: one"]
        p.sides.chat.update("agent_message_chunk", "by myself", "a-new")
        await p.turn_in_chat("two")
        assert p.texts() == ["one", "echo: one", "by myself", "two", "echo: two"]


async def test_b2_a_resume_without_replay_keeps_timeline_and_title(autojump_clock):
    """After a resume the view was empty, and the title said nothing."""
    async with play(World(), "acp") as p:
        await p.turn_in_chat("mend the parser\nand its tests")
        generation, before = p.session.log.generation, p.texts()
        await lose_connector(p)
        await p.session.connected()
        assert (p.session.log.generation, p.texts()) == (generation, before)
        assert markers(p)[-1] == "reconnected"
        assert shown_title(p.session) == "mend the parser"


async def test_b3_a_load_without_the_earlier_tool_calls_says_so(autojump_clock):
    """A load gave the text but none of the tool calls that had been there."""
    async with play(World(history=[], remembers=True, uses_tools=True), "acp") as p:
        await p.turn_in_chat("one")
        assert [event["toolCallId"] for event in p.events("tool.upsert")] == ["t-one"]
        await p.to_terminal()
        await p.to_chat()
        assert p.texts() == ["one"]
        assert p.events("tool.upsert") == []
        assert markers(p) == ["loaded", "switched"]
        assert codes(p) == ["tools_not_replayed"]


async def test_b3_cards_stay_where_nothing_is_loaded(autojump_clock):
    """The same where the agent is only connected anew: the cards are ours and stay."""
    async with play(World(uses_tools=True), "acp") as p:
        await p.turn_in_chat("one")
        await lose_connector(p)
        await p.turn_in_chat("two")
        assert [event["toolCallId"] for event in p.events("tool.upsert")] == ["t-one", "t-two"]
        assert "tools_not_replayed" not in codes(p)


CALL = {"sessionUpdate": "tool_call", "toolCallId": "t1"}
INPUT = {"command": ["git", "status"], "workdir": "/tmp"}


@pytest.mark.parametrize(
    ("updates", "title"),
    [
        ([CALL | {"title": "exec_command", "rawInput": INPUT}], "git status"),
        ([CALL | {"rawInput": INPUT}], "git status"),
        ([CALL | {"title": "exec_command"}, {**CALL, "rawInput": INPUT}], "git status"),
        ([CALL | {"title": "exec_command"}], "exec_command"),
        ([CALL | {"title": "exec_command", "kind": "execute", "rawInput": INPUT}], "exec_command"),
        ([CALL | {"title": "Look around", "rawInput": INPUT}], "Look around"),
        ([CALL | {"title": "Look around"}, CALL | {"title": "exec_command"}], "Look around"),
        ([CALL | {"title": "exec_command", "rawInput": {"unknown": 1}}], "exec_command"),
        ([CALL], "tool"),
    ],
)
def test_b4_a_tool_call_without_words_is_titled_by_its_input(updates, title):
    """Replayed shell calls had lost their title and kind."""
    translator = Translator()
    events = [event for update in updates for event in translator.feed(update)]
    (item,) = fold(events).items()
    assert item["title"] == title


async def test_b5_a_turn_without_an_answer_after_a_load_is_told(autojump_clock):
    """The load succeeded, the next prompt ended at once without a word, and the message seemed swallowed."""
    async with play(World(answers=False)) as p:
        await p.to_chat()
        await p.turn_in_chat("are you there?")
        assert p.texts() == ["hello", "are you there?"]
        assert p.events("turn.end")[-1]["stopReason"] == "end_turn"
        assert [(e["code"], e["level"]) for e in p.events("notice")] == [("empty_turn", "warning")]
        p.world.answers = True
        await p.turn_in_chat("and now?")
        assert p.texts()[-1] == "echo: and now?"
        assert codes(p) == ["empty_turn"]


async def test_b7_an_agent_that_only_resumes_is_good_enough(autojump_clock):
    """Agents that offer resume and no load were refused."""
    async with play(World(can_load=False)) as p:
        assert (await p.to_chat()).side == "acp"
        assert p.world.happened == ["connector", "quit", f"resume {ID}"]
        assert codes(p) == ["history_not_loaded"]
        await p.turn_in_chat("go on")
        assert p.texts() == ["go on", "echo: go on"]
        await p.to_terminal()
        assert (await p.to_chat()).side == "acp"
        assert p.texts() == ["go on", "echo: go on"]


async def test_b7_an_agent_that_can_do_neither_is_refused_before_anything_stops(autojump_clock):
    """The other half: without load and resume there is no way, and the terminal goes on."""
    async with play(World(can_load=False, can_resume=False)) as p:
        with pytest.raises(AgentFailed, match="neither load nor resume"):
            await p.to_chat()
        assert p.session.position.step is Step.TUI
        assert "quit" not in p.world.happened


class SlowSocket:
    """Takes its time with each frame."""

    def __init__(self, ws) -> None:
        self._ws = ws

    async def get_message(self):
        await trio.sleep(0.02)
        return await self._ws.get_message()


@pytest.mark.timeout(120)
async def test_b8_a_long_replay_reaches_a_slow_client_whole(server, tmp_path):
    """A long replay lost its beginning on the way to somebody who read slowly."""
    count = 50_000
    translator = Translator()
    events = [event for update in replaying_agent.updates(count) for event in translator.feed(update)]
    reference = fold(events + translator.flush())
    program = tmp_path / "hybridmux-demo"
    replayer = shlex.join([sys.executable, str(Path(replaying_agent.__file__)), str(count)])
    program.write_text(f'#!/bin/sh\ncase $1 in acp) exec {replayer} ;; *) exec {DEMO} "$@" ;; esac\n')
    program.chmod(0o755)
    async with server(config="") as running:
        client = running.client
        sid = await spoken(client, [str(program), "tui"], str(tmp_path), "question 0")
        async with client.socket(f"/ws/s/{sid}/chat") as ws, ChatView(SlowSocket(ws)).reading() as before:
            await client.switch(sid, "acp")
            assert (await before.until_closed())[0] == 1013
        async with client.socket(f"/ws/s/{sid}/chat") as ws, ChatView(SlowSocket(ws)).reading() as slow:
            await slow.until(lambda v: v.caught_up, 60)
            assert "truncated" not in slow.snapshot or not slow.snapshot["truncated"]
            items = [one for one in slow.timeline.items() if one["kind"] not in ("marker", "notice")]
            assert orjson.dumps(items) == orjson.dumps(reference.items())
            assert slow.timeline.state["plan"] == reference.state["plan"]
            assert len(items) == count / 10 * 3


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("can_resume", [True, False])
async def test_b10_nothing_is_loaded_while_a_turn_runs(autojump_clock, seed, can_resume):
    """A load during a live turn made two session objects for one id, and the cancel missed."""
    rng = random.Random(seed)
    world = World(
        history=[], remembers=True, prompt="open", can_resume=can_resume, delay=lambda: rng.uniform(0, 1)
    )

    async def disturb(p: Play) -> None:
        match rng.choice(["prompt", "prompt", "cancel", "unpause", "die", "there and back", "option"]):
            case "prompt":
                await p.session.turns.prompt(f"message {rng.random()}")
            case "cancel":
                await p.session.turns.cancel()
            case "unpause":
                await p.session.turns.unpause()
            case "die":
                p.sides.chat.leave()
            case "there and back":
                await p.to_terminal()
                await p.to_chat()
            case "option":
                await p.session.set_option("mode", "plan")

    async with play(world, "acp") as p:
        await p.turn_in_chat("first")
        for _ in range(12):
            await disturb(p)
            await trio.sleep(rng.choice([0, 0.1, 20]))
        assert not p.session.over.is_set()
        assert p.session.position.step is Step.ACP
        # The scripted agent has checked each of its loads; there were some.
        assert any(what.startswith(("load", "resume")) for what in world.happened)
    assert world.violations == []


async def test_b12_a_new_connector_in_the_middle_only_adds_to_the_timeline(autojump_clock):
    """The replay of a connector that was started again cleared the cards that were there."""
    async with play(World(history=[], remembers=True, uses_tools=True, prompt="open"), "acp") as p:
        await p.session.turns.prompt("one")
        await wait_all_tasks_blocked()
        before = p.session.log.journal.read(1, 10**6)
        generation = p.session.log.generation
        await lose_connector(p)
        assert p.events("turn.end")[-1]["stopReason"] == "error"
        p.world.prompt = "ok"
        await p.turn_in_chat("two")
        after = p.session.log.journal.read(1, 10**6)
        assert p.session.log.generation == generation
        assert [one.encoded for one in after[: len(before)]] == [one.encoded for one in before]
        assert p.texts() == ["one", "echo: one", "two", "echo: two"]


async def test_b12_an_agent_that_must_load_anew_shows_all_of_it(autojump_clock):
    """The same where only a load brings the agent back: one timeline, and nothing of it is missing."""
    async with play(World(history=[], remembers=True, can_resume=False), "acp") as p:
        await p.turn_in_chat("one")
        await p.turn_in_chat("two")
        await lose_connector(p)
        await p.turn_in_chat("three")
        assert p.texts() == ["one", "two", "three", "echo: three"]
        assert len(p.events("turn.start")) == len(p.events("turn.end")) == 1


async def test_b13_a_folder_that_has_become_another_one_is_not_taken(server, tmp_path):
    """A load did not look at the folder it was given, and went on in another one."""
    tap = wiretap(tmp_path / "bin")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "one")
    async with server() as running:
        client = running.client
        sid = await spoken(client, [str(tap.program), "tui"], str(link))
        await client.delete(f"/api/sessions/{sid}")
        link.unlink()
        link.symlink_to(tmp_path / "two")
        started = tap.argvs()
        for side in ("tui", "acp"):
            with pytest.raises(Unexpected) as caught:
                await client.resume(sid, {"side": side})
            assert (caught.value.status, caught.value.reason) == (409, "session_missing")
        assert tap.argvs() == [*started, "acp", "acp"]
        assert not {"session/load", "session/new", "session/resume"} & set(tap.methods())
        link.unlink()
        with pytest.raises(Unexpected) as caught:
            await client.resume(sid)
        assert caught.value.status == 409
        assert tap.argvs() == [*started, "acp", "acp"]
        link.symlink_to(tmp_path / "one")
        assert (await client.resume(sid))["hybrid"]["side"] == "tui"


@pytest.mark.parametrize("refusals", [1, 3, 6])
async def test_b14_our_own_old_process_is_no_other_writer(autojump_clock, refusals):
    """The agent spoke of an active writer though nobody else was there: its old process was not gone yet."""
    async with play(World(refusals=refusals)) as p:
        assert (await p.to_chat()).side == "acp"
        assert p.world.happened.count(f"load {ID}") == refusals + 1
        assert p.texts() == ["hello"]
        assert codes(p) == []


async def test_b14_a_writer_that_stays_is_somebody_else(autojump_clock):
    """The same without an end: tried again for a bounded time, then told, and the terminal is back."""
    async with play(World(load=OccupiedElsewhere("another program has it open"))) as p:
        began = trio.current_time()
        with pytest.raises(Conflict) as caught:
            await p.to_chat()
        assert caught.value.reason == "occupied_external"
        assert trio.current_time() - began < p.session.budgets.retry + 5
        assert 3 < p.world.happened.count(f"load {ID}") < 30
        assert p.session.position.step is Step.TUI
        assert p.sides.tui.session_id == ID
        assert p.world.writers == {"tui"}
