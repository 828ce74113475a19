"""Routes: sessions, records, launch configs."""

from functools import partial

from quart import Blueprint, Response, request

from hybridmux.conversation import switch as switching
from hybridmux.conversation.hub import Hub, info
from hybridmux.conversation.session import HybridSession
from hybridmux.errors import BadRequest
from hybridmux.faces.http.answers import Answer
from hybridmux.faces.http.context import Context, command, perform, read_body, respond
from hybridmux.store.configs import Config
from hybridmux.wire.launch import HIDDEN, LaunchConfig, LaunchConfigBody, SupportQuery
from hybridmux.wire.sessions import CreateSession, RenameSession, ResumeRequest, SwitchRequest


async def _close(context: Context, session_id: str) -> Answer:
    """What can come back keeps its answers: a repeat must not run twice."""
    is_hybrid = isinstance(context.hub.get(session_id), HybridSession)
    await context.hub.close(session_id)
    if not is_hybrid:
        context.answers.forget(session_id)
    return Answer(204)


def session_routes(context: Context) -> Blueprint:
    """`/api/sessions`."""
    routes = Blueprint("sessions", __name__, url_prefix="/api/sessions")
    hub = context.hub

    @routes.get("")
    async def list_sessions() -> Response:
        return respond(200, hub.infos())

    @routes.post("")
    async def create() -> Response:
        body = await read_body(CreateSession)

        async def work() -> Answer:
            return Answer(201, info(await hub.create(body)))

        return await perform(context, work)

    @routes.get("/<session_id>")
    async def get(session_id: str) -> Response:
        return respond(200, info(hub.get(session_id)))

    @routes.patch("/<session_id>")
    async def rename(session_id: str) -> Response:
        body = await read_body(RenameSession)

        async def work() -> Answer:
            return Answer(200, info(await hub.rename(session_id, body.name)))

        return await perform(context, work)

    @routes.delete("/<session_id>")
    async def close(session_id: str) -> Response:
        return await perform(context, partial(_close, context, session_id))

    @routes.post("/<session_id>/switch")
    async def switch(session_id: str) -> Response:
        session = hub.hybrid(session_id)

        async def work(body: SwitchRequest) -> Answer:
            result = await switching.perform(session, body)
            return Answer(204) if result is None else Answer(200, result)

        return await command(context, session_id, SwitchRequest, work)

    @routes.post("/<session_id>/resume")
    async def resume(session_id: str) -> Response:
        hub.record(session_id)  # an unknown id gets no place among the kept answers

        async def work(body: ResumeRequest) -> Answer:
            return Answer(200, info(await hub.resume(session_id, body)))

        return await command(context, session_id, ResumeRequest, work)

    return routes


def record_routes(context: Context) -> Blueprint:
    """`/api/hybrid-sessions`."""
    routes = Blueprint("records", __name__, url_prefix="/api/hybrid-sessions")
    hub = context.hub

    @routes.get("")
    async def list_records() -> Response:
        state = request.args.get("state")
        if state not in (None, "recoverable"):
            raise BadRequest("state must be recoverable")
        records = hub.shown_records()
        return respond(200, [r for r in records if state is None or r.state in ("closed", "interrupted")])

    @routes.get("/<record_id>")
    async def get(record_id: str) -> Response:
        return respond(200, hub.shown(hub.record(record_id)))

    @routes.delete("/<record_id>")
    async def remove(record_id: str) -> Response:
        async def work() -> Answer:
            await hub.remove_record(record_id)
            context.answers.forget(record_id)
            return Answer(204)

        return await perform(context, work)

    return routes


def _shown(hub: Hub, config: Config) -> LaunchConfig:
    return LaunchConfig(
        id=config.id,
        name=config.name,
        cmd=config.cmd,
        cwd=config.cwd,
        env=dict.fromkeys(config.env, HIDDEN),
        hybrid=bool(config.hybrid),
        hybrid_support=hub.registry.support(config.cmd),
    )


def _checked(hub: Hub, body: LaunchConfigBody) -> LaunchConfigBody:
    support = hub.registry.support(body.cmd)
    if body.hybrid and not support.supported:
        raise BadRequest(f"hybrid: this command cannot be a hybrid session ({support.reason})")
    return body


def config_routes(context: Context) -> Blueprint:
    """`/api/launch-configs`."""
    routes = Blueprint("configs", __name__, url_prefix="/api/launch-configs")
    hub = context.hub

    shown, checked = partial(_shown, hub), partial(_checked, hub)

    @routes.get("")
    async def list_configs() -> Response:
        return respond(200, [shown(config) for config in hub.configs.all()])

    @routes.post("")
    async def add() -> Response:
        body = checked(await read_body(LaunchConfigBody))

        async def work() -> Answer:
            return Answer(201, shown(await hub.configs.add(body)))

        return await perform(context, work)

    @routes.post("/hybrid-support")
    async def support() -> Response:
        body = await read_body(SupportQuery)
        return respond(200, hub.registry.support(body.cmd))

    @routes.get("/<config_id>")
    async def get(config_id: str) -> Response:
        return respond(200, shown(hub.configs.get(config_id)))

    @routes.put("/<config_id>")
    async def put(config_id: str) -> Response:
        body = checked(await read_body(LaunchConfigBody))

        async def work() -> Answer:
            return Answer(200, shown(await hub.configs.put(config_id, body)))

        return await perform(context, work)

    @routes.delete("/<config_id>")
    async def remove(config_id: str) -> Response:
        async def work() -> Answer:
            await hub.configs.remove(config_id)
            return Answer(204)

        return await perform(context, work)

    return routes
