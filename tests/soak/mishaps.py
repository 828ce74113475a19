"""What else happens to a session: it is closed, its processes are killed, requests come to the wrong side."""

from tests.soak import contract
from tests.soak.contract import must
from tests.soak.subject import SOON, Subject, ended_info
from tests.soak.turns import UnderWay, calm, under_way
from tests.support.client import TerminalView
from tests.support.talk import until_info


async def close_and_resume(s: Subject) -> None:
    """Closed as a person does, perhaps in a turn, and brought back."""
    s.figures.operations["close"] += 1
    before = await under_way(s)
    if before is None:
        return
    status, body = await s.client.ask("DELETE", f"/api/sessions/{s.sid}")
    s.tell(f"close, {before.what}: {status}")
    must(status == 204, f"close: {status} {body}")
    before.settle(s, killed=before.early or before.what in ("hanging", "restless"))
    record = await s.client.get(f"/api/hybrid-sessions/{s.sid}")
    must(record["state"] == "closed", f"closed, but {record}")
    must(s.processes() == [], f"processes of a closed session: {s.processes()}")
    await s.settle()


async def kill_side(s: Subject) -> None:
    """Its program or its connector gets SIGKILL."""
    s.figures.operations[f"kill {s.side}"] += 1
    await (_kill_terminal(s) if s.side == "tui" else _kill_connector(s))


async def _kill_terminal(s: Subject) -> None:
    before = await under_way(s)
    if before is None:
        return
    for one in s.processes("tui"):
        one.kill()
    ended = await until_info(s.client, s.sid, ended_info, SOON)
    s.tell(f"terminal killed, {before.what}: {ended['hybrid']['state']}")
    # A broken one may have ended in peace before.
    state = ended["hybrid"]["state"]
    must(state == "interrupted" or s.tainted, f"its terminal was killed: {state}")
    before.settle(s, killed=True)
    await s.settle()


async def _kill_connector(s: Subject) -> None:
    """The running turn ends in an error, and the next message starts another connector."""
    before = await under_way(s) or UnderWay()
    async with s.chat() as chat:
        told = len([e for e in chat.of("notice") if e["code"] == "agent_gone"])
        alive = s.processes("acp")
        for one in alive:
            one.kill()
        if alive and not s.tainted:
            await chat.until(
                lambda v: len([e for e in v.of("notice") if e["code"] == "agent_gone"]) > told, SOON
            )
    s.tell(f"connector killed, {before.what}: {len(alive)}")
    before.settle(s, killed=True)
    await calm(s)
    s.tainted, s.bereft = s.tainted and not alive, True
    await s.settle()


async def wrong_side(s: Subject) -> None:
    """Requests that do not fit are refused with the right word and change nothing."""
    s.figures.operations["wrong side"] += 1
    s.tell("requests that do not fit")
    if s.side == "tui":
        contract.refused(
            *await s.ask("POST", "/chat/prompts", {"text": "no", "mode": "auto"}), "wrong_side", "prompt"
        )
        contract.refused(*await s.ask("POST", "/chat/cancel"), "wrong_side", "cancel")
        contract.refused(*await s.ask("POST", "/chat/queue/clear"), "wrong_side", "clear")
    else:
        async with s.client.socket(f"/ws/s/{s.sid}") as ws, TerminalView(ws).reading() as viewer:
            code, _ = await viewer.until_closed(SOON)
        must(code == 4409, f"a terminal viewer on the chat side: {code}")
    contract.refused(*await s.ask("POST", "/switch", {"choice": "force"}), "answered", "choice")
    contract.refused(*await s.ask("POST", "/resume"), None, "resume of an active session")
    contract.refused(
        *await s.client.ask("DELETE", f"/api/hybrid-sessions/{s.sid}"), None, "removing an active record"
    )
    status, body = await s.ask("POST", "/switch", {"to": s.side})
    must(status == 200 and body["side"] == s.side, f"to where it is: {status} {body}")
    must((await s.ask("POST", "/switch", {"to": "nowhere"}))[0] == 400, "a bad side is a 400")
    await s.settle()
