"""Which agent session a terminal has open. Evidence, not assumption: ambiguous is a 409, not a guess.

An id that the agent states, in a report or in its files, is used once `session/list` has it. Where it states
nothing the sessions of the same folder that changed since the TUI started are the candidates, without those
that other sessions of ours have open. A sole candidate that is not the recorded conversation is a guess until
the terminal's last words name one; without any the recorded one is a candidate, too.
"""

from hybridmux.agents.profile import TuiState
from hybridmux.budgets import CANDIDATES
from hybridmux.conversation.phases import Step
from hybridmux.conversation.session import HybridSession
from hybridmux.conversation.sides import ChatSide, Summary, TuiSide
from hybridmux.conversation.stay import FACTS
from hybridmux.conversation.unprompted import in_doubt
from hybridmux.errors import BadRequest, Conflict
from hybridmux.problems import said
from hybridmux.wire.chat import EligibilityReason
from hybridmux.wire.convert import write
from hybridmux.wire.types import Candidate, instant


def not_eligible(eligibility: str) -> Conflict:
    """409 `not_eligible` with the reason in words."""
    return Conflict(said(eligibility), "not_eligible", eligibility=eligibility)


class Ambiguous(Conflict):
    """409 `session_ambiguous` with the conversations that it may be."""

    def __init__(self, sessions: list[Summary]) -> None:
        super().__init__(said("session_ambiguous"), "session_ambiguous", candidates=candidates(sessions))


def touched_since(sessions: list[Summary], since: float) -> list[Summary]:
    """Those updated at or after `since` (seconds); agents may keep whole seconds only."""
    return [each for each in sessions if instant(each.updated_at) >= int(since)]


def candidates(sessions: list[Summary]) -> list[dict[str, object]]:
    """The wire form, newest first, at most 20."""
    newest = sorted(sessions, key=lambda each: instant(each.updated_at), reverse=True)[:CANDIDATES]
    return [
        write(Candidate(agent_session_id=s.session_id, title=s.title, updated_at=s.updated_at))
        for s in newest
    ]


async def find(s: HybridSession, connector: ChatSide, chosen: str | None) -> Summary | None:
    """The agent session of the terminal; None: the end of the turn that runs will store it.

    Raises `Conflict` when it cannot be told or is not to be had.
    """
    tui = s.sides.tui.value if s.sides.tui else None
    assert tui is not None
    if chosen:
        _check_choice(tui, chosen)
    named_id = chosen or _stated(s, tui)
    if not chosen and _is_to_come(s, tui.state()):
        await connector.sessions()  # that it answers is all that can be known now
        return None
    listed = await connector.sessions(named_id)
    session_id = named_id or _among(s, tui, listed)
    check_free(s, session_id)
    found = named(listed, session_id)
    if found is None:
        # An agent may give its terminal an id long before there is anything to open under it.
        listable = chosen or s.plan.profile.reopens_unprompted
        raise not_eligible("not_listed" if listable else "no_session_id")
    return found


def _check_choice(tui: TuiSide, chosen: str) -> None:
    """A choice is for what cannot be told; raises `BadRequest` if the terminal states something else."""
    state = tui.state()
    if state.not_root:
        raise not_eligible("not_root")
    if state.session_id not in (None, chosen) and state.stored is not False:
        raise BadRequest(f"agentSessionId: the terminal has another conversation open ({state.session_id})")


def check_free(s: HybridSession, session_id: str) -> None:
    """Raises `Conflict` if another session here, or a program that is not ours, has the conversation open."""
    if session_id in s.taken():
        raise not_eligible("occupied")
    s.outsiders.check(session_id)


def named(listed: list[Summary], session_id: str) -> Summary | None:
    """The one with that id."""
    return next((each for each in listed if each.session_id == session_id), None)


def _is_to_come(s: HybridSession, state: TuiState) -> bool:
    """A first turn runs, and this agent stores a conversation when that has ended or was interrupted."""
    late = s.plan.profile.stores_first_turn == "ended"
    return late and state.stored is False and state.turn in ("running", "asking")


def _stated(s: HybridSession, tui: TuiSide) -> str | None:
    """What the agent says of itself; 409 when it says that there is nothing to open yet."""
    state = tui.state()
    if reason := _unfit(s, state):
        raise not_eligible(reason)
    return state.session_id


def _unfit(s: HybridSession, state: TuiState) -> EligibilityReason | None:
    """Why there is no conversation to be had from a terminal, as far as the agent states it."""
    if state.not_root:
        return "not_root"
    states_none = state.session_id is None and s.plan.profile.identity == "report"
    if states_none or (state.stored is False and not _is_to_come(s, state)):
        return "no_session_id"
    return None


def _among(s: HybridSession, tui: TuiSide, listed: list[Summary]) -> str:
    free = [each for each in listed if each.session_id not in s.taken()]
    # What changed while nobody had entered anything here is the work of others.
    fresh = touched_since(free, tui.started_at) if tui.entered else []
    known = s.record.agent_session_id
    if len(fresh) > 1:
        raise Ambiguous(fresh)
    if fresh:
        return fresh[0].session_id
    if known and named(free, known):
        return known
    raise not_eligible("no_session_id")


def is_guess(s: HybridSession, tui: TuiSide, found: Summary) -> bool:
    """Whether nobody said that it is this one: it has changed, and another one is recorded."""
    given = (s.record.agent_session_id, tui.state().session_id)
    return s.record.agent_session_id is not None and found.session_id not in given


async def check_sole(s: HybridSession, connector: ChatSide, guess: Summary) -> None:
    """After the terminal's end, which named none: raises `Ambiguous` if it may have been the recorded one.

    The terminal comes back on that: it is the session's own, while the other may be somebody else's.
    """
    known = s.record.agent_session_id
    if known is None or known in s.taken():
        return
    s.opening = known
    recorded = named(await connector.sessions(known), known)
    if recorded is not None:
        raise Ambiguous([guess, recorded])
    s.opening = guess.session_id


def unnoted(s: HybridSession, listed: list[Summary]) -> list[Summary]:
    """What a terminal may have had open that died before that was known: changed since the session began, and
    in no other record of ours."""
    others = {record.agent_session_id for record in s.store.all() if record.id != s.id}
    free = [each for each in listed if each.session_id not in s.taken() | others]
    return touched_since(free, instant(s.record.created_at))


def stated_obstacle(s: HybridSession) -> EligibilityReason | None:
    """What keeps the conversation from moving, as far as it is known without asking the agent."""
    tui = s.sides.tui
    if s.position.step is Step.TUI and tui is not None:
        state = tui.value.glance()
        if reason := _unfit(s, state):
            return reason
        session_id = state.session_id
        by_keys = not s.plan.launch.dropped  # else a prompt on the command line may have run without any
        if by_keys and state.turn == "idle" and state.source in FACTS and in_doubt(s, session_id):
            return "no_session_id"  # a switch asks the agent all the same: a turn may have run unseen
    else:
        session_id = s.record.agent_session_id
    if session_id in s.taken():
        return "occupied"
    return "occupied_external" if s.outsiders.present else None
