"""A terminal whose program was killed: those who look get their own terminals back."""

import shlex

import pytest
import trio

from tests.support.client import Client, TerminalView
from tests.support.leaks import processes

ALTERNATE, BACK = b"\x1b[?1049h", b"\x1b[?1049l"


async def drawn(client: Client, sid: str, term: TerminalView) -> None:
    """The demo agent's terminal after a turn, on its alternate screen."""
    await term.until_text("ready")
    await term.submit("hello")
    await term.until_text("echo: hello")
    assert term.data.count(ALTERNATE) == 1
    assert BACK not in term.data


def put_back(term: TerminalView) -> None:
    """Once, after everything else, and before the exit was told."""
    assert term.data.count(BACK) == 1
    assert b"\x1b[?2004l" in term.data
    assert term.data.endswith(b"\x1b[m")
    assert term.offset == len(term.data)


@pytest.mark.parametrize("number", [9, 15])
async def test_a_killed_agent(server, number):
    async with server() as running:
        client = running.client
        sid = (await client.demo_session())["id"]
        async with client.terminal(sid) as term:
            await drawn(client, sid, term)
            (tui,) = [one for one in processes(running.data, sid) if one.side == "tui"]
            await trio.run_process(["kill", f"-{number}", str(tui.pid)])
            assert (await term.until_closed())[0] == 4410
            assert [frame["type"] for frame in term.frames][-1] == "exit"
            assert term.data.count(BACK) == 1
            if number == 9:  # on SIGTERM it cleans up itself
                put_back(term)


async def test_a_killed_ordinary_terminal(server):
    async with server() as running:
        client = running.client
        script = r"printf '\033[?1049h\033[?2004h\033[>1udrawn'; exec sleep 100"
        sid = (await client.post("/api/sessions", {"cmd": ["sh", "-c", script]}))["id"]
        async with client.terminal(sid) as term, client.terminal(sid) as second:
            await term.until_text("drawn")
            for one in processes(running.data, sid):
                one.kill()
            for view in (term, second):
                assert (await view.until_closed())[0] == 4410
                assert view.frames[-1]["type"] == "exit"
                assert bytes(view.data).endswith(b"drawn\x1b[?2004l\x1b[<1u\x1b[?1049l\x1b[m")
        script = shlex.join(["printf", r"\033[?1049h"])
        sid = (await client.post("/api/sessions", {"cmd": ["sh", "-c", f"{script}; exec sleep 100"]}))["id"]
        async with client.terminal(sid) as term:
            await term.until(lambda v: ALTERNATE in v.data)
            await client.delete(f"/api/sessions/{sid}")
            await term.until_closed()
            assert bytes(term.data) == ALTERNATE + BACK + b"\x1b[m"
