"""A whole soak: a server, its sessions side by side, and the last look at what is left."""

import os
from pathlib import Path
from random import Random

import trio
from attrs import frozen

from tests.soak import mishaps, switching, turns
from tests.soak.contract import Breach, must
from tests.soak.figures import Figures
from tests.soak.ledger import Ledger
from tests.soak.subject import Subject
from tests.support.client import Server, marked, serving
from tests.support.leaks import gauges, settled, temp_folders

CONFIG = """
[budgets]
precheck = 5.0
interrupting = 1.0
choice = 2.5
cancelling = 1.0
stopping_step = 1.0
starting = 5.0
loading_idle = 1.5
loading_total = 6.0
rolling_back = 12.0
shutdown_grace = 8.0
"""
STORE_EVERY = 10
"""Operations between two looks into the agent's store."""


@frozen
class Options:
    """What `scripts/soak` can be told."""

    switches: int
    seed: int
    faults: bool = False
    sessions: int = 3


async def soak(folder: Path, options: Options) -> Figures:
    """Runs it; what broke is in the figures, nothing is raised for it."""
    figures = Figures(options.seed)
    started, before = trio.current_time(), temp_folders()
    try:
        async with serving(folder, config=CONFIG) as server:
            await _over(server, folder, options, figures)
            must(await server.stop() == 0, "the server did not end in peace")
            must("Traceback" not in server.log(), f"in the server's log:\n{server.log()[-4000:]}")
        figures.leaked["temp folders"] = len(temp_folders() - before)
        must(not figures.leaked.total(), f"leaked: {dict(+figures.leaked)}")
    except AssertionError as exc:
        figures.broken.append(str(exc) or type(exc).__name__)
    figures.seconds = trio.current_time() - started
    return figures


async def _over(server: Server, folder: Path, options: Options, figures: Figures) -> None:
    subjects = [_subject(server, folder, options, figures, number) for number in range(options.sessions)]
    try:
        await _warm_up(subjects)
        baseline = await gauges(server.client)
        await _side_by_side(subjects, options.switches // options.sessions)
        for subject in subjects:
            await _to_chat(subject)
            await subject.verify_store()
        await _look_for_leaks(server, subjects, figures, baseline)
    finally:
        figures.messages = sum(s.ledger.certain.total() for s in subjects)
        figures.uncertain = sum(s.ledger.uncertain for s in subjects)


def _subject(server: Server, folder: Path, options: Options, figures: Figures, number: int) -> Subject:
    cwd = folder / f"work-{number}"
    cwd.mkdir()
    fault_file = folder / f"fault-{number}"
    fault_file.write_text("")
    return Subject(
        server=server,
        figures=figures,
        rng=Random(f"{options.seed}-{number}"),  # each its own, so that the others' pace changes nothing
        with_faults=options.faults,
        ledger=Ledger(f"s{number}"),
        fault_file=fault_file,
        cwd=cwd,
    )


async def _warm_up(subjects: list[Subject]) -> None:
    """A first turn and a way there and back, so that everything that is made once has been made."""
    for s in subjects:
        env = {"HYBRIDMUX_DEMO_FAULT": f"@{s.fault_file}"}
        await s.begin({"env": env, "hybrid": True})
        for side in ("acp", "tui", "acp"):
            await s.client.switch(s.sid, side)
        await s.settle()


async def _side_by_side(subjects: list[Subject], switches: int) -> None:
    failure: list[Exception] = []

    async def one(subject: Subject) -> None:
        try:
            await _operate(subject, switches)
        except Exception as exc:  # the first failure stops the others; it leaves as itself
            subject.tell(f"FAILED {type(exc).__name__}: {exc}")
            failure.append(exc)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for subject in subjects:
            nursery.start_soon(one, subject)
    if failure:
        raise Breach(f"{type(failure[0]).__name__}: {failure[0]}") from failure[0]


async def _operate(s: Subject, switches: int) -> None:
    kinds = [
        (switching.switch, 70),
        (turns.turn, 14),
        (mishaps.close_and_resume, 5),
        (mishaps.kill_side, 6),
        (mishaps.wrong_side, 5),
    ]
    done = count = 0
    while done < switches:
        kind = s.rng.choices([k for k, _ in kinds], weights=[w for _, w in kinds])[0]
        if s.restless:
            kind = switching.switch
        await kind(s)
        done += kind is switching.switch
        count += 1
        if count % STORE_EVERY == 0:
            await s.verify_store()
            must("Traceback" not in s.server.log(), f"in the server's log:\n{s.server.log()[-4000:]}")


async def _to_chat(s: Subject) -> None:
    """A clean move to the chat, in which everything is to be seen."""
    s.no_fault()
    if s.side == "acp":
        await turns.drain(s)
        answer = await s.client.switch(s.sid, "tui")
        must("draft" not in answer, f"a draft out of an empty queue: {answer}")
    await s.client.switch(s.sid, "acp")
    s.tainted = False
    await s.settle()


async def _look_for_leaks(
    server: Server, subjects: list[Subject], figures: Figures, baseline: dict[str, int]
) -> None:
    """As many of everything as at the start; then nothing."""
    now = await settled(server.client, baseline)
    for name, value in now.items():
        figures.leaked[name.removeprefix("hybridmux_")] = max(0, value - baseline[name])
    for s in subjects:
        figures.leaked["processes"] += len(s.processes()) - 1
        await s.client.delete(f"/api/sessions/{s.sid}")
    figures.leaked["processes"] += len(marked(server.data))


def fresh_seed() -> int:
    """A seed for a run that nobody asked to repeat."""
    return int.from_bytes(os.urandom(3))
