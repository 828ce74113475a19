"""The HTTP face: a quart-trio app with every route, every socket and the checks before them."""

import logging
from pathlib import Path
from typing import Any

from quart import Response, request, send_from_directory, websocket
from quart.wrappers import Request, Websocket
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from hybridmux.budgets import BODY_READ
from hybridmux.errors import HybridmuxError, NotFound
from hybridmux.faces.http.auth import PROTOCOL, Credentials, is_open
from hybridmux.faces.http.chat import chat_routes
from hybridmux.faces.http.chat_socket import serve_chat, serve_list
from hybridmux.faces.http.context import Context, read_body, respond
from hybridmux.faces.http.contract import paths
from hybridmux.faces.http.metrics import render
from hybridmux.faces.http.sessions import config_routes, record_routes, session_routes
from hybridmux.faces.http.terminal_socket import serve_terminal
from hybridmux.faces.http.viewers import Close
from hybridmux.wire.openapi import document
from hybridmux.wire.types import LoginBody

log = logging.getLogger(__name__)
PAGE = Path(__file__).parents[2] / "web" / "static"
CSP = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
UNBUILT = "The page is not built. Start hybridmux with scripts/run, or build it in hybridmux/web.\n"


def make_app(context: Context) -> QuartTrio:
    """The app over one server's parts."""
    app = QuartTrio(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = BODY_READ
    for blueprint in (session_routes, record_routes, config_routes, chat_routes):
        app.register_blueprint(blueprint(context))
    _checks(app, context)
    _errors(app)
    _plain_routes(app, context)
    _sockets(app, context)
    _page(app)
    return app


def _brought(carrier: Request | Websocket, cookie_name: str) -> Credentials:
    protocols = getattr(carrier, "requested_subprotocols", [])
    return Credentials(
        authorization=carrier.headers.get("Authorization"),
        cookie=carrier.cookies.get(cookie_name),
        protocols=tuple(protocols),
    )


def _checks(app: QuartTrio, context: Context) -> None:
    def check(carrier: Request | Websocket) -> Response | None:
        try:
            context.gate.check_host(carrier.headers.get("Host"))
            context.gate.check_origin(carrier.headers.get("Origin"), carrier.headers.get("Host", ""))
            if not is_open(carrier.path):
                context.gate.check_token(_brought(carrier, context.cookie_name))
        except HybridmuxError as exc:
            return respond(exc.status, exc.body())
        return None

    @app.before_request
    async def before_request() -> Response | None:
        return check(request)

    @app.before_websocket
    async def before_websocket() -> Response | None:
        return check(websocket)

    @app.after_request
    async def after_request(response: Response) -> Response:
        response.headers.update(HEADERS)
        if not request.path.startswith("/assets/"):
            response.headers["Cache-Control"] = "no-store"
        return response


def _errors(app: QuartTrio) -> None:
    @app.errorhandler(HybridmuxError)
    async def ours(exc: HybridmuxError) -> Response:
        return respond(exc.status, exc.body())

    @app.errorhandler(HTTPException)
    async def http(exc: HTTPException) -> Response:
        return respond(exc.code or 500, {"error": (exc.description or exc.name).split("\n")[0]})

    @app.errorhandler(Exception)
    async def bug(exc: Exception) -> Response:
        log.error("request failed", exc_info=exc)
        return respond(500, {"error": "the server failed; this is a bug, its log says more"})


def _plain_routes(app: QuartTrio, context: Context) -> None:
    @app.get("/healthz")
    async def healthz() -> Response:
        return Response("ok\n", content_type="text/plain")

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(render(context), content_type="text/plain; version=0.0.4")

    @app.get("/api/openapi.json")
    async def openapi() -> Response:
        return respond(200, document(paths(app.url_map.iter_rules())))

    @app.post("/api/login")
    async def login() -> Response:
        body = await read_body(LoginBody)
        response = respond(204)
        response.set_cookie(
            context.cookie_name,
            context.gate.login(body.token, request.remote_addr or ""),
            httponly=True,
            samesite="Strict",
            secure=context.secure,
            path="/",
            max_age=180 * 86400,
        )
        return response

    @app.post("/api/logout")
    async def logout() -> Response:
        response = respond(204)
        response.delete_cookie(context.cookie_name, path="/")
        return response


def _sockets(app: QuartTrio, context: Context) -> None:
    async def accept() -> None:
        offered: list[str] = websocket.requested_subprotocols
        await websocket.accept(subprotocol=PROTOCOL if PROTOCOL in offered else None)

    @app.websocket("/ws/s/<session_id>")
    async def terminal(session_id: str) -> None:
        await accept()
        async with context.viewers.viewer() as viewer:
            await serve_terminal(_found(context.hub.get, session_id), viewer, context.budgets)

    @app.websocket("/ws/s/<session_id>/chat")
    async def chat(session_id: str) -> None:
        await accept()
        async with context.viewers.viewer() as viewer:
            await serve_chat(_found(context.hub.hybrid, session_id), viewer)

    @app.websocket("/ws/events")
    async def events() -> None:
        await accept()
        async with context.viewers.viewer() as viewer:
            await serve_list(context.hub, viewer)


def _found(find: Any, session_id: str) -> Any:
    try:
        return find(session_id)
    except NotFound as exc:
        raise Close(4404, str(exc)) from None


def _is_page_file(name: str) -> bool:
    try:
        return (PAGE / name).is_file()
    except (OSError, ValueError):  # no name a file could have
        return False


def _page(app: QuartTrio) -> None:
    async def index() -> Response:
        if not (PAGE / "index.html").is_file():
            return Response(UNBUILT, status=503, content_type="text/plain")
        return await send_from_directory(PAGE, "index.html")

    app.add_url_rule("/", "index", index)

    @app.get("/s/<path:_rest>")
    async def session_page(_rest: str) -> Response:
        return await index()

    @app.get("/<path:name>")
    async def asset(name: str) -> Response:
        if not _is_page_file(name):
            raise NotFound(f"there is nothing at /{name[:200]}")
        response: Response = await send_from_directory(PAGE, name)
        if name.startswith("assets/"):
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
