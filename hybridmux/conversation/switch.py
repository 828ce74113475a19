"""The switch: one function for each direction, to be read from top to bottom.

    terminal → chat   precheck · interrupting · (awaiting_choice) · stopping · starting · loading · commit
    chat → terminal   precheck · cancelling · stopping · starting · loading · commit

Up to `stopping` a failure changes nothing. From there on it rolls back to the original side.
"""

from functools import partial

import trio
from attrs import evolve

from hybridmux.agents.profile import TuiState
from hybridmux.conversation import identity
from hybridmux.conversation.barrier import Known
from hybridmux.conversation.loading import load, show
from hybridmux.conversation.moves import (
    begin_switch,
    check_folder,
    check_program,
    confirm_tui,
    found_at_rest,
    intent,
    prechecked,
    rolling_back,
    start_tui,
)
from hybridmux.conversation.outsiders import Occupied
from hybridmux.conversation.phases import PhaseTimeout, Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import OccupiedElsewhere, SideFailed, Summary, TuiSide
from hybridmux.conversation.unprompted import reopenable, tell_replaced
from hybridmux.errors import BadRequest, Conflict, HybridmuxError
from hybridmux.terminal.keyboard import InputStuck
from hybridmux.wire.sessions import SwitchRequest, SwitchResult
from hybridmux.wire.types import instant

_NOT_CHOSEN = (
    "not_the_chosen",
    "This is the conversation that the terminal had open, not the one that was chosen.",
)


async def perform(s: HybridSession, wanted: SwitchRequest) -> SwitchResult | None:
    """A request: a whole switch, or the answer to one that waits for a choice (None)."""
    if wanted.choice is not None:
        if wanted.to is not None:
            raise BadRequest("give either to or choice")
        s.choice.answer(wanted.choice)
        return None
    if wanted.to is None:
        raise BadRequest("missing field to")
    if wanted.agent_session_id is not None and wanted.to != "acp":
        raise BadRequest("agentSessionId is for moving to the chat only")
    if s.checking:
        raise identity.not_eligible("checking")
    s.operations.check_free()
    if s.position.step is Step.ENDED:
        raise Conflict("the session has ended", "wrong_side")
    if s.position.side == wanted.to:
        return SwitchResult(side=wanted.to)
    s.store.check()
    if wanted.to == "acp":
        return await s.operate("switch", partial(to_chat, s, wanted.agent_session_id))
    return await s.operate("switch", partial(to_terminal, s))


async def to_chat(s: HybridSession, chosen: str | None) -> SwitchResult:
    """Terminal → chat; `chosen` is the agent session picked out of an ambiguous answer.

    The terminal's last words count more than what was thought or chosen.
    """
    budgets = s.budgets
    begin_switch(s, "to_chat")
    async with prechecked(s, chosen) as found, intent(s):
        if not await _terminal_at_rest(s):
            s.arrive(Step.TUI)
            return SwitchResult(side="tui")
        target = found or await found_at_rest(s)
        guessed = chosen is None and identity.is_guess(s, _tui(s), target)
        warnings = _warn_of_draft(s)
        s.known = s.knowledge()
        async with rolling_back(s, "tui"):
            with s.phase(Step.STOPPING, 4 * budgets.stopping_step):
                parting = await s.sides.close_tui(clean=not s.forced)
            with s.phase(Step.STARTING, budgets.starting):
                left = await _after_parting(s, target, parting, guessed=guessed)
            s.known = evolve(s.known.of(left.session_id), updated=instant(left.updated_at))
            with s.phase(Step.LOADING, budgets.loading_total):
                loaded = await load(s, left.session_id, s.known)
                await s.commit(left.session_id, side="acp", unprompted=False)
            s.sides.adopt_chat()
            s.arrive(Step.ACP)
            show(s, loaded)
            s.log.mark("switched")
            s.sides.partings.tell(s.log)
            if chosen not in (None, left.session_id):
                warnings.append(_NOT_CHOSEN)
            for each in warnings:
                s.log.say(*each)
    return SwitchResult(side="acp", unsupported=list(s.plan.launch.unsupported))


async def to_terminal(s: HybridSession) -> SwitchResult:
    """Chat → terminal; queued messages come back as the draft."""
    budgets = s.budgets
    begin_switch(s, "to_terminal")
    was = s.record.agent_session_id
    check_folder(s)
    await check_program(s)
    if was is not None:
        identity.check_free(s, was)
    async with intent(s):
        if s.turns.running:
            try:
                with s.phase(Step.CANCELLING, budgets.cancelling):
                    await s.turns.settle()
            except PhaseTimeout:
                s.log.say("cancel_timeout", "The turn did not stop in time and was ended with its agent.")
        session_id = await reopenable(s, s.chat_now())
        async with rolling_back(s, "acp"):
            with s.phase(Step.STOPPING, 4 * budgets.stopping_step):
                await s.sides.close_chat()
                s.known = s.knowledge()
                _check_alone(s, session_id)
            with s.phase(Step.STARTING, budgets.starting):
                tui = await start_tui(s, session_id)
            with s.phase(Step.LOADING, budgets.loading_total):
                await confirm_tui(tui, session_id)
                await s.commit(session_id, side="tui")
            if session_id is None:
                s.known = Known()
            tell_replaced(s, was)
            draft = s.turns.waiting.take_draft()
            s.arrive(Step.TUI)
            s.log.mark("switched")
            s.sides.partings.tell(s.log)
            if draft:
                s.log.say("draft", "Queued messages were handed back to the device that started the switch.")
    return SwitchResult(side="tui", draft=draft, dropped=list(s.plan.launch.dropped))


def _check_alone(s: HybridSession, session_id: str | None) -> None:
    """Nobody came while the chat was being stopped: in a terminal nothing would keep two writers apart."""
    if session_id is not None:
        try:
            s.outsiders.check(session_id)
        except Occupied as exc:
            raise OccupiedElsewhere(str(exc)) from exc


async def _terminal_at_rest(s: HybridSession) -> bool:
    """Interrupts a running turn; asks when that does not help. False: stay where we are."""
    tui = _tui(s)
    s.forced = False
    state = await tui.settled()
    if tui.exit_code is not None or state.turn == "idle":
        return True
    if state.turn != "unknown" and await interrupt(s, tui, state):
        return True
    return await _ask(s, tui)


def _warn_of_draft(s: HybridSession) -> list[tuple[str, str]]:
    """Says that unsent text in the terminal may be lost, before it is stopped; the same for the chat."""
    tui = _tui(s)
    draft = tui.state().draft
    if not (tui.unsent if draft is None else draft):
        return []
    said = ("terminal_draft", "Text that was typed in the terminal and not sent may be lost.")
    s.log.say(*said)
    return [said]


async def interrupt(s: HybridSession, tui: TuiSide, state: TuiState) -> bool:
    """The profile's keys, once, then a wait for the turn's end; False at the deadline."""
    try:
        with s.phase(Step.INTERRUPTING, s.budgets.interrupting):
            if state.turn == "asking":
                await tui.press(s.plan.profile.dismiss)
                state = await tui.settled()
            if state.turn == "running":
                await tui.press(s.plan.profile.interrupt)
            await _turn_ends(tui)
    except (PhaseTimeout, InputStuck):
        return False
    return True


async def _turn_ends(tui: TuiSide) -> None:
    """Waits for the turn's end, or the program's: that is as quiet as it gets. Nothing else counts as one."""
    try:
        await tui.watch(lambda now: now.turn == "idle")
    except SideFailed:
        await tui.ended()


async def _ask(s: HybridSession, tui: TuiSide) -> bool:
    """`awaiting_choice`: the terminal runs on until somebody decides, the turn ends or time is up."""
    while True:
        answer = await _choice(s, tui)
        if answer == "force":
            s.forced = True
            return True
        if answer != "wait":
            return answer == "idle"
        try:
            with s.phase(Step.INTERRUPTING, s.budgets.interrupting):
                await _turn_ends(tui)
                return True
        except PhaseTimeout:
            continue


async def _choice(s: HybridSession, tui: TuiSide) -> str:
    """`wait`, `force`, `cancel`, or `idle` when the turn ended by itself."""
    answers: list[str] = []

    async def turn_ends(scope: trio.CancelScope) -> None:
        await _turn_ends(tui)
        answers.append("idle")
        scope.cancel()

    try:
        with s.phase(Step.AWAITING_CHOICE, s.budgets.choice):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(turn_ends, nursery.cancel_scope)
                answers.append(await s.choice.wait())
                nursery.cancel_scope.cancel()
    except PhaseTimeout:
        return "cancel"
    return answers[0]


async def _after_parting(s: HybridSession, expected: Summary, parting: str, *, guessed: bool) -> Summary:
    """What to load: the conversation that the TUI's last words name counts more than what we thought.

    If they name the recorded one, another that changed meanwhile was somebody else's: nothing has moved on.
    If they name none, a guess is not enough: raises `Ambiguous`.
    """
    last = s.plan.profile.farewell(parting)
    if last is None and guessed:
        await identity.check_sole(s, s.sides.waiting, expected)
    if last is None or last == expected.session_id:
        return expected
    s.opening = last  # a roll-back goes to where the terminal was, unless that is not to be had
    found = identity.named(await s.sides.waiting.sessions(last), last)
    try:
        if found is None:
            raise SideFailed(f"the terminal ended on another conversation ({last}) that is not listed")
        identity.check_free(s, last)
    except HybridmuxError:
        s.opening = expected.session_id
        raise
    if last != s.record.agent_session_id:
        s.id_change = {"was": expected.session_id, "now": last, "reason": "the terminal had moved on to it"}
    return found


def _tui(s: HybridSession) -> TuiSide:
    assert s.sides.tui is not None
    return s.sides.tui.value
