"""Which agent sessions our own sessions have open: no two of them may have the same one."""

from collections.abc import Callable, Iterable

from hybridmux.conversation.bell import Bell
from hybridmux.conversation.session import HybridSession


def taken(sessions: Iterable[HybridSession], besides: str | None = None) -> frozenset[str]:
    """What active sessions have open and what others are about to open; `besides`: one that is left out."""
    others = [s for s in sessions if s.id != besides]
    open_ = {s.record.agent_session_id for s in others if s.record.state == "active"}
    return frozenset(one for one in open_ | {s.opening for s in others} if one is not None)


async def tell_of_changes(bell: Bell, sessions: Callable[[], Iterable[HybridSession]]) -> None:
    """What one session opens or leaves concerns the eligibility of the others: they are shown anew.

    `bell` rings when any of them changes.
    """
    seen, known = bell.version, taken(sessions())
    while True:
        seen = await bell.wait(seen)
        if (now := taken(sessions())) != known:
            known = now
            for s in sessions():
                s.changed()
