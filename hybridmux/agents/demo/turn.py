"""One turn: the prompt's steps, played against a front and written to the store as they happen.

A front is whoever shows the turn and answers its questions: the TUI, or an ACP client.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Awaitable
from typing import Any, NamedTuple, Protocol

from hybridmux.agents.demo import limits, script, shell
from hybridmux.agents.demo.breakage import ignore_sigterm
from hybridmux.agents.demo.forms import describe, schema
from hybridmux.agents.demo.history import Line, labels_of, text_of
from hybridmux.agents.demo.session import Session, fresh_id
from hybridmux.agents.demo.store import now


class Ending(NamedTuple):
    """How a turn ended: `end_turn`, `cancelled`, `refusal`, `error` or `auth_required`."""

    reason: str
    error: str | None = None


class Front(Protocol):
    """Whoever shows a turn and answers its questions."""

    def show(self, line: Line) -> Awaitable[None]:
        """Shows one line of the conversation; may wait until there is room for it."""

    async def permit(self, tool: Line) -> str:
        """`once`, `always` or `reject`; `cancelled` when nobody answered."""

    async def fill(self, message: str, schema: Line) -> Line | None:
        """`{action, content?}` as ACP's elicitation has it, or None where forms cannot be shown."""

    async def settle(self) -> None:
        """Returns when everything shown so far is out of the process."""


class Turn:
    """Play it once with `run`; `interrupt` and `inject` come from outside while it runs."""

    def __init__(self, session: Session, front: Front, *, deaf: bool = False) -> None:
        self.session = session
        self.deaf = deaf
        """Deaf to `interrupt`: after `hang`, or by a fault."""
        self._front = front
        self._steps: deque[script.Step] = deque()
        self._injected: deque[list[Line]] = deque()
        self._message: str | None = None
        self._role = ""
        self._ticks = 0
        self._tool: Line | None = None
        self._task: asyncio.Task[Any] | None = None
        self._hung = False

    @property
    def hung(self) -> bool:
        """True after `hang`: only a signal ends it."""
        return self._hung

    def interrupt(self) -> bool:
        """Ends the turn as `cancelled`; False if it does not listen."""
        if self.deaf or self._task is None:
            return False
        self._task.cancel()
        return True

    def inject(self, blocks: list[Line]) -> bool:
        """Gives the turn another message, answered at its next step. False if the turn ended already."""
        if self._task is None or self._hung:
            return False
        self._injected.append(blocks)
        return True

    async def run(self, blocks: list[Line], *, instead: tuple[script.Step, ...] | None = None) -> Ending:
        """Plays the whole turn, or the steps `instead`. Never raises for what the script does."""
        self._task = task = asyncio.current_task()
        try:
            await self._front.show(self.session.begin(blocks))
            steps = script.steps(text_of(blocks), labels_of(blocks)) if instead is None else instead
            ending = await self._play(steps)
        except asyncio.CancelledError:
            ending = Ending("cancelled")
            if task:
                task.uncancel()
        except OSError as problem:
            ending = Ending("error", f"the conversation cannot be written: {problem}")
        self._task = None
        await self._end(ending)
        return ending

    async def _end(self, ending: Ending) -> None:
        """Writes the end of the turn, whatever became of it, before anybody is told."""
        lines: list[Line] = [{"type": "end", "stopReason": ending.reason, "at": now()}]
        if ending.error:
            lines[0]["error"] = ending.error
        if self._tool:
            call, why = self._tool["toolCallId"], _text("Interrupted")
            lines.insert(0, {"type": "tool", "toolCallId": call, "status": "failed", "content": why})
        with contextlib.suppress(OSError):  # the ending already says so, or nobody can be told
            for line in lines:
                self.session.record(line, sync=line["type"] == "end")
        for line in (*lines[:-1], self.session.usage(), lines[-1]):
            await self._front.show(line)

    async def _play(self, steps: tuple[script.Step, ...]) -> Ending:
        self._steps.extend(steps)
        while self._injected or self._steps:
            if self._injected:
                await self._take_injected()
            elif ending := await self._do(self._steps.popleft()):
                return ending
        return Ending("end_turn")

    async def _take_injected(self) -> None:
        blocks = self._injected.popleft()
        self.session.begin(blocks, steered=True)
        self._next(script.Break(), *script.steps(text_of(blocks), labels_of(blocks)), script.Break())

    async def _do(self, step: script.Step) -> Ending | None:
        match step:
            case script.Say(text, pause):
                await asyncio.sleep(pause)
                await self._say("agent", text)
            case script.Think(text, pause):
                await asyncio.sleep(pause)
                await self._say("thought", text)
            case script.Slow(seconds):
                await self._tick(seconds)
            case script.Flood(count):
                await self._flood(count)
            case script.Big(kib):
                await self._say("agent", ("x" * 79 + "\n") * (kib * 1024 // 80) + "x" * (kib * 1024 % 80))
            case script.Fail(code):
                return Ending("error", f"model answered {code}")
            case script.Refuse():
                return Ending("refusal")
            case script.Auth():
                return Ending("auth_required", "authentication required")
            case _:
                self._message = None
                await self._act(step)
        return None

    async def _act(self, step: script.Step) -> None:
        match step:
            case script.Run(command):
                await self._run(command)
            case script.Plan():
                await self._plan()
            case script.Diff():
                await self._diff()
            case script.Ask(full):
                answer = await self._front.fill("A few questions", schema(full=full))
                self._next(*script.say(describe(answer)))
            case script.Usage():
                usage = self.session.usage()
                self._next(*script.say(f"{usage['used']} of {usage['size']} tokens used."))
            case script.Title(text):
                await self._front.show(self.session.rename(text[: limits.TITLE_CHARS]))
            case script.Crash():
                await self._front.settle()
                os._exit(limits.EXIT_CRASH)
            case script.Hang(hard):
                await self._hang(hard)

    def _next(self, *steps: script.Step) -> None:
        self._steps.extendleft(reversed(steps))

    async def _say(self, role: str, text: str) -> None:
        if self._message is None or self._role != role:
            self._message, self._role = fresh_id("msg"), role
        line = {"type": role, "messageId": self._message, "text": text}
        self.session.record(line)
        self.session.characters += len(text)
        await self._front.show(line)

    async def _tick(self, seconds: float) -> None:
        """One tick, the rest as a step of its own: an injected message gets its answer in between."""
        if seconds <= 0:
            return
        self._ticks += 1
        pause = min(limits.TICK, seconds)
        await self._say("agent", f"tick {self._ticks} ")
        await asyncio.sleep(pause)
        self._next(script.Slow(round(seconds - pause, 6)))

    async def _flood(self, count: int) -> None:
        for number in range(count):
            text = f"flood {number:08d} "
            await self._say("agent", text + "." * (limits.FLOOD_BYTES - len(text) - 1) + "\n")
            if number % limits.FLOOD_BATCH == 0:
                await asyncio.sleep(0)

    async def _put(self, line: Line) -> None:
        self.session.record(line)
        await self._front.show(line)

    async def _patch(self, **fields: Any) -> None:
        assert self._tool is not None
        line = {"type": "tool", "toolCallId": self._tool["toolCallId"], **fields}
        if fields.get("status") in ("completed", "failed"):
            self._tool = None
        await self._put(line)

    async def _start_tool(self, title: str, kind: str, **fields: Any) -> Line:
        call = fresh_id("call")
        self._tool = {
            "type": "tool",
            "toolCallId": call,
            "title": title,
            "kind": kind,
            "status": "pending",
            **fields,
        }
        await self._put(self._tool)
        return self._tool

    async def _run(self, command: str) -> None:
        tool = await self._start_tool(command, "execute", rawInput={"command": command})
        if self.session.config["mode"] == "plan":
            return await self._refused("Plan mode runs nothing.")
        choice = "once" if command in self.session.allowed else await self._front.permit(tool)
        if choice not in ("once", "always"):
            return await self._refused("The user rejected this command.")
        if choice == "always":
            self.session.allowed.add(command)
        await self._patch(status="in_progress")
        await self._execute(command)
        return None

    async def _refused(self, why: str) -> None:
        await self._patch(status="failed", content=_text(why), rawOutput={"error": why})
        self._next(*script.say(f"Not run. {why}"))

    async def _execute(self, command: str) -> None:
        updates: set[asyncio.Future[None]] = set()

        call = self._tool["toolCallId"] if self._tool else ""

        def tell(output: str) -> None:
            line = {"type": "tool", "toolCallId": call, "content": _text(output)}
            updates.add(asyncio.ensure_future(self._front.show(line)))

        try:
            status, output = await shell.run(command, self.session.cwd, tell)
            await asyncio.gather(*updates)
        except OSError as problem:
            status, output = 126, str(problem)
        finally:
            for task in updates:
                task.cancel()
        result = "completed" if status == 0 else "failed"
        await self._patch(status=result, content=_text(output), rawOutput={"output": output, "exit": status})
        self._next(*script.say(f"exit {status}"))

    async def _plan(self) -> None:
        for stage in range(4):
            states = ["completed"] * stage + ["in_progress"] * (stage < 3) + ["pending"] * (2 - stage)
            names = ("Read the question", "Think about it", "Answer")
            entries = [
                {"content": n, "priority": "medium", "status": s} for n, s in zip(names, states, strict=False)
            ]
            await self._put({"type": "plan", "entries": entries})
            await asyncio.sleep(limits.PLAN_PAUSE)

    async def _diff(self) -> None:
        path = f"{self.session.cwd}/greeting.txt"
        await self._start_tool("Edit greeting.txt", "edit", locations=[{"path": path}])
        block = {
            "type": "diff",
            "path": path,
            "oldText": "hello\nworld\n",
            "newText": "hello\nhybrid world\n",
        }
        await self._patch(status="completed", content=[block])

    async def _hang(self, hard: bool) -> None:
        self.deaf = self._hung = True
        if hard:
            ignore_sigterm()
        await self._front.settle()
        await asyncio.Event().wait()


def _text(text: str) -> list[Line]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]
