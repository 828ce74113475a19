"""Faults that come from outside the agent: other requests, viewers, signals, clients that go away."""

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio
import trio_websocket

from hybridmux.problems import said
from tests.faults import outcomes
from tests.faults.breaks import unharmed
from tests.faults.holds import hold
from tests.faults.stage import ORIGIN, TARGET, Stage
from tests.support.client import request_id

BUSY = {"error": "the session is switching", "reason": "switching"}
CHECKED = {"error": said("checking"), "reason": "not_eligible", "eligibility": "checking"}


async def second_switch(stage: Stage, phase: str) -> None:
    """Somebody else asks for a switch as well, either way: 409, and the first goes on."""
    await hold(stage, phase)
    for to in ("tui", "acp"):
        body = {"clientRequestId": request_id(), "to": to}
        refusal = CHECKED if phase == "precheck" else BUSY
        assert await stage.client.post(f"{stage.path}/switch", body, status=409) == refusal
    stage.break_with("")
    await unharmed(stage, phase)


async def close_resume(stage: Stage, phase: str) -> None:
    """Closing, removing and resuming are refused, and so is a prompt."""
    await hold(stage, phase)
    client, moving = stage.client, {"status": 409}
    assert await client.delete(stage.path, **moving) == BUSY
    assert (await client.delete(f"/api/hybrid-sessions/{stage.sid}", **moving))["reason"] == "switching"
    assert (await client.resume(stage.sid, **moving))["reason"] == "switching"
    reason = (await client.prompt(stage.sid, "not now", **moving))["reason"]
    assert reason == ("wrong_side" if phase == "precheck" else "switching")
    stage.break_with("")
    await unharmed(stage, phase)


async def disconnect(stage: Stage, phase: str) -> None:
    """The client goes away and comes back: the switch went on, and its answer was kept."""
    await hold(stage, phase)
    stage.asking.cancel()
    await stage.answered.wait()
    assert stage.answers == []
    stage.nursery.start_soon(_ask_again, stage)
    stage.break_with("")
    stage.answered = trio.Event()
    await unharmed(stage, phase)
    assert await stage.ask() == stage.answers[0]


async def _ask_again(stage: Stage) -> None:
    stage.answers.append(await stage.ask())
    stage.answered.set()


async def resize(stage: Stage, phase: str) -> None:
    """The terminal's viewer wants another size: it is heard only as long as it may look."""
    await hold(stage, phase)
    if phase == "precheck":
        assert stage.term is not None
        await stage.term.resize(70, 20, own=True)
        await stage.term.until(lambda v: ("resize", 70, 20) in [_size(frame) for frame in v.frames])
        await stage.term.resize(91, 33, own=True)
        await stage.term.until(lambda v: _size(v.frames[-1]) == ("resize", 91, 33))
    else:
        await _moved(stage)
        if stage.term is not None:
            with suppress(trio_websocket.ConnectionClosed):
                await stage.term.resize(70, 20, own=True)
    stage.break_with("")
    await unharmed(stage, phase)
    info = await stage.client.get(stage.path)
    assert (info["cols"], info["rows"]) == (91, 33)


def _size(frame: dict[str, object]) -> tuple[object, ...]:
    return frame["type"], frame.get("cols"), frame.get("rows")


async def _moved(stage: Stage) -> None:
    """A viewer that comes to the terminal now is sent away, as was the one that was there."""
    async with stage.client.socket(f"/ws/s/{stage.sid}") as ws:
        with suppress(trio_websocket.ConnectionClosed):
            await ws.get_message()
        assert (ws.closed.code, ws.closed.reason) == (4409, "session moved: switching")
    if stage.term is not None:
        assert await stage.term.until_closed() == (4409, "session moved: switching")


async def viewers(stage: Stage, phase: str) -> None:
    """Every viewer is told where the session is, while it moves and afterwards."""
    await hold(stage, phase)
    if phase == "precheck":
        assert stage.term is not None
        await stage.term.type("x", enter=False)
        await stage.term.until_text("❯ x|> x|x")
        await stage.term.send(b"\x7f")
    else:
        await _moved(stage)
        hybrid = await stage.sessions.until(
            lambda v: next((h for h in v.hybrid(stage.sid) if h.get("phase") == phase), None)
        )
        assert hybrid["side"] == "switching"
        assert hybrid["state"] == "active"
        moving = {"available": False, "reason": "switching", "text": said("switching")}
        assert stage.chat.state["eligibility"] == moving
    generation = stage.chat.snapshot["generation"]
    stage.break_with("")
    await unharmed(stage, phase)
    await _told_the_end(stage, generation, rolled_back=phase == "rolling_back")


async def _told_the_end(stage: Stage, generation: str, *, rolled_back: bool) -> None:
    end = (ORIGIN if rolled_back else TARGET)[stage.direction]
    assert stage.sessions.hybrid(stage.sid)[-1]["side"] == end
    if end == "acp" and stage.direction == "to_chat":
        assert (await stage.chat.until_closed())[0] == 1013
        async with stage.client.chat(stage.sid, f"?generation={generation}&seq=1") as again:
            assert again.snapshot["reset"] is True
            assert [event["kind"] for event in again.of("marker")] == ["loaded", "switched"]
    else:
        assert stage.chat.closed is None
        assert stage.chat.state["side"] == end


async def killed(stage: Stage, phase: str) -> None:
    """SIGKILL for the program that the phase waits for."""
    await hold(stage, phase)
    victim = "acp" if (stage.direction, phase) in ACP_WAITED_FOR else "tui"
    (pid,) = [pid for pid, kind in stage.living().items() if kind == victim]
    os.kill(pid, signal.SIGKILL)
    if phase == "precheck":
        await outcomes.untouched(stage, 502, "SIGKILL")
    elif phase in ("starting", "loading"):
        await outcomes.rolled_back(stage, 502, "SIGKILL" if victim == "acp" else "signal 9")
    elif phase == "rolling_back":
        await outcomes.lost(stage, "demo fault")
    else:
        await outcomes.committed(stage)


ACP_WAITED_FOR = {
    ("to_chat", "precheck"),
    ("to_chat", "loading"),
    ("to_terminal", "cancelling"),
    ("to_terminal", "stopping"),
    ("to_terminal", "rolling_back"),
}

Deed = Callable[[Stage, str], Awaitable[None]]
DEEDS: dict[str, Deed] = {
    "second-switch": second_switch,
    "close-resume": close_resume,
    "disconnect": disconnect,
    "resize": resize,
    "viewers": viewers,
    "killed": killed,
}
