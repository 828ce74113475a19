"""Random plays over the whole session: operations, faults, clients that come and go."""

import os

import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from hybridmux.conversation.sides import OccupiedElsewhere, SideFailed

from .machine import machine

WHICH = st.sampled_from([0, 0, 0, 1, 1, 2])
SIDE = st.sampled_from(["tui", "acp"])
FAULT = st.sampled_from(["ok", "ok", "hang", SideFailed("exit code 71"), OccupiedElsewhere("taken")])


def step(verb: str, *args: st.SearchStrategy) -> st.SearchStrategy:
    return st.tuples(st.just(verb), *args)


ONE = st.one_of(
    step("create", SIDE),
    step("switch", WHICH, SIDE, st.booleans()),
    step("switch", WHICH, SIDE, st.just(False)),
    step("choose", WHICH, st.sampled_from(["wait", "force", "cancel"])),
    step("close", WHICH),
    step("resume", WHICH, st.none() | SIDE),
    step("remove", WHICH),
    step("say", WHICH),
    step("say", WHICH),
    step("busy", WHICH),
    step("busy", WHICH),
    step("option", WHICH),
    step("cancel", WHICH),
    step("unpause", WHICH),
    step("turn", WHICH, st.sampled_from(["idle", "running", "asking", "unknown"])),
    step("exit", WHICH, st.sampled_from([0, 1, 143])),
    step("lose", WHICH),
    step("finish", WHICH),
    step("visit", WHICH, st.booleans()),
    step("set", WHICH, st.just("interrupt"), st.sampled_from(["ok", "ignore", "exit"])),
    step("set", WHICH, st.just("quit"), st.sampled_from(["ok", "hang"])),
    step("set", WHICH, st.just("cancel"), st.sampled_from(["ok", "ignore"])),
    step("set", WHICH, st.just("prompt"), st.sampled_from(["ok", "open", SideFailed("model error")])),
    step("set", WHICH, st.sampled_from(["initialize", "list_", "load", "resume", "tui_starts"]), FAULT),
    step("set", WHICH, st.just("refusals"), st.integers(0, 3)),
    step("set", WHICH, st.just("can_resume"), st.booleans()),
    step("set", WHICH, st.just("stored"), st.booleans()),
    step("disk", st.booleans()),
    step("wait", st.sampled_from([0.0, 0.1, 1.0, 6.0, 12.0, 40.0, 400.0])),
)
STEPS = st.one_of(ONE, ONE, ONE, step("race", ONE, ONE))


def run(steps: list, stop_early: bool, reopens: bool, early: bool = False) -> None:
    async def play() -> None:
        async with machine(reopens=reopens, early=early) as m:
            for each in [("create", "tui"), ("create", "acp"), *steps]:
                await m.do(each)
            if not stop_early:
                await m.come_to_rest()
            await m.stop()

    trio.run(play, clock=MockClock(autojump_threshold=0))


PLAYS = int(os.environ.get("HYBRIDMUX_PLAYS", "300"))


@settings(max_examples=PLAYS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, max_size=40), st.booleans(), st.booleans(), st.booleans())
def test_whatever_happens_what_must_hold_holds(steps, stop_early, reopens, early):
    run(steps, stop_early, reopens, early)
