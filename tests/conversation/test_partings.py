"""What ended with a side, as a person is told of it."""

import pytest

from hybridmux.agents import codex
from hybridmux.agents.launch import Launch
from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.partings import Partings
from hybridmux.conversation.sides import Plan, SideFailed
from hybridmux.errors import AgentFailed
from hybridmux.proc.family import EndReport

from .play import play
from .world import World

LAUNCH = Launch(agent="codex", program="/opt/bin/codex")
BY_NODE = Launch(agent="codex", program="/usr/bin/node", script=("/opt/lib/codex.js",))


def notices(report: EndReport | None, launch: Launch = LAUNCH) -> list[tuple[str, str]]:
    plan = Plan(profile=codex.PROFILE, launch=launch, session="s", cwd="/", env={})
    partings, log = Partings(plan), ChatLog(10**6)
    partings.note(report, "terminal")
    partings.tell(log)
    partings.tell(log)  # once only
    events = [entry.event for entry in log.journal.read(1, 10**6)]
    return [(event["code"], event["text"].rpartition(": ")[2]) for event in events]


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (None, []),
        (EndReport("exited"), []),
        (EndReport("SIGTERM", along=["sleep", "vite"]), [("ended_along", "sleep, vite")]),
        (EndReport("exited", detached=["redis-server"]), [("detached", "redis-server")]),
        # a launcher that starts the real program, and the connector
        (EndReport("exited", along=["codex", "codex-acp"]), []),
        (EndReport("exited", along=["codex", "make"]), [("ended_along", "make")]),
    ],
)
def test_the_agents_own_programs_are_no_news(report, told):
    assert notices(report) == told
    assert notices(report, BY_NODE) == told


async def test_it_is_told_after_a_roll_back_too(autojump_clock):
    async with play(World(load=SideFailed("no"))) as p:
        p.sides.tui.report = EndReport("exited", along=["sleep"])
        with pytest.raises(AgentFailed):
            await p.to_chat()
        assert [event["code"] for event in p.events("notice")] == ["switch_failed", "ended_along"]


async def test_it_is_told_after_a_move_to_the_terminal(autojump_clock):
    async with play(World(), "acp") as p:
        p.sides.chat.report = EndReport("exited", along=["sleep"])
        await p.to_terminal()
        (event,) = p.events("notice")
        assert event["text"] == "These programs ended with the chat's agent: sleep"
