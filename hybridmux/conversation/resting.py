"""The frame of every operation: whatever fails in it, its session stands on a side afterwards, or ended."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from hybridmux.conversation.phases import RESTING, UNTOUCHED, Step
from hybridmux.errors import AgentFailed, HybridmuxError

if TYPE_CHECKING:  # the session's operations run in it
    from hybridmux.conversation.session import HybridSession

log = logging.getLogger(__name__)


@asynccontextmanager
async def framed(s: "HybridSession") -> AsyncIterator[None]:
    """Around the work of one operation.

    What the machine refuses is no fault of ours either, and so no end of a session: `AgentFailed`.
    """
    try:
        yield
    except HybridmuxError:
        await _come_to_rest(s)
        raise
    except OSError as exc:
        log.exception("an operation failed", extra={"session": s.id})
        await _come_to_rest(s)
        raise AgentFailed(exc.strerror or str(exc)) from exc
    else:
        await _come_to_rest(s)
    finally:
        s.opening, s.checking = None, False
        s.position.finish()
        s.changed()


async def _come_to_rest(s: "HybridSession") -> None:
    if s.position.step in RESTING:
        return
    if s.position.step in UNTOUCHED and _lives(s):
        s.arrive(s.position.origin)
        await s.save(best_effort=True, activity=s.activity)
        return
    log.error("left in %s: it is ended", s.position.step, extra={"session": s.id})
    with suppress(HybridmuxError):  # it is in the log
        await s.sides.drop()
    await s.end("interrupted")


def _lives(s: "HybridSession") -> bool:
    """Whether the side is there that it came from; a chat that has lost its connector gets another."""
    return s.sides.tui is not None if s.position.origin is Step.TUI else True
