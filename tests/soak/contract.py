"""Which answers the contract allows for the requests of the soak; pure."""

from typing import Any

PLACES = ("tui", "acp")
SWITCH_REASONS = {"switching", "wrong_side", "not_eligible", "connector_missing", "occupied_external"}
RESUME_REASONS = {"session_missing", "not_eligible", "connector_missing", "occupied_external"}
ELIGIBILITY = {"no_session_id", "not_listed", "occupied", "checking"}


class Breach(AssertionError):
    """Something that must never happen did."""


def must(holds: object, what: str) -> None:
    """Raises `Breach` unless it holds."""
    if not holds:
        raise Breach(what)


def is_busy(body: Any) -> bool:
    """A 409 says that another switch runs: it is checked, or under way."""
    return body.get("reason") == "switching" or body.get("eligibility") == "checking"


def switched(status: int, body: Any, to: str) -> str:
    """The outcome of a switch in a word or two: `moved`, `stayed`, `409 reason`, `502`."""
    if status == 200:
        must(set(body) <= {"side", "draft", "dropped", "unsupported"} and body["side"] in PLACES, f"{body}")
        must(body["dropped"] == [] and body["unsupported"] == [], f"the demo agent loses no argument: {body}")
        must(to == "tui" or "draft" not in body, f"a draft comes back in the terminal only: {body}")
        return "moved" if body["side"] == to else "stayed"
    _failure("switch", status, body)
    if status == 409:
        must(body.get("reason") in SWITCH_REASONS, f"409 with another reason: {body}")
        must(body["reason"] != "not_eligible" or body.get("eligibility") in ELIGIBILITY, f"{body}")
        return f"409 {body['reason']}"
    return str(status)


def resumed(status: int, body: Any, side: str) -> str:
    """The outcome of a resume: `resumed`, `409 reason`, `502`."""
    if status == 200:
        hybrid = body["hybrid"]
        must(hybrid["state"] == "active" and hybrid["side"] == side and "phase" not in hybrid, f"{hybrid}")
        return "resumed"
    _failure("resume", status, body)
    if status == 409:
        must(body.get("reason") in RESUME_REASONS, f"409 with another reason: {body}")
        return f"409 {body.get('reason')}"
    return str(status)


def _failure(what: str, status: int, body: Any) -> None:
    must(status in (409, 502), f"{what}: {status} {body}")
    must(isinstance(body, dict) and isinstance(body.get("error"), str) and body["error"].strip(), f"{body}")


def refused(status: int, body: Any, reason: str | None, what: str) -> None:
    """A 409 with that reason."""
    must(status == 409 and body.get("reason") == reason, f"{what}: wanted 409 {reason}, got {status} {body}")


def is_side(text: str) -> bool:
    """Whether a session rests there."""
    return text in PLACES
