"""Which agents are installed on this machine and whether they will do: for `doctor`, and for the first start.

Programs are asked for their version and nothing else; connectors are not run at all.
"""

import os
from collections.abc import Iterable, Mapping

import trio
from attrs import evolve, field, frozen

from hybridmux.agents.asking import ask
from hybridmux.agents.installed import (
    NO_VERSION,
    Part,
    connector_version,
    engine_found,
    how_to_install,
    obstacles,
)
from hybridmux.agents.launch import Launch, Refusal, analyse
from hybridmux.agents.profile import Profile
from hybridmux.agents.programs import locate, package_of
from hybridmux.agents.versions import older, read_version
from hybridmux.budgets import ASK_SECONDS
from hybridmux.proc.spawn import SpawnFailed
from hybridmux.wire.launch import LaunchConfigBody


@frozen(kw_only=True)
class Found:
    """One program, connector or engine."""

    name: str
    path: str | None = None
    """None: not found."""
    version: str | None = None
    """None: unknown."""
    verified: str | None = None
    """The version that was tried, or (of an engine) the oldest that will do; None: none in particular."""
    outdated: bool = False


@frozen(kw_only=True)
class AgentReport:
    """One agent. `missing`: its program is not there; `terminal`: only its terminal can be used."""

    name: str
    title: str
    programs: list[Found] = field(factory=list)
    """Its program first, then its connector, then what they run on."""
    missing: bool = False
    terminal_only: bool = False
    wrong: list[str] = field(factory=list)
    """What keeps it from working and only a person can mend."""
    notes: list[str] = field(factory=list)
    """What could be done, a line each: a command to install or update something."""


def start_folder() -> str:
    """Where programs are looked for and asked: where sessions start if nobody says otherwise."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is none
    return home if os.path.isdir(home) else "/"  # noqa: PTH112


def default_command(profile: Profile) -> list[str]:
    """The command that starts the agent without any wishes."""
    return [min(profile.args.executables), *profile.args.leading]


def _launch(profile: Profile) -> Launch:
    launch = analyse(default_command(profile), {profile.name: profile.args})
    assert not isinstance(launch, Refusal)
    return launch


def first_configs(profiles: Iterable[Profile], env: Mapping[str, str], cwd: str) -> list[LaunchConfigBody]:
    """A launch config for each agent whose program is found; nothing is run."""
    bodies = []
    for profile in profiles:
        command = default_command(profile)
        try:
            locate(command[0], profile.environment(env), cwd)
        except SpawnFailed:
            continue
        bodies.append(LaunchConfigBody(name=profile.title, cmd=command, hybrid=True))
    return bodies


async def take_inventory(
    profiles: Iterable[Profile], env: Mapping[str, str], cwd: str, *, seconds: float = ASK_SECONDS
) -> list[AgentReport]:
    """All agents, looked at side by side; in the order given."""
    profiles = list(profiles)
    reports: dict[str, AgentReport] = {}

    async def look(profile: Profile) -> None:
        reports[profile.name] = await inspect(profile, env, cwd, seconds=seconds)

    async with trio.open_nursery() as nursery:
        for profile in profiles:
            nursery.start_soon(look, profile)
    return [reports[profile.name] for profile in profiles]


async def inspect(
    profile: Profile, env: Mapping[str, str], cwd: str, *, seconds: float = ASK_SECONDS
) -> AgentReport:
    """One agent."""
    launch, env = _launch(profile), profile.environment(env)
    report = AgentReport(name=profile.name, title=profile.title)
    found = await obstacles(profile, launch, env, cwd, seconds=seconds)
    missing = {one.side for one in found if one.missing}
    hints = [one.text for one in found if one.missing]
    wrong = [one.text for one in found if not one.missing]
    if "tui" in missing:
        # What else is amiss does not matter to somebody who does not use it.
        return evolve(report, missing=True, programs=[Found(name=launch.program)], notes=hints[:1])
    program, trouble = await _program(profile, launch, env, cwd, seconds)
    if trouble and not wrong:
        (hints if trouble == NO_VERSION else wrong).append(f"{launch.program} --version {trouble}")
    programs = [program, *_connector(profile, launch, env, cwd)]
    programs += await _engines(profile, programs, env, cwd, seconds)
    return evolve(
        report,
        programs=programs,
        terminal_only="acp" in missing,
        wrong=list(dict.fromkeys(wrong)),
        notes=[*hints, *_updates(profile, programs)],
    )


async def _program(
    profile: Profile, launch: Launch, env: Mapping[str, str], cwd: str, seconds: float
) -> tuple[Found, str | None]:
    """The TUI's program, and what was amiss when it was asked."""
    found = Found(name=launch.program, verified=_verified(profile, "program"))
    try:
        found = evolve(found, path=locate(launch.program, env, cwd))
    except SpawnFailed:
        return found, None
    if not profile.verified:
        return found, None
    answer = await ask(launch.command, "--version", env, cwd, seconds=seconds)
    version = None if answer.trouble else read_version(answer.text)
    if answer.trouble is None and version is None:
        return found, NO_VERSION
    if (
        version is None
        and (package := package_of(found.path or ""))
        and package.name in profile.args.packages
    ):
        version = read_version(package.version)
    return _judged(evolve(found, version=version)), answer.trouble


def _connector(profile: Profile, launch: Launch, env: Mapping[str, str], cwd: str) -> list[Found]:
    if profile.connector is None:
        return []
    found = Found(name=profile.connector.executable, verified=_verified(profile, "connector"))
    try:
        path = locate(profile.connector.executable, env, cwd)
    except SpawnFailed:
        return [found]
    return [_judged(evolve(found, path=path, version=connector_version(profile, launch, env, cwd)))]


async def _engines(
    profile: Profile, programs: list[Found], env: Mapping[str, str], cwd: str, seconds: float
) -> list[Found]:
    """What the scripts among them run on, each once; interpreters like `sh` are not named."""
    parts: tuple[Part, Part] = ("program", "connector")
    engines: dict[str, Found] = {}
    for part, one in zip(parts, programs, strict=False):
        if one.path is None:
            continue
        seen = await engine_found(profile, part, one.path, env, cwd, seconds=seconds)
        if seen and seen.engine:
            least = seen.engine.minimum if seen.engine.minimum != "0" else None
            before = engines.get(seen.engine.title)
            if before is None or (least and (before.verified is None or older(before.verified, least))):
                engines[seen.engine.title] = _judged(
                    Found(name=seen.engine.title, path=seen.path, version=seen.version, verified=least)
                )
    return list(engines.values())


def _verified(profile: Profile, part: Part) -> str | None:
    return next((one.version for one in profile.verified if one.of == part), None)


def _judged(found: Found) -> Found:
    old = bool(found.version and found.verified and older(found.version, found.verified))
    return evolve(found, outdated=old)


def _updates(profile: Profile, programs: list[Found]) -> list[str]:
    """How to bring what is outdated up to date. An engine that is too old is not a note: nothing works."""
    parts: tuple[Part, Part] = ("program", "connector")
    return [
        f"{one.name} {one.version} is older than the {one.verified} this was tried with; "
        f"to update: {how_to_install(profile, part)}@latest"
        for part, one in zip(parts, programs, strict=False)
        if one.outdated
    ]
