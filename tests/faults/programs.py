"""Faults of programs that are more than an answer: they cannot be started, do not end, or leave something."""

from collections.abc import Callable

from tests.faults import outcomes
from tests.faults.holds import begin_turn, hold
from tests.faults.stage import Stage, write_program
from tests.support.client import request_id

INTERPRETERS = {"spawn-enoent": "/nonexistent", "spawn-eacces": "/etc/passwd"}
WORDS = {
    "spawn-enoent": {"precheck": "there is no file", "starting": "No such file or directory"},
    "spawn-eacces": {"precheck": "is not an executable file", "starting": "Permission denied"},
}


async def unstartable(stage: Stage, phase: str, fault: str) -> None:
    """Terminal and connector are one program here, so what it fails to start twice is lost."""
    if phase == "precheck":
        write_program(stage.program, INTERPRETERS[fault])
        stage.begin()
        await outcomes.untouched(stage, 502, WORDS[fault][phase])
        return
    earlier, spec = {
        ("to_chat", "rolling_back"): ("loading", "acp.load:error"),
        ("to_terminal", "starting"): ("stopping", ""),
        ("to_terminal", "rolling_back"): ("starting", "tui.load:error"),
    }[stage.direction, phase]
    await hold(stage, earlier)
    write_program(stage.program, INTERPRETERS[fault])
    stage.break_with(spec)
    await outcomes.lost(stage, WORDS[fault].get(phase, "demo fault"))


async def deaf_to_interrupts(stage: Stage, phase: str) -> None:
    """The terminal is asked about; the chat's turn ends with its connector."""
    if phase == "cancelling":
        await hold(stage, phase)
        await outcomes.committed(stage)
        assert "cancel_timeout" in [event["code"] for event in stage.chat.of("notice")]
        return
    await hold(stage, "awaiting_choice")
    if phase == "interrupting":
        await _choose(stage, "cancel")
        assert await stage.answer() == (200, {"side": "tui", "dropped": [], "unsupported": []})
        assert stage.living() == stage.before
        stage.break_with("")  # only now is the interrupt heeded
        async with stage.client.terminal(stage.sid, cols=91, rows=33) as term:
            await term.until_text("ready")
        stage.turn_just_ended = True
        await outcomes.settled(stage, "tui")
        return
    await _choose(stage, "wait")
    await stage.until_phase("interrupting")
    await stage.until_phase("awaiting_choice")
    await _choose(stage, "force")
    await outcomes.committed(stage)
    assert (await _choose(stage, "wait", status=409))["reason"] == "answered"


async def _choose(stage: Stage, choice: str, status: int = 204) -> dict[str, str]:
    body = {"clientRequestId": request_id(), "choice": choice}
    answer: dict[str, str] = await stage.client.post(f"{stage.path}/switch", body, status=status)
    return answer


async def deaf_to_the_end(stage: Stage, phase: str) -> None:
    """What ignores quit keys, the end of its input and SIGTERM is killed."""
    await _spoilt(stage, phase, lambda place: f"{place}:hang=hard", "")


async def forking(stage: Stage, phase: str) -> None:
    """What the program left behind ends with it."""
    assert ("other" in stage.before.values()) == (phase == "stopping")
    await _spoilt(stage, phase, lambda place: f"{place}:fork,{place}:error", "demo fault")


async def _spoilt(stage: Stage, phase: str, spec: Callable[[str], str], words: str) -> None:
    """A program that is hard to end: the one that is left, or the new one, which fails."""
    if phase == "stopping":  # it was started so
        stage.begin()
        await outcomes.committed(stage)
    elif phase == "precheck":
        await hold(stage, phase)
        stage.break_with(spec("acp.list"))
        await outcomes.untouched(stage, 502, words)
    else:
        to_chat = stage.direction == "to_chat"
        await hold(stage, "loading" if to_chat else "starting")
        stage.break_with(spec("acp.load" if to_chat else "tui.load"))
        await outcomes.rolled_back(stage, 502, words)


STARTS = {
    ("deaf-quit", "to_chat"): "tui.quit:hang=hard",
    ("deaf-quit", "to_terminal"): "acp.quit:hang=hard",
    ("forks", "to_chat"): "tui.start:fork",
    ("forks", "to_terminal"): "acp.start:fork",
}
"""The fault of the program that is on stage first, where the phase is `stopping`."""


async def another_conversation(stage: Stage, phase: str) -> None:
    """A terminal with another conversation is no success, as the target or as what one goes back to."""
    if phase == "loading":
        stage.break_with("tui.load:other")
        stage.begin()
        await outcomes.rolled_back(stage, 502, "another conversation")
    else:
        await hold(stage, phase)
        stage.break_with("tui.load:other")
        await outcomes.lost(stage, "demo fault")


async def unwritable(
    stage: Stage, phase: str, block: Callable[[], None], unblock: Callable[[], None], words: str
) -> None:
    """No intent, no switch; no commit, no new side. Once the disk takes it the record is right again."""
    if phase != "loading":
        if phase == "cancelling":
            await begin_turn(stage)
            await stage.until_activity("turn")
        block()
        stage.begin()
        answer = await stage.answer()
        unblock()
        if phase == "cancelling":
            assert stage.chat.state["turn"]["id"]
            assert "endedAt" not in stage.chat.state["turn"], answer
            await stage.client.cancel(stage.sid)
            await stage.chat.until_turns_ended(2)
            stage.turn_just_ended = True
        await outcomes.untouched(stage, 503, words)
        return
    await hold(stage, "loading" if stage.direction == "to_chat" else "starting")
    block()
    stage.break_with("")
    await stage.answer()
    unblock()
    stage.turn_just_ended = True
    await (outcomes.goes_on_in_terminal if stage.direction == "to_chat" else outcomes.goes_on_in_chat)(stage)
    await outcomes.rolled_back(stage, 503, words)
