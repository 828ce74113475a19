"""Recordings of ACP conversations, played again through our peer and translation.

    python -m tests.acp.replay FILE...            the folded timeline of each, as JSON
    python -m tests.acp.replay --write FILE...    writes it beside each as FILE.golden.json

A recording has one JSON object a line: `{"t": seconds, "dir": "client"|"agent", "msg": message}`; lines of
other kinds are skipped. The client's requests are sent again in order, under our ids, and the agent's
messages are given to the peer as they are but for the ids of its answers.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import trio
from attrs import define, field
from trio.testing import wait_all_tasks_blocked

from hybridmux.acp.calls import Call, RpcError
from hybridmux.acp.fold import Timeline
from hybridmux.acp.jsonrpc import Peer, open_peer
from hybridmux.acp.messages import describe, read_form, read_permission, trouble
from hybridmux.acp.translate import Translator
from tests.acp.streams import stream_pair

OPENING = ("session/new", "session/load", "session/resume", "session/set_config_option")
ASKED = ("session/request_permission", "elicitation/create")


@define(eq=False)
class Incoming:
    """A request of the agent that waits for the recorded answer."""

    request_id: str
    done: trio.Event = field(factory=trio.Event)
    answer: dict = field(factory=dict)


@define(eq=False)
class Replay:
    """What one recording became. `problems` must be empty."""

    timeline: Timeline = field(factory=Timeline)
    translator: Translator = field(factory=Translator)
    events: list[dict] = field(factory=list)
    notifications: Counter = field(factory=Counter)
    """Notifications of other kinds than `session/update`."""
    unanswered: list[str] = field(factory=list)
    """Requests of ours that the recording has no answer for."""
    problems: list[str] = field(factory=list)
    _calls: dict[Any, Call] = field(factory=dict)
    _asking: list[str] = field(factory=list)
    """Ids of the agent's requests whose handlers have not begun."""
    _open: dict[str, Incoming] = field(factory=dict)
    _asked: int = 0

    def take(self, events: list[dict]) -> None:
        for event in events:
            whole = {**event, "seq": self.timeline.seq + 1}
            self.events.append(whole)
            self.timeline.apply(whole)

    def notified(self, method: str, params: Any) -> None:
        if method != "session/update":
            self.notifications[method] += 1
            return
        self.take(self.translator.feed(params))
        if words := trouble(params.get("update") if isinstance(params, dict) else None):
            self.take([{"type": "notice", "level": "error", "code": "trouble", "text": words}])

    async def asked(self, params: Any) -> Any:
        """A request of the agent: shown, and answered when the recording does."""
        incoming = Incoming(f"r{self._asked}")
        self._asked += 1
        self._open[self._asking.pop(0)] = incoming
        permission = read_permission(params)
        is_form = "requestedSchema" in params
        opened = {
            "type": "request.open",
            "requestId": incoming.request_id,
            "kind": "form" if is_form else "permission",
            "title": read_form(params).message if is_form else permission.title,
        }
        if not is_form:
            opened["options"] = [
                {"optionId": one.option_id, "name": one.name, "kind": one.kind} for one in permission.options
            ]
            self.take(self.translator.permission(permission.tool_call))
        self.take([opened])
        await incoming.done.wait()
        error = incoming.answer.get("error")
        if error is not None:
            raise RpcError(error.get("code", 0), error.get("message", ""))
        return incoming.answer.get("result")

    def answer(self, message: dict) -> None:
        """What the recorded client answered."""
        incoming = self._open.pop(json.dumps(message.get("id")), None)
        if incoming is None:
            return
        incoming.answer = message
        incoming.done.set()
        result = message.get("result")
        result = result if isinstance(result, dict) else {}
        outcome = result.get("outcome")
        outcome = outcome.get("outcome") if isinstance(outcome, dict) else result.get("action", "error")
        self.take([{"type": "request.close", "requestId": incoming.request_id, "outcome": outcome}])

    def client(self, peer: Peer, message: dict) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            self.answer(message)
        elif "id" not in message:
            peer.notify(method, params)
        else:
            if method == "session/prompt" and isinstance(params, dict):
                self._said(params)
            self._calls[json.dumps(message["id"])] = peer.start(method, params)

    def _said(self, params: Any) -> None:
        prompt = params.get("prompt")
        blocks = [one for one in (prompt if isinstance(prompt, list) else []) if isinstance(one, dict)]
        words = "\n".join(str(one["text"]) for one in blocks if one.get("type") == "text")
        others = [
            {"name": str(one.get("type")), "mime": str(one.get("mimeType")), "size": 0}
            for one in blocks
            if one.get("type") != "text"
        ]
        self.take(self.translator.user_message(words, others))

    async def answered(self, key: str) -> None:
        """What the answer to one of our requests adds."""
        call = self._calls.pop(key)
        try:
            result = await call.result()
        except RpcError as error:
            code = f"{call.method} {error.code}"
            self.take([{"type": "notice", "level": "error", "code": code, "text": describe(error)}])
            return
        if call.method in OPENING:
            self.take(self.translator.config_from_result(result))
        elif call.method == "session/prompt":
            self.take(self.translator.flush())
            reason = (result or {}).get("stopReason")
            self.take([{"type": "turn.end", "startedAt": "", "endedAt": "", "stopReason": reason}])

    def finish(self, peer: Peer) -> None:
        self.take(self.translator.flush())
        self.unanswered = sorted(one.method for one in self._calls.values())
        self.problems += [f"ignored update: {kind}" for kind in self.translator.ignored]
        self.problems += list(peer.notes)


def recorded(lines: list[bytes], problems: list[str]) -> Iterator[tuple[str, dict]]:
    """Who sent what, in order."""
    for number, line in enumerate(lines, 1):
        try:
            one = orjson.loads(line)
        except orjson.JSONDecodeError:
            one = None
        if not isinstance(one, dict):
            problems.append(f"line {number} of the recording is no JSON object")
        elif one.get("dir") in ("client", "agent") and isinstance(one.get("msg"), dict):
            yield one["dir"], one["msg"]


async def replay(lines: list[bytes]) -> Replay:
    """Plays a recording."""
    played = Replay()
    ours, agent = stream_pair()
    requests = dict.fromkeys(ASKED, played.asked)
    async with open_peer(ours, notified=played.notified, requests=requests) as peer:
        for who, message in recorded(lines, played.problems):
            if who == "client":
                played.client(peer, message)
                continue
            key = json.dumps(message.get("id"))
            if message.get("method") in ASKED and "id" in message:
                played._asking.append(key)
            answers = "method" not in message and key in played._calls
            if "method" not in message and message.get("id") is None:
                # The answer to a line that was no JSON, which a recording holds as something else.
                continue
            own_id = {"id": played._calls[key].id} if answers else {}
            ours.feed(orjson.dumps({**message, **own_id}) + b"\n")
            await wait_all_tasks_blocked()
            if answers:
                await played.answered(key)
        agent.peer.end()
        await peer.closed.wait()
        played.finish(peer)
    return played


def golden(played: Replay) -> dict:
    """What a golden holds: the timeline and the rest of what a person sees, long lists only counted."""
    state = played.timeline.state
    options = [{"id": one["id"], "value": one["value"]} for one in state["options"]]
    return {
        "timeline": [_readable(one) for one in played.timeline.items()],
        "state": {**state, "options": options, "commands": [one["name"] for one in state["commands"]]},
        "events": dict(sorted(Counter(one["type"] for one in played.events).items())),
        "notifications": dict(played.notifications),
        "unanswered": played.unanswered,
        "problems": played.problems,
    }


def _readable(item: dict) -> dict:
    """Messages with their text in one field, turns without the times that a recording does not have."""
    if item["kind"] == "turn":
        return {"role": item["role"], "kind": "turn", "stopReason": item["stopReason"]}
    if item["kind"] != "message":
        return item
    texts = [one["text"] for one in item["content"] if one["type"] == "text"]
    others = [one for one in item["content"] if one["type"] != "text" or "truncated" in one]
    shown = {"role": item["role"], "kind": "message", "text": "".join(texts)}
    return {**shown, "others": others} if others else shown


def golden_of(path: Path) -> dict:
    """Replays a file."""
    return golden(trio.run(replay, path.read_bytes().splitlines()))


def main(argv: list[str]) -> int:
    write = argv[:1] == ["--write"]
    bad = 0
    for name in argv[write:]:
        found = golden_of(Path(name))
        bad += bool(found["problems"])
        text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        if write:
            Path(name).with_suffix(".golden.json").write_text(text)
        else:
            print(text, end="")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
