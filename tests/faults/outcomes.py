"""How a switch may end, and what must be true then: of answer, session, processes and record."""

import re
from typing import Any

from tests.faults.stage import ORIGIN, SAID, TARGET, Stage


async def committed(stage: Stage) -> None:
    """The session is on the other side."""
    target = TARGET[stage.direction]
    assert await stage.answer() == (200, {"side": target, "dropped": [], "unsupported": []})
    await settled(stage, target)
    assert not stage.living().keys() & stage.before.keys()


async def untouched(stage: Stage, status: int, words: str) -> None:
    """Refused before anything was touched: the same process, the same viewer."""
    await refused(stage, status, words)
    assert stage.living().items() >= stage.before.items()
    await settled(stage, ORIGIN[stage.direction])
    if stage.term is not None:
        await stage.term.until_text("echo: still here")


async def rolled_back(stage: Stage, status: int, words: str) -> None:
    """Failed after the first destructive step: a new process on the side where it was."""
    await refused(stage, status, words)
    assert not stage.living().keys() & stage.before.keys()
    await settled(stage, ORIGIN[stage.direction])
    if stage.direction == "to_terminal":
        await stage.chat.until(lambda v: "switch_failed" in [event["code"] for event in v.of("notice")])


async def lost(stage: Stage, words: str) -> None:
    """The original side did not come back either."""
    await refused(stage, 502, words)
    await refused(stage, 502, "could not be brought back")
    await interrupted(stage, "switching")
    assert stage.sessions.hybrid(stage.sid)[-1]["state"] == "interrupted"


async def refused(stage: Stage, status: int, words: str) -> None:
    """The answer is an error that names the cause, which a regular expression finds."""
    answer = await stage.answer()
    assert answer is not None
    assert answer[0] == status, answer
    assert re.search(words, answer[1]["error"])
    assert answer[1].keys() == {"error", *{409: ["reason"], 503: ["path"]}.get(status, [])}


async def interrupted(stage: Stage, activity: str) -> None:
    """Everything is dead, the record says what was under way, and the agent's store is whole."""
    assert stage.living() == {}
    assert shape(stage.record()) == (ORIGIN[stage.direction], "interrupted", activity, stage.agent_id)
    shown = await stage.client.get(f"/api/hybrid-sessions/{stage.sid}")
    assert (shown["state"], shown["activity"]) == ("interrupted", activity)


def shape(record: dict[str, Any]) -> tuple[str, str, str, str]:
    """What a switch may change in a record."""
    return record["side"], record["state"], record["activity"], record["agentSessionId"]


async def settled(stage: Stage, side: str) -> None:
    """On one side and nowhere else, with the whole conversation, and it goes on there."""
    info = await stage.client.get(stage.path)
    expected = {"side": side, "state": "active", "agentSessionId": stage.agent_id, "dormant": False}
    assert info["hybrid"] == {**expected, "agent": "demo"}
    assert list(stage.living().values()) == [side]
    if stage.turn_just_ended:
        await stage.until_activity("idle")
    assert shape(stage.record()) == (side, "active", "idle", stage.agent_id)
    await (goes_on_in_terminal if side == "tui" else goes_on_in_chat)(stage)


async def goes_on_in_terminal(stage: Stage) -> None:
    """The screen has the finished turn once, the size it had, and takes another one."""
    async with stage.client.terminal(stage.sid, cols=91, rows=33) as term:
        assert (term.hello["cols"], term.hello["rows"]) == stage.size
        await term.until_text(SAID[1][1])
        assert term.text().count(SAID[1][1]) == 1
        await term.type("still here")
        await term.until_text("echo: still here")
        await term.until_text("ready")


async def goes_on_in_chat(stage: Stage) -> None:
    """The timeline has the finished turn once, and takes another one."""
    async with stage.client.chat(stage.sid) as chat:
        assert chat.state["side"] == "acp"
        assert "phase" not in chat.state
        assert chat.messages()[:2] == SAID
        assert [chat.messages().count(each) for each in SAID] == [1, 1]
        before = len(chat.of("turn.end"))
        await stage.client.prompt(stage.sid, "still here")
        await chat.until_turns_ended(before + 1)
        assert chat.messages()[-2:] == [("user", "still here"), ("agent", "echo: still here")]


async def resumed(stage: Stage) -> None:
    """An interrupted session comes back where it was."""
    info = await stage.client.resume(stage.sid)
    assert info["hybrid"]["state"] == "active"
    await settled(stage, ORIGIN[stage.direction])


async def put_away(stage: Stage) -> None:
    """The session is closed and forgotten, and so are its processes."""
    await stage.client.delete(stage.path)
    assert stage.living() == {}
    record = await stage.client.get(f"/api/hybrid-sessions/{stage.sid}")
    assert record["state"] in ("closed", "interrupted")
    await stage.client.delete(f"/api/hybrid-sessions/{stage.sid}")
