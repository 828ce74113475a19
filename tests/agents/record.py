"""Records both sides of an agent in the sandbox: its terminal as a cast, its connector's traffic as lines.

    scripts/agents record AGENT NAME [PROMPT…]

The prompts are typed into a new terminal, which is then left by the quit keys; the connector lists and loads
that conversation and is given the same prompts. What is asked on the way is allowed. On stdout comes a tar
archive of `AGENT/NAME.cast` (asciicast v2) and `AGENT/NAME.jsonl` (`{"t", "dir": "client"|"agent", "msg"}`).
"""

import codecs
import io
import json
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path

import trio

from hybridmux.acp.lines import LineSplitter
from hybridmux.acp.reading import Json
from hybridmux.acp.streams import ByteStream
from hybridmux.budgets import MIB
from hybridmux.conversation.tui import Tui
from tests.agents.sides import COLS, PROFILE, ROWS, connector, plan, quit_by_keys, submit, tui
from tests.agents.use import AGENT, PATIENCE

PROMPTS = ("first words", "run: expr 20 + 22 > sum; cat sum")
QUIT = 15.0
LIMIT = MIB
"""Bytes of one recording."""
_BEGIN = 2.0
"""Seconds until a turn that was not seen to begin is taken for one that has ended already."""


class Recording:
    """Timed lines of JSON; paths of this machine are told by neutral names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._started = time.monotonic()
        self._names = neutral_names()

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return round(time.monotonic() - self._started, 3)

    def add(self, value: object) -> None:
        """One line."""
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for path, name in self._names.items():
            line = line.replace(path, name)
        self.lines.append(line)

    def bytes(self) -> bytes:
        """All of it. Raises ValueError when it is too large to keep."""
        data = "".join(f"{line}\n" for line in self.lines).encode()
        if len(data) >= LIMIT:
            raise ValueError(f"{len(data)} bytes: no recording may have {LIMIT}")
        return data


def neutral_names() -> dict[str, str]:
    """Folders of this machine that an agent may mention → what stands in a recording for them."""
    program = shutil.which(AGENT.cmd[0])
    folder = str(Path(program or "/").parents[2])
    return {folder: f"/opt/{AGENT.name}", os.environ["HYBRIDMUX_CHECKOUT"]: "/opt/hybridmux"}


class Tap:
    """A stream whose lines are recorded both ways."""

    def __init__(self, stream: ByteStream, recording: Recording) -> None:
        self._stream, self._recording = stream, recording
        self._lines = {side: LineSplitter(LIMIT) for side in ("agent", "client")}

    def _heard(self, side: str, data: bytes) -> None:
        for line in self._lines[side].feed(data):
            self._recording.add({"t": self._recording.now, "dir": side, "msg": json.loads(line)})

    async def receive_some(self) -> bytes:
        """What the agent says."""
        data = await self._stream.receive_some()
        self._heard("agent", data)
        return data

    async def send_all(self, data: bytes) -> None:
        """What we say."""
        self._heard("client", data)
        await self._stream.send_all(data)

    async def close_output(self) -> None:
        """Ends our side."""
        await self._stream.close_output()


async def film(agent: Tui, recording: Recording) -> None:
    """Records output until its end, and what is typed."""
    terminal, write = agent.terminal, agent.terminal.write
    command = " ".join(plan().launch.argv())
    head = {"version": 2, "width": COLS, "height": ROWS, "timestamp": int(time.time()), "command": command}
    recording.add({**head, "env": {"TERM": "xterm-256color"}})

    async def typed(data: bytes) -> None:
        recording.add([recording.now, "i", data.decode()])
        await write(data)

    terminal.write = typed  # type: ignore[method-assign]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    seen, position = 0, 0
    while not (terminal.journal.closed and position == terminal.journal.end):
        data = terminal.journal.read(position, terminal.journal.end - position)
        position += len(data)
        if text := decoder.decode(data):
            recording.add([recording.now, "o", text])
        seen = await terminal.changed(seen)


async def play(agent: Tui, prompt: str) -> None:
    """One turn by keys; approvals are given by Enter, which every agent offers first."""
    await submit(agent, prompt)
    with trio.move_on_after(_BEGIN):
        await agent.watch(lambda state: state.turn != "idle")
    with trio.fail_after(PATIENCE):
        while (await agent.watch(lambda state: state.turn in {"idle", "asking"})).turn == "asking":
            await agent.settled()
            await agent.write(b"\r")
            await agent.watch(lambda state: state.turn != "asking")
    await agent.settled()


async def record_terminal(prompts: tuple[str, ...]) -> tuple[Recording, str]:
    """The terminal's recording, and the id of the agent session."""
    recording = Recording()
    async with trio.open_nursery() as nursery, tui() as agent:
        nursery.start_soon(film, agent, recording)
        with trio.fail_after(PATIENCE):
            await agent.ready()
        for prompt in prompts:
            await play(agent, prompt)
        last = await quit_by_keys(agent, QUIT)
    session_id = PROFILE.farewell(last)
    if session_id is None:
        raise ValueError(f"no session id in: {last[-300:]}")
    return recording, session_id


async def record_connector(session_id: str, prompts: tuple[str, ...]) -> Recording:
    """The traffic of a connector that carries the conversation on."""
    recording = Recording()
    async with connector(lambda stream: Tap(stream, recording)) as (chat, _):
        await chat.initialize()
        await chat.list_sessions()
        await chat.load_session(session_id)
        for prompt in prompts:
            block: Json = {"type": "text", "text": prompt}
            await chat.prompt([block])
        await chat.stop()
    return recording


async def main(name: str, prompts: tuple[str, ...]) -> None:
    """Both recordings, as an archive on stdout."""
    terminal, session_id = await record_terminal(prompts)
    traffic = await record_connector(session_id, prompts)
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        for ending, recording in (("cast", terminal), ("jsonl", traffic)):
            data = recording.bytes()
            entry = tarfile.TarInfo(f"{AGENT.name}/{name}.{ending}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, int(time.time())
            archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    trio.run(main, sys.argv[1], tuple(sys.argv[2:]) or PROMPTS)
