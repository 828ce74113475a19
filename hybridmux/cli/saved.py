"""Saved launch configs: would each start on this machine, and what is to be done if not. For `doctor`.

Looked at with the environment and folder that the config gives. No value of that environment is told.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import trio
from attrs import field, frozen

from hybridmux.agents.asking import surroundings
from hybridmux.agents.installed import apart_from_shared_server, obstacles, program_version
from hybridmux.agents.launch import Launch, Refusal
from hybridmux.agents.profile import Profile
from hybridmux.agents.registry import Registry
from hybridmux.conversation.inputs import folder
from hybridmux.errors import BadRequest, StoreUnusable
from hybridmux.proc.inherited import inherited
from hybridmux.store.configs import Config, ConfigStore
from hybridmux.wire.launch import HIDDEN

SECRET_CHARS = 4
"""Environment values shorter than this (`1`, `yes`) are no secrets, and are found in any sentence."""


@frozen(kw_only=True)
class ConfigReport:
    """One hybrid launch config."""

    id: str
    name: str
    agent: str | None = None
    """None: the command is no agent's that is known."""
    wrong: list[str] = field(factory=list)
    """What keeps it from starting, a line each with what to do."""
    notes: list[str] = field(factory=list)
    """What could be done: a connector that is not installed."""


def hybrid_configs(data: Path) -> list[Config]:
    """Those in a data folder; none where the file cannot be used, which `store.health` tells."""
    store = ConfigStore(data)
    if store.first_start:
        return []
    store.load()
    try:
        return [config for config in store.all() if config.hybrid]
    except StoreUnusable:
        return []


async def look_at(configs: Iterable[Config], environ: Mapping[str, str]) -> list[ConfigReport]:
    """All of them side by side, in the order given."""
    configs, agents = list(configs), Registry()
    reports: dict[str, ConfigReport] = {}

    async def look(config: Config) -> None:
        reports[config.id] = await _look(config, agents, environ)

    async with trio.open_nursery() as nursery:
        for config in configs:
            nursery.start_soon(look, config)
    return [reports[config.id] for config in configs]


async def _look(config: Config, agents: Registry, environ: Mapping[str, str]) -> ConfigReport:
    launch = agents.read(config.cmd)
    if isinstance(launch, Refusal):
        text = f"its command cannot be a hybrid session ({launch.reason}); edit it, or make it no hybrid one"
        return ConfigReport(id=config.id, name=config.name, wrong=[text])
    wrong, notes = await _troubles(config, launch, agents.profiles[launch.agent], environ)
    return ConfigReport(
        id=config.id,
        name=config.name,
        agent=launch.agent,
        wrong=_told(wrong, config.env),
        notes=_told(notes, config.env),
    )


async def _troubles(
    config: Config, launch: Launch, profile: Profile, environ: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """What is wrong, and what is only missing for the chat."""
    try:
        cwd = folder(config.cwd)
    except BadRequest:
        return [f"its folder {config.cwd or Path.home()} is not there; make it, or edit the config"], []
    env = profile.environment({**inherited(environ), **config.env})
    seen = await surroundings(launch, env, cwd)
    if seen is None:
        return ["the shell of its command ends before the agent starts; look at its start files"], []
    found = await obstacles(profile, launch, seen, cwd)
    wrong = [_mending(one.text) for one in found if one.side == "tui" or not one.missing]
    notes = [one.text for one in found if one.side == "acp" and one.missing and one.text not in wrong]
    if not any(one.side == "tui" for one in found):
        apart = await apart_from_shared_server(profile, launch, seen, cwd)
        wrong += [apart] if isinstance(apart, str) else []
        if not wrong and profile.verified:
            answer = await program_version(launch, seen, cwd)
            if answer.trouble:
                wrong.append(_mending(f"{launch.command[-1]} --version {answer.trouble}"))
    return wrong, notes


def _mending(text: str) -> str:
    return text if "; " in text else f"{text}; mend that, or edit the config"


def _told(texts: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """Each once, without values of the config's environment."""
    secrets = sorted((one for one in env.values() if len(one) >= SECRET_CHARS), key=len, reverse=True)
    told = []
    for text in texts:
        for secret in secrets:
            text = text.replace(secret, HIDDEN)  # noqa: PLW2901 - one after the other
        told.append(text)
    return list(dict.fromkeys(told))
