"""Commands in the chat: an agent may keep them out of its history, or change the history because of them."""

import pytest
import trio

from hybridmux.conversation.barrier import Heard, Known, judge
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.errors import AgentFailed

from .play import Play, play
from .test_unprompted import FIRST
from .world import World

OFFERED = ("status", "compact", "/mcp")


def offer(names=OFFERED) -> dict:
    commands = [{"name": name, "description": ""} for name in names]
    return {"update": {"sessionUpdate": "available_commands_update", "availableCommands": commands}}


@pytest.mark.parametrize(
    ("text", "is_command"),
    [
        ("/status", True),
        ("  /Status please\nnow", True),
        ("/mcp reconnect", True),
        ("/login", True),
        ("/statuses", False),
        ("/etc/hosts is wrong", False),
        ("status", False),
        ("what does /status do?", False),
        ("", False),
    ],
)
def test_a_command_is_known_by_its_first_word(text, is_command):
    log = ChatLog(10**6, frozenset({"login"}))
    log.feed(offer())
    assert log.is_command(text) is is_command


def after(*texts: str) -> Heard:
    """What is known after these turns; `!` one that failed."""
    known = Heard()
    for text in texts:
        known.message(text.lstrip("!"), is_new=True, in_turn=True)
        known.turn_ended(well=not text.startswith("!"), is_command=lambda one: one.startswith("/"))
    return known


@pytest.mark.parametrize(
    ("said", "replay", "verdict"),
    [
        ("a /x", "a", "whole"),
        ("a /x", "a /x", "whole"),
        ("/x", "", "whole"),
        ("!/x", "", "whole"),
        ("a /x /x b", "a b", "whole"),
        ("a b /x", "a", "late"),
        ("a b !/x", "a", "late"),
        ("a b /x", "summary", "late"),
        ("a b /x !c", "summary", "late"),
        ("a b /x c", "summary c", "changed"),
        ("a b /x c", "summary", "behind"),
        ("a b", "a", "behind"),
    ],
)
def test_a_command_is_not_demanded_and_what_came_before_it_is_only_waited_for(said, replay, verdict):
    known = Known(heard=after(*said.split()))
    assert judge(known, Heard(firm=replay.split())) == verdict


def test_a_command_that_is_replayed_is_no_turn_of_the_terminal():
    known = Known(heard=after("a", "/x"), later=1)
    assert judge(known, Heard(firm=["a", "/x"])) == "behind"
    assert judge(known, Heard(firm=["a", "/x", "typed"])) == "whole"


async def said(p: Play, command: str, *, replays: bool = False) -> None:
    p.sides.chat.sink(offer())
    p.world.remembers = True
    await p.turn_in_chat("one more")
    p.world.remembers = replays
    await p.turn_in_chat(command)


@pytest.mark.parametrize("replays", [True, False])
async def test_the_way_back_is_free_after_a_command(autojump_clock, replays):
    async with play(World(history=["one"]), "acp") as p:
        await said(p, "/status", replays=replays)
        await p.to_terminal()
        began = trio.current_time()
        await p.to_chat()
        assert trio.current_time() == began
        assert p.texts() == ["one", "one more", *(["/status"] if replays else [])]
        assert p.events("notice") == []


async def test_the_turn_before_a_command_is_waited_for(autojump_clock):
    async with play(World(history=["one"]), "acp") as p:
        await said(p, "/status")
        await p.to_terminal()
        p.world.lag = 1
        await p.to_chat()
        assert p.texts() == ["one", "one more"]
        assert p.events("notice") == []


async def test_a_history_that_a_command_made_shorter_is_taken_with_a_notice(autojump_clock):
    async with play(World(history=["one"]), "acp") as p:
        await said(p, "/compact")
        p.world.history = ["summary"]
        await p.to_terminal()
        began = trio.current_time()
        await p.to_chat()
        assert trio.current_time() - began < p.session.budgets.retry / 2
        assert p.texts() == ["summary"]
        assert [each["code"] for each in p.events("notice")] == ["history_changed"]


async def test_a_message_after_a_command_is_demanded(autojump_clock):
    async with play(World(history=["one"]), "acp") as p:
        await said(p, "/compact")
        await p.turn_in_chat("and now")
        await p.to_terminal()
        with pytest.raises(AgentFailed, match="last finished turn"):
            await p.to_chat()


@pytest.mark.parametrize(("stored", "opened"), [(True, FIRST), (False, None)])
async def test_a_command_alone_may_leave_nothing_that_can_be_opened(autojump_clock, stored, opened):
    async with play(World(reopens=False), "acp") as p:
        p.sides.chat.sink(offer())
        await p.turn_in_chat("/status")
        assert p.record.unprompted
        if not stored:
            p.world.prompted.clear()
        await p.to_terminal()
        assert p.sides.tui.session_id == opened
