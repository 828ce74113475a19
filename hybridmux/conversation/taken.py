"""Which agent sessions our own sessions have open: no two of them may have the same one."""

from collections.abc import Callable, Iterable

from hybridmux.conversation.bell import Bell
from hybridmux.conversation.phases import Step
from hybridmux.conversation.session import HybridSession


def taken(sessions: Iterable[HybridSession], besides: str | None = None) -> frozenset[str]:
    """What active sessions have open and what others are about to open; `besides`: one that is left out."""
    return frozenset().union(*(_holds(s) for s in sessions if s.id != besides))


def _holds(s: HybridSession) -> frozenset[str]:
    # A terminal may have moved on to what another session has; its own record does not follow it there. As it
    # was last seen: the hub looks at no terminal itself, so that what is wrong with one stays in its session.
    stated = s.stay.session_id if s.position.step is Step.TUI else None
    open_ = {s.record.agent_session_id, stated} if s.record.state == "active" else set()
    return frozenset(one for one in {*open_, s.opening} if one is not None)


async def tell_of_changes(bell: Bell, sessions: Callable[[], Iterable[HybridSession]]) -> None:
    """What one session opens or leaves concerns the eligibility of the others: they are shown anew.

    `bell` rings when any of them changes.
    """
    seen = bell.version
    known = {s.id: _holds(s) for s in sessions()}
    while True:
        seen = await bell.wait(seen)
        if (now := {s.id: _holds(s) for s in sessions()}) != known:
            known = now
            for s in sessions():
                s.changed()
