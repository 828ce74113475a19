"""The agent's two sides without a server between: its terminal through its profile, and its connector."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import trio

from hybridmux.acp.connector import Connector, connect
from hybridmux.acp.fold import Timeline
from hybridmux.acp.program import open_program
from hybridmux.acp.reading import Json
from hybridmux.acp.streams import ByteStream
from hybridmux.acp.translate import Translator
from hybridmux.agents.executable import chat_environment, own_program
from hybridmux.agents.launch import Launch
from hybridmux.agents.registry import BUILT_IN, Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation.sides import Plan
from hybridmux.conversation.tui import Tui, open_tui, own_temp
from hybridmux.proc.mark import Mark, new_run
from tests.agents.use import AGENT, PATIENCE, PROJECT

PROFILE = next(profile for profile in BUILT_IN if profile.name == AGENT.name)
COLS, ROWS = 100, 30
BUDGETS = Budgets(starting=PATIENCE, rpc=PATIENCE, loading_idle=PATIENCE, stopping_step=15.0)


def _mark() -> Mark:
    return Mark("d", "s", "t", new_run())


def plan() -> Plan:
    """The agent's command as the server reads it, apart from a background server of its own."""
    launch = Registry().read(AGENT.cmd)
    assert isinstance(launch, Launch)
    if PROFILE.shared_server:
        launch = launch.adding(PROFILE.shared_server.avoid)
    return Plan(profile=PROFILE, launch=launch, session="s", cwd=PROJECT, env=dict(os.environ))


def tui(session_id: str | None = None) -> AbstractAsyncContextManager[Tui]:
    """The agent's terminal, as the server starts it; with an id it opens that conversation."""
    return open_tui(plan(), _mark(), session_id, COLS, ROWS, BUDGETS)


@asynccontextmanager
async def ready(session_id: str | None = None) -> AsyncIterator[Tui]:
    """A terminal that takes input, with a new conversation or that one."""
    async with tui(session_id) as agent:
        with trio.fail_after(PATIENCE):
            await agent.ready()
        yield agent


async def until_turn(agent: Tui, turn: str, seconds: float) -> None:
    """Waits for that turn state; its failure shows the screen."""
    with trio.move_on_after(seconds):
        await agent.watch(lambda state: state.turn == turn)
        return
    raise AssertionError(f"no {turn} turn in {seconds} s:\n{agent.terminal.screen.text()}")


async def until_screen(agent: Tui, text: str) -> None:
    """Waits for a text on the screen; its failure shows the screen."""
    seen = agent.terminal.changes
    with trio.move_on_after(PATIENCE):
        while text not in agent.terminal.screen.text():
            seen = await agent.terminal.changed(seen)
        return
    raise AssertionError(f"no {text!r} in {PATIENCE} s:\n{agent.terminal.screen.text()}")


async def submit(agent: Tui, text: str) -> None:
    """Types a prompt and Enter, as two writes."""
    await agent.write(text.encode())
    await until_screen(agent, text)
    await agent.write(b"\r")


async def quit_by_keys(agent: Tui, seconds: float) -> str:
    """Presses the profile's quit keys; the program's last words. Fails if it has not ended in time."""
    agent.terminal.family.members()  # remembered, so that leaving the terminal ends what it leaves behind
    with trio.move_on_after(seconds):
        await agent.press(PROFILE.quit)
        await agent.ended()
        return agent.last_words()
    raise AssertionError(f"still there {seconds} s after the quit keys:\n{agent.terminal.screen.text()}")


class Listener:
    """A connector's handler: the conversation as a person sees it; what is asked for is allowed once."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.asked: list[Json] = []
        """Permission requests and forms."""
        self._translator = Translator()
        self._seq = 0

    def on_update(self, params: Json) -> None:
        """A `session/update`."""
        for event in self._translator.feed(params.get("update")):
            self._seq += 1
            self.timeline.apply({"seq": self._seq, "at": "", **event})

    async def on_permission(self, params: Json) -> Json:
        """`session/request_permission`."""
        self.asked.append(params)
        chosen = next(one["optionId"] for one in params["options"] if one["kind"] == "allow_once")
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def on_elicitation(self, params: Json) -> Json:
        """`elicitation/create`: a form that means a permission is allowed, any other left alone."""
        self.asked.append(params)
        form = PROFILE.form_permission(params.get("message", ""), params.get("requestedSchema") or {})
        return {"action": "accept", "content": {form.key: form.allow}} if form else {"action": "decline"}

    def said(self) -> list[tuple[str, str]]:
        """The conversation: (role, text), without reasoning and notices."""
        messages = (item for item in self.timeline.items() if item["kind"] == "message")
        return [(item["role"], _words(item)) for item in messages if item["role"] in {"user", "agent"}]


def _words(item: Json) -> str:
    return "".join(block.get("text", "") for block in item["content"]).strip()


@asynccontextmanager
async def connector(
    tap: Callable[[ByteStream], ByteStream] = lambda stream: stream,
) -> AsyncIterator[tuple[Connector, Listener]]:
    """The agent's connector, to which nothing was said yet; `tap` may listen to its stream."""
    given = plan()
    program = own_program(given.launch, given.env, given.cwd)
    listener = Listener()
    async with own_temp(given) as own:
        env = chat_environment(PROFILE, own, program)
        argv = given.launch.wrapped(PROFILE.acp_argv(given.launch))
        async with open_program(argv, cwd=PROJECT, env=env, mark=_mark(), budgets=BUDGETS) as running:
            running.stream = tap(running.stream)
            async with connect(running, cwd=PROJECT, handler=listener, budgets=BUDGETS) as chat:
                yield chat, listener
