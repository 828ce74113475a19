"""The cells of the fault matrix in which real programs cannot be held: scripted sides on the mock clock."""

import re
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hybridmux.conversation import lifecycle, switch
from hybridmux.conversation.phases import Step
from hybridmux.conversation.sides import AuthRequired, SideFailed
from hybridmux.conversation.view import chat_state, session_info
from hybridmux.errors import AgentFailed, Conflict
from hybridmux.faces.http.terminal_socket import visible_terminal
from hybridmux.faces.http.viewers import Close
from hybridmux.wire.sessions import SwitchRequest
from tests.faults.matrix import PLAYBOOK, Cell, cells

from .fault_holds import HELD, ORIGIN, OTHER, Held, holding, rests_on, through_stopping
from .play import play
from .world import ID, World

ENDED = SideFailed("hybridmux-demo ended with exit code 71")


# --- programs that fail where a switch asks them ---


async def exits_while_starting() -> None:
    """The terminal has painted and exits before it takes input."""
    async with play(World(), "acp") as p:
        p.world.tui_starts = [ENDED]
        held = Held(p, "to_terminal")
        await held.ask()
        assert re.match("starting: hybridmux-demo ended", str(held.outcome[0]))
        rests_on(p, Step.ACP)
        assert [event["code"] for event in p.events("notice")] == ["switch_failed"]


async def list_fails(behaviour: object, words: str) -> None:
    """The list is asked for once more in starting, and that fails."""
    async with play(World()) as p, trio.open_nursery() as nursery:
        held = Held(p, "to_chat")
        await through_stopping(held, behaviour, nursery)
        failure = await held.ended()
        assert isinstance(failure, AgentFailed)
        assert re.match(f"starting: {words}", str(failure))
        rests_on(p, Step.TUI)


async def fresh_connector_fails(behaviour: object, words: str) -> None:
    """A history that lags is read again over a fresh connector, and that one fails."""
    started = 0

    async def initialize() -> None:
        nonlocal started
        started += 1
        if started > 1:
            if isinstance(behaviour, Exception):
                raise behaviour
            await trio.sleep_forever()

    async with play(World(lag=1, initialize=initialize)) as p:
        p.session.known.heard.firm, p.session.known.heard.fresh = ["hello"], True
        held = Held(p, "to_chat")
        await held.ask()
        assert started == 2
        assert isinstance(held.outcome[0], AgentFailed)
        assert re.match(f"loading: {words}", str(held.outcome[0]))
        rests_on(p, Step.TUI)


async def terminal_does_not_come_back() -> None:
    """The terminal that a roll-back starts exits after its first words."""
    async with play(World()) as p:
        p.world.load, p.world.tui_starts = SideFailed("demo fault"), [ENDED]
        held = Held(p, "to_chat")
        await held.ask()
        assert "could not be brought back" in str(held.outcome[0])
        await wait_all_tasks_blocked()
        assert p.session.position.step is Step.ENDED
        assert p.world.writers == set()
        assert (p.record.state, p.record.activity) == ("interrupted", "switching")


async def exits_while_loading() -> None:
    """The terminal has painted and exits before it is confirmed."""
    async with holding("to_terminal") as held:
        held.play.sides.tui.die(71)
        failure = await held.ended()
        assert re.match("loading: the terminal program ended", str(failure))
        rests_on(held.play, Step.ACP)


async def never_confirmed() -> None:
    """The terminal has painted and is never ready again."""
    async with holding("to_terminal") as held:
        failure = await held.ended()  # the phase's deadline
        assert re.match("loading: no end within", str(failure))
        rests_on(held.play, Step.ACP)


async def not_listed() -> None:
    """The conversation that the terminal has open is not one that the agent lists: nothing is touched."""
    async with play(World(listed=[OTHER])) as p:
        with pytest.raises(Conflict) as caught:
            await p.session.operate("switch", partial(switch.to_chat, p.session, None))
        assert caught.value.body()["eligibility"] == "not_listed"
        assert "quit" not in p.world.happened
        rests_on(p, Step.TUI)


async def moved_on_to_nowhere() -> None:
    """The terminal's last words name a conversation that the agent does not list."""
    async with play(World(farewell=f"hybridmux-demo tui --resume {OTHER}")) as p:
        held = Held(p, "to_chat")
        await held.ask()
        assert re.match("starting: the terminal ended on another conversation", str(held.outcome[0]))
        rests_on(p, Step.TUI)


LISTS = {
    "exits-later": (ENDED, "hybridmux-demo ended"),
    "hangs-list": ("hang", "no end within"),
    "half-line": (SideFailed("half a line"), "half a line"),
    "big-line": (SideFailed("a line longer than"), "a line longer than"),
    "error": (SideFailed("Internal error"), "Internal error"),
    "auth-required": (AuthRequired("Authentication required"), "Authentication required"),
    "closed-stdout": (SideFailed("it closed its output"), "it closed its output"),
}
FRESH_CONNECTORS = {
    "spawn-enoent": (SideFailed("No such file"), "No such file"),
    "spawn-eacces": (SideFailed("Permission denied"), "Permission denied"),
    "exits-at-once": (ENDED, "hybridmux-demo ended"),
    "hangs-initialize": ("hang", "no end within"),
}
PROGRAMS: dict[str, Callable[[], Awaitable[None]]] = {
    **{f"{name}-to_chat-starting": partial(list_fails, *given) for name, given in LISTS.items()},
    **{f"{name}-to_chat-loading": partial(fresh_connector_fails, *g) for name, g in FRESH_CONNECTORS.items()},
    "exits-later-to_chat-rolling_back": terminal_does_not_come_back,
    "exits-later-to_terminal-starting": exits_while_starting,
    "exits-later-to_terminal-loading": exits_while_loading,
    "hangs-load-to_terminal-loading": never_confirmed,
    "other-session-to_chat-precheck": not_listed,
    "other-session-to_chat-starting": moved_on_to_nowhere,
}


# --- what comes from outside while a switch is held ---


async def goes_on(held: Held) -> None:
    """Let go, the switch succeeds."""
    held.let_go()
    result = await held.ended()
    target = Step.ACP if held.direction == "to_chat" else Step.TUI
    assert result.side == target.value
    rests_on(held.play, target, OTHER if held.direction == "to_chat" else ID)


async def second_switch(held: Held) -> None:
    for to in ("tui", "acp"):
        with pytest.raises(Conflict) as caught:
            await switch.perform(held.play.session, SwitchRequest(client_request_id="other", to=to))
        assert caught.value.reason == "switching"
    await goes_on(held)


async def close_resume(held: Held) -> None:
    s = held.play.session
    with pytest.raises(Conflict) as caught:
        await s.operate("close", partial(lifecycle.close, s))
    assert caught.value.reason == "switching"
    with pytest.raises(Conflict) as caught:
        s.require("acp")
    assert caught.value.reason == "switching"
    await goes_on(held)


async def disconnect(held: Held) -> None:
    held.asking.cancel()
    await wait_all_tasks_blocked()
    assert held.phase == HELD[held.direction]
    held.let_go()
    assert await held.ended() is None  # nobody is there to be told
    target = Step.ACP if held.direction == "to_chat" else Step.TUI
    rests_on(held.play, target, OTHER if held.direction == "to_chat" else ID)


async def shutdown(held: Held) -> None:
    p = held.play
    await lifecycle.shut_down(p.session)
    assert p.world.writers == set()
    assert p.session.over.is_set()
    assert (p.record.side, p.record.state, p.record.activity) == (
        *(ORIGIN[held.direction], "interrupted", "switching"),
    )


async def kill_9(held: Held) -> None:
    """What a server that dies here leaves on disk: the next one makes `interrupted` of it."""
    record = held.play.record
    assert (record.side, record.state, record.activity) == (ORIGIN[held.direction], "active", "switching")
    assert record.agent_session_id == ID
    await goes_on(held)


async def resize(held: Held) -> None:
    """No viewer is on the terminal, so none can ask for a size; the last one stays."""
    s = held.play.session
    assert s.tui_now is None
    size = s.sides.size
    await goes_on(held)
    assert s.sides.size == size


async def killed(held: Held) -> None:
    if held.direction == "to_chat":
        held.play.sides.chat.leave()
    else:
        held.play.sides.tui.die(-9)
    failure = await held.ended()
    assert str(failure).startswith(f"{HELD[held.direction]}: the ")
    rests_on(held.play, Step(ORIGIN[held.direction]))


async def viewers(held: Held) -> None:
    s, phase = held.play.session, HELD[held.direction]
    with pytest.raises(Close) as caught:
        visible_terminal(s)
    assert (caught.value.code, caught.value.reason) == (4409, "session moved: switching")
    assert (chat_state(s)["side"], chat_state(s)["phase"]) == ("switching", phase)
    shown = session_info(s).hybrid
    assert (shown.side, shown.phase, shown.state) == ("switching", phase, "active")
    await goes_on(held)
    assert "phase" not in chat_state(s)


OUTSIDE = {
    "second-switch": second_switch,
    "close-resume": close_resume,
    "disconnect": disconnect,
    "shutdown": shutdown,
    "kill-9": kill_9,
    "resize": resize,
    "killed": killed,
    "viewers": viewers,
}


@pytest.mark.parametrize("cell", [pytest.param(cell, id=cell.id) for cell in cells(PLAYBOOK)])
async def test_fault(cell: Cell, autojump_clock):
    if cell.fault in OUTSIDE:
        assert HELD[cell.direction] == cell.phase
        async with holding(cell.direction) as held:
            await OUTSIDE[cell.fault](held)
    else:
        await PROGRAMS[cell.id]()
