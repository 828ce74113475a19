"""One table of every answer that means "not now" (409), "the agent failed" (502) or "not at all" (503).

What is raised is checked against it (`errors.py`), the wire types of the bodies and `docs/errors.md` are made
from it (`wire/problems.py`), and `tests/e2e/test_refusals.py` provokes each of its rows over HTTP.
"""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

ELIGIBILITY: Mapping[str, str] = {
    "unknown_agent": "this server knows no agent of the session's kind and command",
    "not_root": "the agent is not the terminal's own program: several run in it, and either could be meant",
    "no_session_id": "no conversation of the terminal is found in the session's folder; if it has none yet, "
    "send a first message",
    "not_listed": "the agent does not list the terminal's conversation",
    "occupied": "another session here has that conversation open",
    "checking": "another request checks whether the session can move",
}
"""The words of `eligibility` in a 409, and what is said of them."""

WORDS: Mapping[str, str] = {
    **ELIGIBILITY,
    "switching": "the session is switching",
    "wrong_side": "the session is on the other side",
    "exited": "the session has ended",
    "dormant": "the chat is asleep",
    "connector_missing": "{title} is not installed; install it with: {command}",
    "session_ambiguous": "it cannot be told which conversation the terminal has open",
    "occupied_external": "another program has that conversation open",
}
"""Why a session cannot move, in words: for the 409 and for the chat state alike."""

_KINDS: Mapping[str, type | Mapping[str, str]] = {
    "eligibility": ELIGIBILITY, "connector": dict, "candidates": list, "path": str
}  # fmt: skip


class WrongProblem(AssertionError):
    """The code raised a refusal that the table does not have: a bug."""


@frozen(kw_only=True)
class Problem:
    """One row: an answer that is no success."""

    status: int
    reason: str | None = None
    """The machine word; None: the status alone, or a further field, says enough."""
    name: str
    """Of its wire type."""
    fields: tuple[str, ...] = ()
    """What its body has besides `error` and `reason`; nothing of it is optional."""
    when: str
    then: str
    """What a person or a client does next."""


def _conflict(reason: str, *fields: str, when: str, then: str) -> Problem:
    name = "".join(word.capitalize() for word in reason.split("_"))
    return Problem(status=409, reason=reason, name=f"{name}Problem", fields=fields, when=when, then=then)


PROBLEMS: tuple[Problem, ...] = (
    _conflict(
        "switching",
        when="The session is being switched, resumed, closed or removed by another request.",
        then="Wait until the session's state shows a side again, then ask anew.",
    ),
    _conflict(
        "wrong_side",
        when="The command is for the side that the session is not on, or its program has ended.",
        then="Switch the session first, or resume it if it has ended.",
    ),
    _conflict(
        "not_eligible", "eligibility",
        when="The conversation cannot move or be opened; `eligibility` says why.",
        then="By `eligibility`: send a first message (`no_session_id`), wait for the agent to store it "
        "(`not_listed`), close the other session (`occupied`), end the other agents in the terminal "
        "(`not_root`), ask anew when the other request is over (`checking`), use a server that has the agent "
        "(`unknown_agent`).",
    ),
    _conflict(
        "connector_missing", "connector",
        when="The chat needs a program that is not installed; nothing was started.",
        then="Run `connector.installCommand` on the server's machine and ask again, or use the terminal.",
    ),
    _conflict(
        "session_ambiguous", "candidates",
        when="Several conversations changed since the terminal started, or one that is not the session's "
        "own and the terminal named none as it was stopped (it is back then): which one it shows cannot be "
        "told.",
        then="Let the person choose one of `candidates` and switch with its `agentSessionId`.",
    ),
    _conflict(
        "occupied_external",
        when="A program outside this server has the conversation open. A switch has gone back already; of a "
        "message nothing was sent or kept.",
        then="End the other program, then ask again.",
    ),
    _conflict(
        "answered",
        when="The permission request, form or question of a switch is not open (any more).",
        then="Nothing: somebody answered first, or it was withdrawn. The chat state shows what is open.",
    ),
    _conflict(
        "sent",
        when="The queued message is not in the queue any more: it was sent, handed back or removed.",
        then="Nothing: the timeline shows whether it was sent.",
    ),
    _conflict(
        "steering_unavailable",
        when="The agent takes no messages into a running turn.",
        then="Send the message with mode `auto`: it waits in the queue.",
    ),
    _conflict(
        "session_missing", "candidates",
        when="The agent does not have the record's conversation any more, or it is not known which of "
        "several a terminal had open.",
        then="Resume with the `agentSessionId` of one of `candidates` (none left: remove the record).",
    ),
    _conflict(
        "config_missing",
        when="The record's launch config is gone, and with it the environment to resume in.",
        then="Resume with `confirmWithoutEnv: true` if the agent can do without it.",
    ),
    _conflict(
        "limit",
        when="There are as many records, or messages in one queue, as there may be, or the records fill "
        "their file.",
        then="Remove some first.",
    ),
    Problem(
        status=409, name="ConflictProblem",
        when="The session to be resumed or removed is active; or the folder of the session to be moved or "
        "resumed is not there any more or cannot be looked at.",
        then="An active session: use it as it is; to remove its record, close it first. A missing folder: "
        "put it back.",
    ),
    Problem(
        status=502, name="AgentFailedProblem",
        when="The agent's terminal program or connector failed. `error` names the phase and what the agent "
        "said: its exit status and last line, or its JSON-RPC error.",
        then="The session is where it was before, or `interrupted` if `error` says so. Mend what the "
        "agent complains about, then ask again.",
    ),
    Problem(
        status=503, name="StoreUnusableProblem", fields=("path",),
        when="A store file cannot be read, is of a newer version, or cannot be written. It is left as it is; "
        "ordinary terminals work on.",
        then="Repair or move the file `path` (or make room on its disk); if it could not be read, start the "
        "server again.",
    ),
    Problem(
        status=503, reason="server_stopping", name="ServerStoppingProblem",
        when="The server is being stopped; what was asked for was not done, or not finished.",
        then="Ask again once it runs again. A session that was moving is `interrupted` then: resume it.",
    ),
)  # fmt: skip


def said(reason: str, **facts: str) -> str:
    """One sentence about a reason not to move; `facts` are what its words name."""
    return WORDS[reason].format(**facts)


def find(status: int, reason: str | None) -> Problem:
    """The row of an answer, by its reason or, without one, its status; raises `WrongProblem`."""
    for problem in PROBLEMS:
        if (problem.status, problem.reason) == (status, reason):
            return problem
    raise WrongProblem(f"there is no {status} with reason {reason!r}")


def check(status: int, reason: str | None, extra: Mapping[str, Any]) -> None:
    """Raises `WrongProblem` unless `extra` is exactly what the row's body has to have."""
    problem = find(status, reason)
    if set(extra) != set(problem.fields):
        raise WrongProblem(f"{problem.name} has the fields {problem.fields}, not {tuple(extra)}")
    for name, value in extra.items():
        kind = _KINDS[name]
        if not (isinstance(value, kind) if isinstance(kind, type) else value in kind):
            raise WrongProblem(f"{problem.name}.{name} cannot be {value!r}")
