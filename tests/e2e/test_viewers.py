"""Viewers of one terminal: every byte to those who read, an end for those who do not."""

import hashlib
import json
import shlex
import socket
import sys

import pytest
import trio
import trio_websocket

from tests.support.client import Client

FLOOD = """
import hashlib, os, sys
sys.stdin.readline()
block = b''.join(b'%07d\\n' % i for i in range(8192))
left = int(sys.argv[1])
while left > 0:
    left -= os.write(1, block[:left])
print('END')
sys.stdin.readline()
"""

PAINTER = r"""
import os, signal, sys
def paint(*_):
    print(f'\x1b[1;1HHEADER {os.get_terminal_size().lines} rows\x1b[K', end='', flush=True)
print('\x1b[?1049h\x1b[?2004h\x1b[?1003h\x1b[?1h\x1b[2;22r', end='')
paint()
signal.signal(signal.SIGWINCH, paint)
for line in sys.stdin:
    print(''.join(f'\x1b[{2 + i % 20};1Hline {i} {"x" * 60}\x1b[K' for i in range(16000)), end='')
    print('\x1b[23;1HDONE', end='', flush=True)
"""
"""Draws its header once, and again when the size changes; lines below it after each line of input."""


async def flooding(client: Client, megabytes: int) -> str:
    """A terminal that writes so much after a line of input."""
    cmd = [sys.executable, "-c", FLOOD, str(megabytes * 1_000_000)]
    cmd = ["sh", "-c", f"stty -opost -echo; exec {shlex.join(cmd)}"]
    return (await client.post("/api/sessions", {"cmd": cmd}))["id"]


def silent_viewer(client: Client, sid: str, query: str = "") -> socket.socket:
    """A WebSocket client that never reads after its handshake."""
    sock = socket.create_connection((client.host, client.port))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.sendall(
        f"GET /ws/s/{sid}{query} HTTP/1.1\r\nHost: {client.host}:{client.port}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {client.token}\r\n\r\n".encode()
    )
    return sock


async def server_rss(client: Client) -> int:
    """Bytes."""
    return (await client.metrics())["process_resident_memory_bytes"]


@pytest.mark.timeout(180)
async def test_a_viewer_that_never_reads(server):
    megabytes = 200
    async with server(config="") as running:
        client = running.client
        sid = await flooding(client, megabytes)
        async with client.socket(f"/ws/s/{sid}") as reader:
            sock = silent_viewer(client, sid)
            digest, size = hashlib.sha256(), 0
            before = await server_rss(client)
            await reader.send_message(b"\n")
            began = trio.current_time()
            while size < megabytes * 1_000_000:
                message = await reader.get_message()
                if isinstance(message, bytes):
                    part = message[: megabytes * 1_000_000 - size]
                    digest.update(part)
                    size += len(part)
            assert await server_rss(client) - before < 8 * 2**20
            block = b"".join(b"%07d\n" % i for i in range(8192))
            whole = (block * (megabytes * 1_000_000 // len(block) + 1))[: megabytes * 1_000_000]
            assert digest.hexdigest() == hashlib.sha256(whole).hexdigest()
            while (await client.metrics())["hybridmux_viewers"] > 1:
                assert trio.current_time() - began < 60
                await trio.sleep(0.2)
            sock.close()


@pytest.mark.timeout(120)
async def test_a_stuck_viewer_does_not_hold_the_stop(server):
    async with server() as running:
        client = running.client
        sid = await flooding(client, 50)
        sock = silent_viewer(client, sid)
        async with client.socket(f"/ws/s/{sid}") as reader:
            await reader.send_message(b"\n")
            size = 0
            while size < 20_000_000:
                message = await reader.get_message()
                size += len(message) if isinstance(message, bytes) else 0
        began = trio.current_time()
        assert await running.stop() == 0
        assert trio.current_time() - began < 8
        sock.close()


async def test_acknowledged_flow_is_bounded_and_ends_with_4408(server):
    async with server(config="[budgets]\nviewer_stall = 1.5\n") as running:
        client = running.client
        sid = await flooding(client, 20)
        async with client.terminal(sid, "?flow=ack") as term:
            await term.send(b"\n")
            code, _ = await term.until_closed()
            assert code == 4408
            assert len(term.data) <= 1 * 2**20


async def test_a_viewer_goes_on_from_its_offset(server):
    async with server() as running:
        client = running.client
        sid = (await client.post("/api/sessions", {"cmd": ["cat"]}))["id"]
        async with client.terminal(sid) as term:
            await term.type("first\n", enter=False)
            await term.until_text("first\nfirst")
            epoch, offset = term.hello["epoch"], term.offset
        async with client.terminal(sid, f"?epoch={epoch}&offset={offset}") as term:
            assert term.hello["reset"] is False
            assert term.hello["offset"] == offset
            await term.type("second\n", enter=False)
            await term.until_text("second\nsecond")
            assert "first" not in term.text()
        async with client.terminal(sid, f"?epoch=other&offset={offset}") as term:
            assert term.hello["reset"] is True
            await term.until_text("first\nfirst")


async def test_one_who_comes_late_sees_what_was_drawn_before_the_rest_of_the_output(server):
    async with server(config="[budgets]\nscrollback_bytes = 1000000\n") as running:
        client = running.client
        cmd = ["sh", "-c", f"stty -echo; exec {shlex.join([sys.executable, '-c', PAINTER])}"]
        sid = (await client.post("/api/sessions", {"cmd": cmd}))["id"]
        async with client.terminal(sid, cols=80, rows=24) as one:
            await one.until_text("HEADER 24 rows")
            await one.send(b"\n")
            await one.until_text("DONE")
            async with client.terminal(sid, cols=80, rows=24) as two:
                assert two.hello["truncated"]
                assert two.hello["modes"] == "\x1b[?1049h\x1b[2;22r\x1b[?1003h\x1b[?2004h\x1b[?1h"
                await two.until(lambda v: b"HEADER 23 rows" in v.data)
                await two.until_text("HEADER 24 rows")
                await one.until(lambda v: v.text() == two.text())
                # The viewers are told nothing of the size in between.
                assert 23 not in [frame.get("rows") for frame in one.frames + two.frames]
            async with client.terminal(sid, cols=80, rows=24) as three:
                assert three.hello["modes"] == two.hello["modes"]
                await three.until(lambda v: v.text() == one.text())


async def test_the_end_of_a_program(server):
    async with server() as running:
        client = running.client
        sid = (await client.post("/api/sessions", {"cmd": ["sh", "-c", "read x; echo bye; exit 3"]}))["id"]
        async with client.terminal(sid) as term:
            await term.send(b"\n")
            assert await term.until_text_frame("exit") == {"type": "exit", "exitCode": 3}
            assert (await term.until_closed())[0] == 4410
            assert "bye" in term.text()
        info = await client.get(f"/api/sessions/{sid}")
        assert (info["status"], info["exitCode"]) == ("exited", 3)


async def test_close_codes(server):
    async with server() as running:
        client = running.client
        for path in ("/ws/s/nothere", "/ws/s/nothere/chat"):
            async with client.socket(path) as ws:
                with pytest.raises(trio_websocket.ConnectionClosed) as caught:
                    await ws.get_message()
                assert caught.value.reason.code == 4404
        sid = (await client.post("/api/sessions", {"cmd": ["cat"]}))["id"]
        async with client.socket(f"/ws/s/{sid}/chat") as ws:
            with pytest.raises(trio_websocket.ConnectionClosed) as caught:
                await ws.get_message()
            assert caught.value.reason.code == 4404


async def test_one_viewer_owns_the_size(server):
    async with server() as running:
        client = running.client
        sid = (await client.post("/api/sessions", {"cmd": ["sh", "-c", "while read x; do stty size; done"]}))[
            "id"
        ]
        async with client.terminal(sid, cols=120, rows=40) as one, client.socket(f"/ws/s/{sid}") as two:
            await two.send_message(json.dumps({"type": "resize", "cols": 60, "rows": 20}))
            await one.send(b"\n")
            await one.until_text("40 120")
            await two.send_message(b"\n")
            await one.until_text("20 60")
            await one.until(lambda v: {"type": "resize", "cols": 60, "rows": 20} in v.frames)


@pytest.mark.parametrize(
    "frame",
    ["", "{", "[]", "null", '{"type":"nothing"}', '{"type":"resize"}',
     '{"type":"resize","cols":"x","rows":1}', '{"type":"ack","offset":-1,"more":1}', "\u0000"],
)  # fmt: skip
async def test_a_bad_frame_ends_its_socket_and_nothing_else(server, frame):
    async with server() as running:
        client = running.client
        sid = (await client.post("/api/sessions", {"cmd": ["cat"]}))["id"]
        async with client.terminal(sid) as good:
            async with client.terminal(sid) as bad:
                await bad.ws.send_message(frame)
                assert (await bad.until_closed())[0] == 1003
            await good.type("alive\n", enter=False)
            await good.until_text("alive\nalive")
