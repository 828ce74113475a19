"""Composition root: one server out of its rooms, from the data folder to the ready line and the clean stop.

keeper                       the parent process (cli), child subreaper
└─ serve()                   one nursery; closing is opening reversed
   ├─ reaper                 orphans that came to us
   ├─ hub                    sessions, each with a supervisor of its own
   ├─ commands               requests' work, which outlives its request
   └─ hypercorn              HTTP and WebSockets
"""

import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio
from attrs import frozen
from hypercorn.config import Config as HypercornConfig
from hypercorn.trio import serve as hypercorn_serve

from hybridmux.agents import demo_profile
from hybridmux.agents.inventory import first_configs, start_folder
from hybridmux.agents.registry import BUILT_IN, Registry
from hybridmux.agents.temp import sweep
from hybridmux.conversation.hub import Hub
from hybridmux.conversation.real import RealSides
from hybridmux.conversation.run import Run
from hybridmux.errors import ConfigError, StoreUnusable
from hybridmux.faces.http.answers import Answers
from hybridmux.faces.http.app import make_app
from hybridmux.faces.http.auth import Gate
from hybridmux.faces.http.context import Context
from hybridmux.faces.http.transport import Connections, install, listen
from hybridmux.faces.http.viewers import Viewers
from hybridmux.proc.leftovers import end_leftovers
from hybridmux.proc.reaper import reap_strangers
from hybridmux.proc.signals import keeper_gone, stop_requests
from hybridmux.settings import Settings, data_folder
from hybridmux.store import folder as store_folder
from hybridmux.store.configs import ConfigStore
from hybridmux.store.records import RecordStore

log = logging.getLogger("hybridmux")


@frozen
class Ready:
    """A server that answers."""

    url: str
    token: str

    @property
    def login_url(self) -> str:
        """The address that logs a browser in; the fragment is never sent to a server."""
        return f"{self.url}/#token={self.token}"


def bind(settings: Settings) -> socket.socket:
    """The listening socket; raises `ConfigError`."""
    try:
        return listen(settings.host, settings.port)
    except OSError as exc:
        where = f"{settings.host}:{settings.port}"
        raise ConfigError(f"cannot listen on {where}: {exc.strerror or exc}") from exc


def base_url(settings: Settings, sock: socket.socket) -> str:
    """The server's address."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{sock.getsockname()[1]}"


async def _first_configs(configs: ConfigStore, environ: Mapping[str, str]) -> None:
    """What is installed is offered once: what a person deletes stays deleted. The demo agent comes first."""
    if configs.first_start:
        profiles = sorted(BUILT_IN, key=lambda profile: profile.name != demo_profile.PROFILE.name)
        await configs.offer(first_configs(profiles, environ, start_folder()))


@asynccontextmanager
async def stores(
    folder: Path, run: Run, settings: Settings, environ: Mapping[str, str]
) -> AsyncIterator[tuple[RecordStore, ConfigStore]]:
    """The files, read; what an earlier server left behind is ended first."""
    found, survived = await end_leftovers(run.data, run.start, settings.budgets.stopping_step)
    if found:
        log.warning("ended %d processes that an earlier server left behind", len(found))
    if survived:
        log.error("these did not end: %s", ", ".join(map(str, survived)))
    await trio.to_thread.run_sync(sweep)
    records, configs = RecordStore(folder), ConfigStore(folder)
    records.load()
    configs.load()
    for prepare in (records.interrupt_active, partial(_first_configs, configs, environ)):
        try:
            await prepare()
        except StoreUnusable as exc:
            log.error("%s", exc)
    yield records, configs


def _hypercorn(sock: socket.socket, settings: Settings) -> HypercornConfig:
    config = HypercornConfig()
    config.bind = [f"fd://{sock.detach()}"]
    config.graceful_timeout = 1.0
    config.shutdown_timeout = settings.budgets.shutdown_grace
    config.websocket_max_message_size = 4 * 1024 * 1024
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    return config


async def serve(
    settings: Settings,
    *,
    environ: Mapping[str, str] = os.environ,
    stop: trio.Event | None = None,
    task_status: trio.TaskStatus[Ready] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Runs one server until SIGINT, SIGTERM or `stop`; raises `ConfigError` before it is ready."""
    path = data_folder(settings)
    stop = stop or trio.Event()
    connections = Connections()
    install(connections)
    with store_folder.data_folder(path) as folder, bind(settings) as sock:
        token = store_folder.token(folder)
        run = Run.of(folder)
        url = base_url(settings, sock)
        async with (
            stores(folder, run, settings, environ) as (records, configs),
            trio.open_nursery() as nursery,
        ):
            budgets = settings.budgets
            nursery.start_soon(reap_strangers)
            nursery.start_soon(_wait_for_stop, stop)
            hub = Hub(
                sides=RealSides(run, budgets),
                registry=Registry([*BUILT_IN, demo_profile.LONELY] if settings.test_profiles else BUILT_IN),
                records=records,
                configs=configs,
                budgets=budgets,
                run=run,
                environ=environ,
            )
            await nursery.start(hub.serve)
            context = Context(
                hub=hub,
                gate=Gate(token, hosts=[settings.host, *settings.hosts], origins=settings.origins),
                answers=Answers(nursery),
                viewers=Viewers(connections, budgets.viewer_stall),
                budgets=budgets,
                cookie_name=f"hybridmux_{sock.getsockname()[1]}",
                secure=False,
            )
            trigger = trio.Event()
            await nursery.start(_run_hypercorn, context, _hypercorn(sock, settings), trigger)
            task_status.started(Ready(url, token))
            await stop.wait()
            context.viewers.stopping.set()
            await hub.shut_down()
            trigger.set()
            await trio.sleep(0.05)  # close frames that are on their way
            connections.abort_all()
            nursery.cancel_scope.cancel()


async def _run_hypercorn(
    context: Context,
    config: HypercornConfig,
    trigger: trio.Event,
    *,
    task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED,
) -> None:
    app = make_app(context)
    await hypercorn_serve(app, config, shutdown_trigger=trigger.wait, task_status=task_status)


async def _wait_for_stop(stop: trio.Event) -> None:
    """SIGINT, SIGTERM, SIGHUP, or the keeper's end."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_on_signal, stop)
        await keeper_gone()
        stop.set()


async def _stop_on_signal(stop: trio.Event) -> None:
    async with stop_requests() as requests:
        async for _ in requests:
            if stop.is_set():
                os._exit(1)  # asked twice: at once; the keeper ends what is below
            stop.set()


async def announced(settings: Settings) -> None:
    """`serve` with its ready line on standard output."""
    async with trio.open_nursery() as nursery:
        ready = await nursery.start(partial(serve, settings))
        sys.stdout.write(f"hybridmux ready: {ready.login_url}\n")
        sys.stdout.flush()
