"""`kill -9` of the server at any moment: what it acknowledged is there, what it started is gone."""

import json
import os
import signal
from pathlib import Path
from random import Random

import pytest
import trio

from tests.e2e.kill_nine import GONE, Busy
from tests.support.client import Server, serving
from tests.support.leaks import processes
from tests.support.promises import Promises

KILLS = int(os.environ.get("HYBRIDMUX_KILLS", "30"))
CLIENTS = 3
WITHIN = 0.6
"""Seconds after the first session has proved that it answers."""
ROUND = 60.0
"""Seconds."""
CONFIG = "[budgets]\nstopping_step = 1.0\n"
VERSION = 1


async def kill(server: Server, rng: Random) -> str:
    """The server; in a quarter of the rounds its keeper too."""
    keeper, pid = server.process.pid, server.pid
    how = rng.choices(["server", "keeper first", "both, stopped"], weights=[6, 1, 1])[0]
    if how == "both, stopped":
        os.kill(keeper, signal.SIGSTOP)
        os.kill(pid, signal.SIGSTOP)
    if how != "server":
        os.kill(keeper, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    with trio.fail_after(10):
        while alive(pid) or server.process.poll() is None:  # noqa: ASYNC110 - another process sets no event
            await trio.sleep(0.005)
    return how


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


async def one_round(server: Server, clients: list[Busy], rng: Random) -> str:
    """From the first look after a start to the kill."""
    promises = clients[0].promises
    records = await server.client.get("/api/hybrid-sessions")
    assert promises.broken_by(records) == []
    assert all(record["state"] != "active" for record in records)
    assert processes(server.data) == []
    promises.now_certain(records)
    for client in clients:
        client.mine |= {each["id"] for each in records if each["configId"] == client.config_id}
    ready, dying = trio.Event(), trio.Event()
    async with trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(busy, client, dying, ready if client.number == 0 else None)
        await ready.wait()
        await trio.sleep(rng.uniform(0, WITHIN))
        dying.set()
        how = await kill(server, rng)
        nursery.cancel_scope.cancel()  # what is unanswered now may or may not have happened
    return how


async def busy(client: Busy, dying: trio.Event, ready: trio.Event | None) -> None:
    """Works until the server is gone; the first client proves that its session answers."""
    try:
        await client.begin()
        if ready is not None:
            await client.prove()
            ready.set()
        await client.work()
    except* GONE:
        if not dying.is_set():
            raise


def stored(data: Path) -> list[dict]:
    """The records on disk, as the kill left them."""
    content = json.loads((data / "hybrid-sessions.json").read_bytes())
    assert content["version"] == VERSION
    return content["records"]


@pytest.mark.timeout(60 + 10 * KILLS)
async def test_killed_at_any_moment_it_keeps_what_it_acknowledged(tmp_path):
    rng, promises = Random(KILLS), Promises()
    clients = [Busy(promises, Random(f"{KILLS}-{n}"), n, tmp_path / f"fault-{n}") for n in range(CLIENTS)]
    for client in clients:
        client.faults.write_text("")
    activities: set[str] = set()
    for number in range(KILLS):
        async with serving(tmp_path, config=CONFIG) as server:
            for client in clients:
                client.server = server
                if not number:
                    await client.configure()
            with trio.fail_after(ROUND):
                how = await one_round(server, clients, rng)
        wrong = promises.broken_by(stored(server.data))
        assert wrong == [], f"round {number}, killed: {how}"
        if how == "server":
            assert processes(server.data) == [], "the keeper ends what its server leaves"
        activities |= {one["activity"] for one in stored(server.data) if one["state"] == "active"}
        assert "Traceback" not in server.log(), server.log()[-3000:]
    if KILLS >= 30:
        assert activities == {"idle", "turn", "switching"}, "the kills must have come at every kind of moment"
