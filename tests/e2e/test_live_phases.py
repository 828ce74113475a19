"""`/ws/events` and `SessionInfo.hybrid` tell where an operation is, live."""

import json

import pytest
import trio

from tests.support.client import Client, Unexpected


class Followed:
    """Every (side, phase) that the list shows of a session, as it changes."""

    def __init__(self, sid: str) -> None:
        self.sid = sid
        self.places: list[tuple[str, str | None]] = []
        self._changed = trio.Event()

    async def follow(self, client: Client, *, task_status=trio.TASK_STATUS_IGNORED) -> None:
        async with client.socket("/ws/events") as ws:
            while True:
                frame = json.loads(await ws.get_message())
                if frame["type"] == "snapshot":
                    task_status.started()
                for info in [*frame.get("sessions", []), frame.get("session") or {}]:
                    if info.get("id") == self.sid:
                        self._see((info["hybrid"]["side"], info["hybrid"].get("phase")))

    def _see(self, place: tuple[str, str | None]) -> None:
        if self.places[-1:] != [place]:
            self.places.append(place)
            self._changed.set()

    async def until(self, *place: str | None) -> None:
        with trio.fail_after(5):
            while self.places[-1:] != [place]:
                self._changed = trio.Event()
                await self._changed.wait()


async def spoken(client: Client) -> str:
    """A demo session in its terminal with one turn."""
    sid = (await client.demo_session())["id"]
    async with client.terminal(sid) as term:
        await term.until_text("ready")
        await term.type("hello")
        await term.until_text("echo: hello")
    return sid


def in_order(wanted: list, places: list) -> bool:
    """Whether all of `wanted` come in this order; a phase may pass too quickly for a list to show it."""
    rest = iter(places)
    return all(any(place == one for place in rest) for one in wanted)


async def test_the_phases_of_both_directions(server, fault):
    async with server() as running, trio.open_nursery() as nursery:
        client = running.client
        sid = await spoken(client)
        followed = Followed(sid)
        await nursery.start(followed.follow, client)
        fault.write_text("acp.load:slow=0.4,tui.start:slow=0.4")
        await client.switch(sid, "acp")
        await client.switch(sid, "tui")
        info = await client.get(f"/api/sessions/{sid}")
        assert (info["hybrid"]["side"], info["hybrid"].get("phase")) == ("tui", None)
        await followed.until("tui", None)
        there = [("tui", None), ("switching", "stopping"), ("switching", "loading"), ("acp", None)]
        back = [("switching", "starting"), ("tui", None)]
        assert in_order([*there, *back], followed.places), followed.places
        nursery.cancel_scope.cancel()


async def test_a_roll_back_is_seen(server, fault):
    async with server() as running, trio.open_nursery() as nursery:
        client = running.client
        sid = await spoken(client)
        followed = Followed(sid)
        await nursery.start(followed.follow, client)
        fault.write_text("acp.load:exit,tui.start:slow=0.4")
        with pytest.raises(Unexpected):
            await client.switch(sid, "acp")
        await followed.until("tui", None)
        wanted = [("tui", None), ("switching", "rolling_back"), ("tui", None)]
        assert in_order(wanted, followed.places), followed.places
        nursery.cancel_scope.cancel()


async def test_a_resume_is_seen(server, fault):
    async with server() as running, trio.open_nursery() as nursery:
        client = running.client
        sid = await spoken(client)
        await client.delete(f"/api/sessions/{sid}")
        followed = Followed(sid)
        await nursery.start(followed.follow, client)
        fault.write_text("acp.load:slow=0.4")
        await client.resume(sid, {"side": "acp"})
        await followed.until("acp", None)
        wanted = [("switching", "starting"), ("switching", "loading"), ("acp", None)]
        assert in_order(wanted, followed.places), followed.places
        nursery.cancel_scope.cancel()
