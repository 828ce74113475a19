"""Clients that are busy with sessions until their server dies, and who keep book of what it promised."""

from pathlib import Path
from random import Random
from typing import Any

import h11
import trio
import trio_websocket
from attrs import define, field

from tests.support.client import Client, Server
from tests.support.promises import Promise, Promises
from tests.support.talk import say_in_chat, say_in_terminal
from tests.support.views import SocketClosed

MOST = 6
"""Records of one client; more are closed and removed."""
DESTRUCTIVE = ("stopping", "starting", "loading")


class ServerGone(Exception):
    """The request has no answer, or one that says that the server stops: nobody knows what came of it."""


GONE = (
    ServerGone,
    SocketClosed,
    OSError,
    trio.BrokenResourceError,
    h11.RemoteProtocolError,
    trio_websocket.ConnectionRejected,
    trio_websocket.HandshakeError,
)


@define
class Busy:
    """One client with a launch config, and so a fault file, of its own."""

    promises: Promises
    rng: Random
    number: int
    faults: Path
    config_id: str = ""
    mine: set[str] = field(factory=set)
    did: dict[str, int] = field(factory=dict)
    server: Server | None = None
    at: Promise | None = None
    side: str = ""
    _count: int = 0

    @property
    def client(self) -> Client:
        """Requests to the server of this round."""
        assert self.server is not None
        return self.server.client

    @property
    def sid(self) -> str:
        """The session at hand."""
        assert self.at is not None
        return self.at.id

    def _fresh(self, what: str) -> str:
        self._count += 1
        return f"{what} {self.number}-{self._count}"

    async def configure(self) -> None:
        """The launch config, once."""
        env = {"HYBRIDMUX_DEMO_FAULT": f"@{self.faults}"}
        body = {"name": f"client {self.number}", "cmd": ["hybridmux-demo", "tui"], "env": env, "hybrid": True}
        self.config_id = (await self.client.post("/api/launch-configs", body))["id"]

    async def begin(self) -> None:
        """A session to work on: one of those that were interrupted, else a new one."""
        self.faults.write_text("")
        self.mine &= set(self.promises.known)
        waiting = [self.promises.known[key] for key in sorted(self.mine)]
        if waiting and self.rng.random() < 0.8:
            self.at = self.rng.choice(waiting)
            await self.resume()
        else:
            await self.create()

    async def prove(self) -> None:
        """The session at hand answers."""
        assert self.at is not None
        self.at.widen(activity="turn")  # its end is on disk a moment after it is to be seen
        say = say_in_terminal if self.side == "tui" else say_in_chat
        await say(self.client, self.sid, self._fresh("proof"))

    async def work(self) -> None:
        """Until the server is gone."""
        kinds = {
            self.rename: 4,
            self.switch: 5,
            self.switch_that_hangs: 2,
            self.run_a_turn: 3,
            self.close_and_resume: 3,
            self.create: 2,
            self.retire: 1,
        }
        while True:
            (kind,) = self.rng.choices(list(kinds), weights=list(kinds.values()))
            await kind()
            self.did[kind.__name__] = self.did.get(kind.__name__, 0) + 1

    # --- requests and what they promise ---

    async def _try(
        self, method: str, path: str, body: dict[str, Any], *, also: str | None = None, **after: Any
    ) -> Any:
        """A change of the record at hand to `after`, possibly seen with the activity `also` meanwhile."""
        promise = self.at
        assert promise is not None
        before = promise.copy()
        promise.widen(**after, **({"activity": also} if also and "activity" not in after else {}))
        if also:
            promise.widen(activity=also)
        promise.story.append(f"{method} {path.rpartition('/')[2]} {after}")
        status, answer = await self._ask(method, path, body)
        promise.story.append(f"{status}")
        if status // 100 == 2:
            promise.settle(**after)
            return answer
        assert status == 409, f"{method} {path} {body}: {status} {answer}"
        promise.may = before
        return None

    async def _ask(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        status, answer = await self.client.ask(method, path, body)
        if status in (0, 503) or "the server is stopping" in str(answer):
            raise ServerGone
        return status, answer

    def _command(self, **body: Any) -> dict[str, Any]:
        self._count += 1
        return {"clientRequestId": f"client-{self.number}-{self._count:08d}", **body}

    async def rename(self) -> None:
        """PATCH."""
        name = self._fresh("renamed")
        assert await self._try("PATCH", f"/api/sessions/{self.sid}", {"name": name}, name=name)

    async def create(self) -> None:
        """A new session becomes the one at hand; the other stays open."""
        name, side = self._fresh("created"), self.rng.choice(["acp", "acp", "tui"])
        self.promises.hoped[name] = side
        body = {"configId": self.config_id, "name": name, "startSide": side}
        status, info = await self._ask("POST", "/api/sessions", body)
        assert status == 201, f"create: {status} {info}"
        self.at, self.side = self.promises.created(info["id"], name, side), side
        self.mine.add(info["id"])

    async def resume(self) -> None:
        """On the side it was on."""
        path = f"/api/sessions/{self.sid}/resume"
        info = await self._try("POST", path, self._command(), state="interrupted", activity="idle")
        assert info, f"{self.sid} cannot be resumed"
        self.side = info["hybrid"]["side"]

    async def close_and_resume(self) -> None:
        """DELETE, then back."""
        await self._try("DELETE", f"/api/sessions/{self.sid}", {}, state="closed")
        await self.resume()

    async def retire(self) -> None:
        """Closed and removed, when there are many; then another one."""
        if len(self.mine) < MOST:
            return
        await self._try("DELETE", f"/api/sessions/{self.sid}", {}, state="closed")
        await self._try("DELETE", f"/api/hybrid-sessions/{self.sid}", {}, exists=False)
        self.mine.discard(self.sid)
        await self.create()

    async def switch(self) -> None:
        """To the other side."""
        to = "acp" if self.side == "tui" else "tui"
        path = f"/api/sessions/{self.sid}/switch"
        done = await self._try("POST", path, self._command(to=to), also="switching", side=to, activity="idle")
        self.side = to if done else self.side

    async def switch_that_hangs(self) -> None:
        """Once it is seen in a destructive phase it stays there, and that is what must be on disk."""
        to = "acp" if self.side == "tui" else "tui"
        self.faults.write_text(f"{to}.load:hang")
        async with self.client.chat(self.sid) as chat, trio.open_nursery() as nursery:
            nursery.start_soon(self._hanging, to, nursery.cancel_scope)
            await chat.until(lambda v: v.closed or v.state.get("phase") in DESTRUCTIVE)
            assert self.at is not None
            if not chat.closed:
                self.at.settle(activity="switching")
            await trio.sleep_forever()  # until the server is gone, or the switch was refused
        self.faults.write_text("")

    async def _hanging(self, to: str, scope: trio.CancelScope) -> None:
        body = self._command(to=to)
        assert not await self._try("POST", f"/api/sessions/{self.sid}/switch", body, also="switching")
        scope.cancel()  # refused: the terminal has no conversation yet

    async def run_a_turn(self) -> None:
        """In the chat; seen to run, it must be on disk as running."""
        if self.side != "acp":
            return
        assert self.at is not None
        path = f"/api/sessions/{self.sid}/chat"
        async with self.client.chat(self.sid) as chat:
            seen, ends = len(chat.of("message.append")), len(chat.of("turn.end"))
            self.at.widen(activity="turn")
            body = self._command(text=f"slow 60 {self._fresh('turn')}", mode="auto")
            status, answer = await self._ask("POST", f"{path}/prompts", body)
            assert status == 200, answer
            await chat.until(lambda v: v.closed or len(v.of("message.append")) > seen + 1)
            if chat.closed:
                raise ServerGone
            self.at.settle(activity="turn")
            self.at.story.append("a turn")
            if self.rng.random() < 0.5:
                await trio.sleep_forever()  # until the server is gone
            self.at.widen(activity="idle")
            await self._ask("POST", f"{path}/cancel", self._command())
            await chat.until(lambda v: v.closed or len(v.of("turn.end")) > ends)
            self.at.story.append("its end")
