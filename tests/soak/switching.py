"""A switch: as one client asks for it, as two do, as one goes away in between, as processes die meanwhile."""

from typing import Any

import trio
from attrs import define

from tests.soak import contract
from tests.soak.contract import Breach, is_busy, must
from tests.soak.faults import lasting
from tests.soak.subject import LONGEST, Subject, meanwhile
from tests.soak.turns import UnderWay, under_way
from tests.support.client import request_id

Answer = tuple[int, Any]
KILL_WITHIN = 0.4
"""Seconds after a switch's start in which a process is killed or a client goes away."""


@define
class Questions:
    """Answers `awaiting_choice` while a switch runs."""

    s: Subject
    only: str | None = None
    forced: bool = False
    asked: int = 0

    async def run(self) -> None:
        """Until it is cancelled, or the chat's viewers are told to come back (the switch is through)."""
        async with self.s.chat() as chat:
            while True:
                await chat.until(lambda v: v.closed or v.state.get("phase") == "awaiting_choice", LONGEST)
                if chat.closed:
                    return
                await self._answer()
                await chat.until(lambda v: v.closed or v.state.get("phase") != "awaiting_choice", LONGEST)

    async def _answer(self) -> None:
        self.asked += 1
        self.s.figures.questions += 1
        kinds = ["wait", "force", "cancel", "nothing"] if self.asked < 3 else ["force", "cancel"]
        choice = self.only or self.s.rng.choice(kinds)
        self.s.tell(f"  the switch asks: {choice}")
        if choice == "nothing":
            return  # its deadline makes it a `cancel`
        status, body = await self.s.ask("POST", "/switch", {"choice": choice})
        if status == 204:
            self.forced = choice == "force"
        else:
            contract.refused(status, body, "answered", "choice")


async def switch(s: Subject) -> None:
    """To the other side, with whatever happens on the way; then the session is looked at."""
    to = "acp" if s.side == "tui" else "tui"
    before = await under_way(s)
    if before is None:
        return
    s.no_fault()
    fault = s.roll(to, 0.4)
    manner = s.rng.choices(MANNERS, weights=[20, 3, 2, 2 if s.with_faults else 0])[0]
    questions = Questions(s)
    started = trio.current_time()
    async with meanwhile(_ask_if_running(questions, before)):
        status, body = await manner(s, {"to": to})
    took = trio.current_time() - started
    outcome = contract.switched(status, body, to)
    killed = manner is _killing
    s.tell(f"switch to {to} [{fault}] {manner.__name__} {before.what}: {outcome} {took:.2f} s {_error(body)}")
    s.no_fault()
    _count(s, to, outcome, took, clean=not fault and manner is _plain and before.what == "idle")
    _expect(outcome, sound=not fault and not killed, asked=questions.asked > 0)
    if status == 200:
        _take_draft(s, body, before)
    elif to == "tui":
        for text in before.unsent(await s.waiting()):
            s.ledger.unsent(text)
        s.perhaps_waiting = len(before.running)
    lost_sight = before.early and outcome != "moved"
    before.settle(s, killed=killed or questions.forced or outcome == "stayed" or lost_sight)
    s.restless = to == "acp" and outcome != "moved" and before.runs
    s.tainted = lasting(fault) or (s.tainted and outcome != "moved")
    await s.settle(killed=killed)
    if outcome == "stayed":
        await _insist(s)


def _ask_if_running(questions: Questions, before: UnderWay) -> Any:
    """Questions come where a terminal's turn runs; elsewhere nobody need watch."""
    watch = questions.s.side == "tui" and (before.what != "idle" or questions.s.tainted)
    return questions.run if watch else trio.sleep_forever


async def _insist(s: Subject) -> None:
    """A turn that does not end was left alone by the last switch: this one is told to force."""
    questions = Questions(s, only="force")
    async with meanwhile(questions.run):
        status, body = await _plain(s, {"to": "acp"})
    outcome = contract.switched(status, body, "acp")
    s.tell(f"switch to acp, forced: {outcome} {_error(body)}")
    _count(s, "acp", outcome, 0.0, clean=False)
    must(outcome == "moved", f"a switch that may force: {outcome} {body}")
    s.restless = s.tainted = False
    await s.settle()


def _expect(outcome: str, *, sound: bool, asked: bool) -> None:
    """Without a fault a switch moves, or stays because the question was answered so."""
    if sound:
        must(outcome == "moved" or (asked and outcome == "stayed"), f"a switch without a fault: {outcome}")
    must(outcome != "stayed" or asked, "a switch stayed and nobody was asked")


def _count(s: Subject, to: str, outcome: str, took: float, *, clean: bool) -> None:
    s.figures.operations["switch"] += 1
    s.figures.outcomes[outcome] += 1
    if clean and outcome == "moved":
        s.figures.times["tui → acp" if to == "acp" else "acp → tui"].append(took)


def _take_draft(s: Subject, body: Any, before: UnderWay) -> None:
    """What waited in the queue, or had not gone to the agent yet, comes back when the session has gone."""
    if body["side"] == "tui":
        draft = body.get("draft")
        for text in before.unsent(draft.split("\n\n") if draft else []):
            s.ledger.unsent(text)
        expected = "\n\n".join(s.ledger.came_back()) or None
        must(draft == expected, f"the draft is {draft!r}, not {expected!r}")


def _error(body: Any) -> str:
    return str(body.get("error", ""))[:160] if isinstance(body, dict) else ""


# --- manners ---


async def _plain(s: Subject, body: dict[str, str]) -> Answer:
    return await s.ask("POST", "/switch", body)


async def _leaving(s: Subject, body: dict[str, str]) -> Answer:
    """The client goes away and comes back with the same id: the same answer, and nothing runs twice."""
    whole = {"clientRequestId": request_id(), **body}
    first: Answer | None = None
    with trio.move_on_after(s.rng.uniform(0, KILL_WITHIN)):
        first = await s.ask("POST", "/switch", whole)
    again = await s.ask("POST", "/switch", whole)
    must(first in (None, again), f"a repeat was answered {again}, the first time it was {first}")
    return again


async def _twice(s: Subject, body: dict[str, str]) -> Answer:
    """Two devices at once: one of them is served."""
    answers: list[Answer] = []

    async def one() -> None:
        answers.append(await s.ask("POST", "/switch", body))

    async with meanwhile(one):
        answers.append(await s.ask("POST", "/switch", body))
        with trio.move_on_after(LONGEST):
            while len(answers) < 2:  # noqa: ASYNC110 - the other task has no event to set
                await trio.sleep(0.01)
    if len(answers) < 2:
        raise Breach("the second of two switches has no answer")
    busy = [answer for answer in answers if answer[0] == 409 and is_busy(answer[1])]
    must(len(busy) == 1, f"two switches at once: {answers}")
    answers.remove(busy[0])
    return answers[0]


async def _killing(s: Subject, body: dict[str, str]) -> Answer:
    """One of its processes is killed meanwhile."""
    delay = s.rng.uniform(0, KILL_WITHIN)

    async def killer() -> None:
        await trio.sleep(delay)
        for one in s.processes()[:1]:
            s.tell(f"  kill {one.side} {one.pid} after {delay:.2f} s")
            one.kill()

    async with meanwhile(killer):
        return await s.ask("POST", "/switch", body)


MANNERS = (_plain, _leaving, _twice, _killing)
