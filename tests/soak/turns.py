"""Turns, and what may be under way in a session when something happens to it."""

import re

import trio
from attrs import define, field

from tests.soak.contract import must
from tests.soak.subject import SOON, Subject
from tests.support.client import ChatView, TerminalView

SLOW = "slow 60 {}"
CLEAR = "\x15"
"""Ctrl-U: what an earlier switch that did not happen has left unsent in the composer goes."""
PATIENCE = 4.0
"""Seconds to wait for a turn whose agent may be broken."""


@define
class UnderWay:
    """What runs or waits when something happens: texts whose turn runs, and whether the agent has them."""

    what: str = "idle"
    running: list[str] = field(factory=list)
    sound: bool = True
    early: bool = False
    """The agent was not seen to have its message: it may wait for a connector still."""

    @property
    def runs(self) -> bool:
        """Whether a turn does."""
        return bool(self.running) or self.what == "restless"

    def unsent(self, waiting: list[str]) -> list[str]:
        """Which of the texts had not gone to the agent yet: they wait now, and no turn of theirs runs."""
        found = [text for text in self.running if text in waiting]
        self.running = [text for text in self.running if text not in found]
        return found

    def settle(self, s: Subject, *, killed: bool) -> None:
        """The turn was ended in an orderly way (the agent has its message), or by a kill."""
        if self.sound and not killed:
            for text in self.running:
                s.ledger.kept(text)


# --- whole turns ---


async def turn(s: Subject) -> None:
    """One whole turn on the side it is on."""
    s.figures.operations["turn"] += 1
    if s.side == "tui":
        await _turn_in_terminal(s)
    else:
        await drain(s)
        await _turn_in_chat(s)
    await s.settle()


async def _turn_in_terminal(s: Subject) -> None:
    text = s.rng.choice(["{}", "think: {}", "slow 0.3 {}"]).format(s.ledger.fresh())
    # "done." alone may be that of an earlier turn.
    slow = rf"{re.escape(text)}[\s\S]*?done\."
    answer = slow if "slow" in text else re.escape(text.removeprefix("think: "))
    s.ledger.sent(text)
    async with s.client.terminal(s.sid) as term:
        shown = await shows(s, term, "ready") and await _typed(s, term, text, f"(echo: {answer}|{answer})\\s")
        running = "esc to interrupt" in term.text()
    s.tell(f"turn in the terminal: {text}: {shown}")
    if shown and not s.tainted:
        s.ledger.kept(text)
    s.restless = running


async def _typed(s: Subject, term: TerminalView, text: str, pattern: str) -> bool:
    await term.type(CLEAR + text)
    return await shows(s, term, pattern)


async def shows(s: Subject, term: TerminalView, pattern: str) -> bool:
    """Waits for a text on the screen; False if its program broke first, which only a fault explains."""

    def found(view: TerminalView) -> bool:
        return view.closed is not None or view.exit_code is not None or bool(re.search(pattern, view.text()))

    if not s.tainted:
        await term.until_text(pattern)
        return True
    with trio.move_on_after(PATIENCE):
        await term.until(found)
        return bool(re.search(pattern, term.text()))
    return False


async def _turn_in_chat(s: Subject) -> None:
    shape = s.rng.choice(["{}", "think: {}", "run: echo {}", "slow 0.3 {}", "fail: {}"])
    text = shape.format(s.ledger.fresh())
    await s.do("PUT", "/chat/permission-mode", {"mode": "auto"})
    async with s.chat() as chat:
        before = len(chat.of("turn.end"))
        await prompt(s, text)
        stop = await _turn_ends(s, chat, before + 1)
    s.bereft = False
    s.tell(f"turn in the chat: {text}: {stop}")
    if not s.tainted:
        must(stop == ("error" if "fail" in shape else "end_turn"), f"a sound agent's turn ended: {stop}")
    if stop == "end_turn" or not s.tainted:
        s.ledger.kept(text)


async def _turn_ends(s: Subject, chat: ChatView, count: int) -> str:
    """The stop reason; a turn of a broken agent that does not end is cancelled, and then it must."""
    if s.tainted:
        with trio.move_on_after(PATIENCE):
            return str((await chat.until_turns_ended(count))["stopReason"])
        await s.do("POST", "/chat/cancel")
    return str((await chat.until_turns_ended(count))["stopReason"])


async def prompt(s: Subject, text: str) -> bool:
    """Sends a chat message; whether it was queued."""
    status, body = await s.ask("POST", "/chat/prompts", {"text": text, "mode": "auto"})
    must(status == 200 and body["queued"] == ("itemId" in body), f"prompt: {status} {body}")
    if body["queued"]:
        s.ledger.queued(text)
    else:
        s.ledger.sent(text)
    return bool(body["queued"])


async def calm(s: Subject) -> None:
    """No turn runs in the chat any more: one that outlived a refused switch is cancelled."""
    async with s.chat() as chat:
        if _runs(chat):
            await s.do("POST", "/chat/cancel")
        await chat.until(lambda v: not _runs(v), SOON)


def _runs(chat: ChatView) -> bool:
    turn = chat.state["turn"]
    return turn is not None and "endedAt" not in turn


async def drain(s: Subject) -> None:
    """What waits in the queue is sent or given up; no turn runs then."""
    await calm(s)
    if not s.ledger.waiting:
        return
    async with s.chat() as chat:
        if s.tainted or s.rng.random() < 0.5:
            await s.do("POST", "/chat/queue/clear")
            s.ledger.came_back()
        else:
            ends, texts = len(chat.of("turn.end")), list(s.ledger.waiting)
            await s.do("POST", "/chat/queue/resume")
            for text in texts:
                s.ledger.left_queue(text)
                s.ledger.kept(text)
            await chat.until_turns_ended(ends + len(texts))
        await chat.until(lambda v: not v.state["queue"]["items"])


# --- what is under way ---


async def under_way(s: Subject) -> UnderWay | None:
    """Something that runs, waits or was typed; often nothing. None: the session broke and has come back."""
    before = await _begun(s)
    if s.tainted and s.side == "tui" and await s.settle():
        return None
    return before


async def _begun(s: Subject) -> UnderWay:
    if s.restless or s.ledger.waiting or s.rng.random() < 0.45:
        return UnderWay("restless" if s.restless else "idle")
    if s.side == "tui":
        return await _in_terminal(s)
    await calm(s)
    kind = s.rng.choice([_slow_in_chat, _slow_in_chat, _asking_in_chat])
    return await kind(s)


async def _in_terminal(s: Subject) -> UnderWay:
    name, text, pattern = s.rng.choices(
        [
            ("slow", SLOW, "esc to interrupt"),
            ("asking", "run: echo {}", "Run this command"),
            ("hanging", "hang", "hanging"),
            ("unsent", "unsent {}", "unsent"),
        ],
        weights=[6, 3, 1 if s.with_faults else 0, 1],
    )[0]
    text = text.format(s.ledger.fresh())
    if name != "unsent":
        s.ledger.sent(text)
    async with s.client.terminal(s.sid) as term:
        if await shows(s, term, "ready"):
            await term.type(CLEAR + text, enter=name != "unsent")
            await shows(s, term, pattern)
    s.restless = name == "hanging"
    return UnderWay(name, [] if name == "unsent" else [text], sound=not s.tainted)


async def _slow_in_chat(s: Subject) -> UnderWay:
    text = SLOW.format(s.ledger.fresh())
    async with s.chat() as chat:
        answers = len(chat.of("message.append"))
        await prompt(s, text)
        early = s.rng.random() < 0.5
        sound = not s.tainted and not (early and s.bereft)  # a dying connector may have taken it along
        s.bereft = False
        if not early and not s.tainted:
            await chat.until(lambda v: len(v.of("message.append")) > answers + 1)
    for _ in range(s.rng.choice([0, 0, 1, 2])):
        await prompt(s, s.ledger.fresh())
    return UnderWay(f"slow and {len(s.ledger.waiting)} queued", [text], sound=sound, early=early)


async def _asking_in_chat(s: Subject) -> UnderWay:
    text = f"run: echo {s.ledger.fresh()}"
    await s.do("PUT", "/chat/permission-mode", {"mode": "ask"})
    async with s.chat() as chat:
        await prompt(s, text)
        if not s.tainted:
            await chat.until_request()
    return UnderWay("asking", [text], sound=not s.tainted)
