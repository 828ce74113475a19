"""Every route and every upgrade: token, Origin, Host; and what a bad body gets."""

import os
import sys
from pathlib import Path

import pytest
import trio
import trio_websocket
from attrs import evolve

from hybridmux.faces.http.app import is_open
from tests.e2e.stage import file_of, record
from tests.support.client import Client

ROUTES = [
    ("GET", "/api/sessions"), ("POST", "/api/sessions"), ("GET", "/api/sessions/x"),
    ("PATCH", "/api/sessions/x"), ("DELETE", "/api/sessions/x"), ("POST", "/api/sessions/x/switch"),
    ("POST", "/api/sessions/x/resume"), ("POST", "/api/sessions/x/chat/prompts"),
    ("POST", "/api/sessions/x/chat/cancel"), ("PATCH", "/api/sessions/x/chat/queue/q"),
    ("DELETE", "/api/sessions/x/chat/queue/q"), ("POST", "/api/sessions/x/chat/queue/q/send-now"),
    ("POST", "/api/sessions/x/chat/queue/resume"), ("POST", "/api/sessions/x/chat/queue/clear"),
    ("POST", "/api/sessions/x/chat/requests/r"), ("PUT", "/api/sessions/x/chat/config/c"),
    ("PUT", "/api/sessions/x/chat/permission-mode"), ("GET", "/api/hybrid-sessions"),
    ("GET", "/api/hybrid-sessions/x"), ("DELETE", "/api/hybrid-sessions/x"), ("GET", "/api/launch-configs"),
    ("POST", "/api/launch-configs"), ("GET", "/api/launch-configs/x"), ("PUT", "/api/launch-configs/x"),
    ("DELETE", "/api/launch-configs/x"), ("POST", "/api/launch-configs/hybrid-support"),
    ("GET", "/api/openapi.json"), ("POST", "/api/logout"), ("GET", "/metrics"),
]  # fmt: skip
OPEN = [("GET", "/"), ("GET", "/healthz"), ("POST", "/api/login"), ("GET", "/s/x"), ("GET", "/nothing")]
SOCKETS = ["/ws/s/x", "/ws/s/x/chat", "/ws/events"]


def evil_origins(client: Client) -> list[str]:
    """Pages that are not ours."""
    return [
        "https://evil.example",
        "null",
        f"http://{client.host}:{client.port + 1}",
        f"https://{client.host}:{client.port}",
        f"http://localhost:{client.port}",
    ]


async def upgrade(client: Client, path: str, headers: dict[str, str | None]) -> int:
    """The status that an upgrade is refused with."""
    try:
        async with client.socket(path, headers=headers):
            raise AssertionError("it was accepted")
    except* trio_websocket.ConnectionRejected as group:
        exc: BaseException = group
        while isinstance(exc, BaseExceptionGroup):
            exc = exc.exceptions[0]
        return_value = exc.status_code
    return return_value


def test_the_lists_above_are_whole():
    """The app's own table of routes, so that no new route is missed."""
    from hybridmux.faces.http.app import make_app
    from hybridmux.faces.http.context import Context

    app = make_app(Context(*[_Anything()] * 7))
    table = {
        (method, str(rule.rule))
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert {(m, _shape(p)) for m, p in table if not p.startswith("/ws")} == {
        (m, _shape(p)) for m, p in [*ROUTES, *OPEN]
    }
    assert {_shape(p) for _, p in table if p.startswith("/ws")} == {_shape(p) for p in SOCKETS}
    assert all(is_open(path) is ((method, path) in OPEN) for method, path in [*ROUTES, *OPEN])


class _Anything:
    """Stands for a part of the server that making the app does not touch."""

    def __getattr__(self, _: str) -> "_Anything":
        return self


def _shape(path: str) -> str:
    """A path with its variables blanked: `<session_id>` in the table, one letter in the lists above."""
    parts = [
        "*" if part.startswith("<") or len(part) == 1 or part == "nothing" else part
        for part in path.split("/")
    ]
    return "/".join(parts)


async def test_token_origin_and_host_on_every_route(server):
    async with server() as running:
        client = running.client
        for method, path in ROUTES:
            status, headers, body = await client.request(method, path, headers={"Authorization": None})
            assert (status, b"error" in body) == (401, True), path
            assert headers["content-type"] == "application/json", path
            status, _, _ = await client.request(method, path, headers={"Authorization": "Bearer wrong"})
            assert status == 401, path
        for method, path in [*ROUTES, *OPEN]:
            for origin in evil_origins(client):
                status, _, _ = await client.request(method, path, headers={"Origin": origin})
                assert status == 403, (path, origin)
            for host in (f"evil.example:{client.port}", "", "[", "127.0.0.1.evil.example"):
                status, _, _ = await client.request(method, path, headers={"Host": host})
                assert status == 400, (path, host)


async def test_token_origin_and_host_on_every_upgrade(server):
    async with server() as running:
        client = running.client
        for path in SOCKETS:
            assert await upgrade(client, path, {"Authorization": None}) == 401
            assert await upgrade(client, path, {"Authorization": "Bearer wrong"}) == 401
            for origin in evil_origins(client):
                assert await upgrade(client, path, {"Origin": origin}) == 403
            async with client.socket(path, headers={"Origin": f"http://{client.host}:{client.port}"}):
                pass


async def test_the_token_as_a_subprotocol_and_as_a_cookie(server):
    async with server() as running:
        client = running.client
        offered = ["hybridmux.v1", f"hybridmux.bearer.{client.token}"]
        async with client.socket("/ws/events", headers={"Authorization": None}, subprotocols=offered) as ws:
            assert ws.subprotocol == "hybridmux.v1"
        body = {"token": client.token}
        status, headers, _ = await client.request("POST", "/api/login", body, headers={"Authorization": None})
        assert status == 204
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert client.token not in cookie
        sent = {"Authorization": None, "Cookie": cookie.split(";")[0]}
        assert (await client.request("GET", "/api/sessions", headers=sent))[0] == 200


async def test_failed_logins_are_limited(server):
    async with server() as running:
        client = running.client
        statuses = [
            (await client.request("POST", "/api/login", {"token": "x"}, headers={"Authorization": None}))[0]
            for _ in range(12)
        ]
        assert statuses == [401] * 10 + [429] * 2


BAD_BODIES = [
    ("POST", "/api/sessions", {}, "give either configId or cmd"),
    ("POST", "/api/sessions", {"cmd": "ls"}, "cmd must be a list"),
    ("POST", "/api/sessions", {"cmd": []}, "cmd"),
    ("POST", "/api/sessions", {"cmd": ["a\0b"]}, "cmd"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "cwd": "/not/there"}, "cwd"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "startSide": "tui"}, "startSide"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "startside": "tui"}, "unknown field startside"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "cols": 1.5}, "cols must be a whole number"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "cols": True}, "cols must be a whole number"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "env": {"A": 1}}, "env.A must be a string"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "env": {"A=B": "x"}}, "env.A=B"),
    ("POST", "/api/sessions", {"cmd": ["ls"], "env": {"": "x"}}, "env."),
    ("POST", "/api/sessions", {"cmd": ["ls"], "env": {"A": "\0"}}, "env.A"),
    ("POST", "/api/sessions", [], "must be an object"),
    ("POST", "/api/launch-configs", {"name": "x", "cmd": ["vim"], "hybrid": True}, "unknown_agent"),
    (
        "POST",
        "/api/launch-configs",
        {"name": "x", "cmd": ["vim"], "hybridSupport": {}},
        "unknown field hybridSupport",
    ),
    ("POST", "/api/launch-configs", {"name": "", "cmd": ["vim"]}, "name"),
    ("POST", "/api/launch-configs", {"name": "x", "cmd": ["vim"], "env": {"A=B": ""}}, "env.A=B"),
    ("GET", "/api/hybrid-sessions?state=all", None, "state"),
]


@pytest.mark.parametrize(("method", "path", "body", "words"), BAD_BODIES)
async def test_a_bad_body_is_400_and_names_the_field(server, method, path, body, words):
    async with server() as running:
        answer = await running.client.call(method, path, body, status=400)
        assert words in answer["error"]


async def test_bad_commands_of_a_chat_leave_it_alive(server):
    async with server() as running:
        client = running.client
        sid = (await client.demo_session("acp"))["id"]
        base = f"/api/sessions/{sid}"
        ok = "a" * 8
        cases = [
            ("POST", f"{base}/chat/prompts", {"text": "x", "mode": "auto"}, 400),
            ("POST", f"{base}/chat/prompts", {"clientRequestId": "short", "text": "x", "mode": "auto"}, 400),
            ("POST", f"{base}/chat/prompts", {"clientRequestId": ok, "text": "x", "mode": "later"}, 400),
            ("POST", f"{base}/chat/prompts", {"clientRequestId": ok, "text": " ", "mode": "auto"}, 400),
            (
                "POST",
                f"{base}/chat/prompts",
                {"clientRequestId": ok, "text": "x" * 70_000, "mode": "auto"},
                413,
            ),
            (
                "POST",
                f"{base}/chat/requests/r-none",
                {"clientRequestId": "b" * 8, "outcome": "cancelled"},
                409,
            ),
            ("DELETE", f"{base}/chat/queue/none", {"clientRequestId": "c" * 8}, 409),
            ("PUT", f"{base}/chat/config/none", {"clientRequestId": "d" * 8, "value": "x"}, 404),
            ("PUT", f"{base}/chat/permission-mode", {"clientRequestId": "e" * 8, "mode": "never"}, 400),
            ("POST", f"{base}/switch", {"clientRequestId": "f" * 8}, 400),
            ("POST", f"{base}/switch", {"clientRequestId": "g" * 8, "choice": "force"}, 409),
            ("POST", f"{base}/switch", {"clientRequestId": "h" * 8, "to": "tui", "agentSessionId": "x"}, 400),
        ]
        for method, path, body, status in cases:
            await client.call(method, path, body, status=status)
        for raw, kind, status in ((b"{", "application/json", 400), (b"{}", "text/plain", 415)):
            got = await client.request("POST", f"{base}/chat/cancel", raw=raw, headers={"Content-Type": kind})
            assert got[0] == status
        big = await client.request("POST", f"{base}/chat/prompts", raw=b"x" * (2**20 + 1))
        assert big[0] == 413
        assert (await client.request("PUT", "/api/sessions"))[0] == 405
        async with client.chat(sid) as chat:
            await client.prompt(sid, "alive")
            await chat.until_turns_ended(1)
            assert ("agent", "echo: alive") in chat.messages()


async def test_a_repeat_gets_the_first_answer_and_runs_nothing(server):
    async with server() as running:
        client = running.client
        sid = (await client.demo_session("acp"))["id"]
        path = f"/api/sessions/{sid}/chat/prompts"
        body = {"clientRequestId": "once-only-1", "text": "hello", "mode": "auto"}
        async with client.chat(sid) as chat:
            answers = [await client.post(path, body) for _ in range(3)]
            assert answers == [{"queued": False}] * 3
            await chat.until_turns_ended(1)
            assert [text for role, text in chat.messages() if role == "user"] == ["hello"]
            await client.post(path, {**body, "text": "other"}, status=400)


@pytest.mark.parametrize("hybrid", [False, True])
async def test_a_program_that_is_not_there_is_502_and_leaves_no_session(server, hybrid):
    async with server() as running:
        client = running.client
        cmd = ["/nonexistent/opencode"] if hybrid else ["/nonexistent/program"]
        config = await client.post("/api/launch-configs", {"name": "x", "cmd": cmd, "hybrid": hybrid})
        answer = await client.post("/api/sessions", {"configId": config["id"]}, status=502)
        assert "/nonexistent/" in answer["error"]
        assert await client.get("/api/sessions") == []
        assert await client.get("/api/hybrid-sessions") == []


async def test_odd_queries_and_paths_are_no_failure(server):
    async with server() as running:
        client = running.client
        sid = (await client.demo_session("acp"))["id"]
        for query in ("?seq=%C2%B2&generation=x", "?seq=-1", "?seq=" + "9" * 40, "?generation=%00&seq=1"):
            async with client.chat(sid, query) as chat:
                assert chat.snapshot["state"]["side"] == "acp"
        assert (await client.request("GET", "/assets/" + "a" * 5000))[0] == 404
        assert "Traceback" not in running.log()


async def test_a_port_and_a_folder_that_are_taken(server, tmp_path):
    async with server() as running:
        program = Path(sys.executable).parent / "hybridmux"
        for args, words in (
            (["--port", str(running.client.port), "--data", str(tmp_path / "other")], "cannot listen on"),
            (["--port", "0", "--data", str(running.data)], "is in use by another hybridmux server"),
        ):
            done = await trio.run_process([program, "serve", *args], capture_stderr=True, check=False)
            assert done.returncode == 2
            assert words in done.stderr.decode()
            assert done.stderr.decode().count("\n") == 1


@pytest.mark.parametrize("hybrid", [True, False])
async def test_a_folder_that_no_folder_can_be_called_is_400(server, hybrid):
    async with server() as running:
        client = running.client
        for cwd in ("/a\0b", "\0", "~nobody-here/x", "/" + "x" * 5000, "x" * 300, "/etc/passwd/x"):
            config = {"name": "demo", "cmd": ["hybridmux-demo", "tui"], "hybrid": hybrid, "cwd": cwd}
            made = await client.post("/api/launch-configs", config)
            for body in ({"configId": made["id"]}, {"cmd": ["ls"], "cwd": cwd}):
                answer = await client.call("POST", "/api/sessions", body, status=400)
                assert answer["error"].startswith("cwd "), cwd


async def test_a_home_folder_that_is_not_utf_8_is_none_to_start_in(server, tmp_path):
    home = os.fsdecode(os.fsencode(tmp_path) + b"/h_\xff")
    await trio.Path(home).mkdir()
    async with server(env={"HOME": home}) as running:
        client = running.client
        answer = await client.call("POST", "/api/sessions", {"cmd": ["ls"]}, status=400)
        assert "not UTF-8" in answer["error"]
        shell = await client.post("/api/sessions", {"cmd": ["true"], "cwd": "/"})
        assert shell["cwd"] == "/"


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"cwd": "/a\0b"}, 409, "is not there"),
        ({"cwd": "/" + "x" * 5000}, 409, "File name too long"),
        ({"cmd": ["/bin\0/hybridmux-demo", "tui"]}, 502, "hybridmux-demo"),
    ],
)
async def test_a_record_that_names_no_path_is_refused(server, tmp_path, change, status, words):
    (tmp_path / "data").mkdir(mode=0o700)
    old = evolve(record("r", "demo", "hybridmux-demo", "tui"), **change)
    (tmp_path / "data" / "hybrid-sessions.json").write_bytes(file_of([old]))
    async with server() as running:
        answer = await running.client.command(
            "POST", "/api/sessions/r/resume", {"confirmWithoutEnv": True}, status=status
        )
        assert words in answer["error"]
