"""What of an agent is installed here, and whether it will do: asked before anything is stopped for it.

`seen` is the environment as the agent's program sees it (`asking.surroundings`): asking a user's shell for
it runs all start files, so whoever calls asks once and hands it on. None: the shell did not get so far.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from hybridmux.agents.asking import Answer, ask
from hybridmux.agents.launch import Launch, base
from hybridmux.agents.profile import Profile
from hybridmux.agents.programs import SCRIPT, interpreter, locate, no_program, package_of, readable
from hybridmux.agents.shared_server import apart
from hybridmux.agents.versions import Engine, older, outdated, read_version
from hybridmux.budgets import ASK_SECONDS
from hybridmux.proc.spawn import SpawnFailed
from hybridmux.wire.launch import HIDDEN
from hybridmux.wire.types import Outdated, Place

Env = Mapping[str, str]
Part = Literal["program", "connector"]
NO_VERSION = "names no version that could be read"


@frozen(kw_only=True)
class Obstacle:
    """Something that keeps one side from starting."""

    side: Place
    text: str
    missing: bool = False
    """The program is simply not installed."""


@frozen(kw_only=True)
class EngineFound:
    """What a script runs on, as it was found."""

    engine: Engine | None
    """None for an interpreter that the profile says nothing about."""
    word: str
    path: str | None
    version: str | None
    problem: str | None


async def obstacles(
    profile: Profile,
    launch: Launch,
    seen: Env | None,
    cwd: str,
    *,
    side: Place | None = None,
    seconds: float = ASK_SECONDS,
) -> list[Obstacle]:
    """Why a side (without one: either side) cannot start here; empty if nothing is known against it.

    Quick: files are looked at, and an interpreter is asked for its version once.
    """
    found = [] if seen is None else await _examine(profile, launch, seen, cwd, seconds)
    return [one for one in found if side in (None, one.side)]


async def _examine(profile: Profile, launch: Launch, seen: Env, cwd: str, seconds: float) -> list[Obstacle]:
    words = launch.command
    found = [await _command("tui", words, profile, "program", seen, cwd, seconds)]
    if profile.connector:
        words = profile.acp_argv(launch)[:1]
        found += [
            await _command("acp", words, profile, "connector", seen, cwd, seconds),
            _named(profile, seen, cwd),
        ]
    elif found[0]:
        # The chat is a command of the same program.
        found.append(Obstacle(side="acp", text=found[0].text, missing=found[0].missing))
    return [one for one in found if one]


async def _command(
    side: Place, words: Sequence[str], profile: Profile, part: Part, env: Env, cwd: str, seconds: float
) -> Obstacle | None:
    try:
        path = locate(words[0], env, cwd)
    except SpawnFailed as exc:
        hint = how_to_install(profile, part) if exc.missing and "/" not in words[0] else None
        return Obstacle(side=side, text=f"{exc}; {hint}" if hint else str(exc), missing=exc.missing)
    if text := no_program(path, by_us=True):
        return Obstacle(side=side, text=text)
    script = words[1] if len(words) > 1 else None
    if script and not readable(script, cwd):
        return Obstacle(side=side, text=f"there is no file {script} that can be read")
    engine = await engine_found(
        profile, part, words[0] if script else path, env, cwd, given=bool(script), seconds=seconds
    )
    return Obstacle(side=side, text=engine.problem) if engine and engine.problem else None


async def engine_found(
    profile: Profile,
    part: Part,
    path: str,
    env: Env,
    cwd: str,
    *,
    given: bool = False,
    seconds: float = ASK_SECONDS,
) -> EngineFound | None:
    """What the script at `path` runs on (`given`: the engine at `path` itself); None if it needs nothing."""
    word = path if given else interpreter(path)
    if word is None:
        return None
    known = (one for one in profile.engines if one.of == part and base(word) in one.names)
    engine = next(known, None)
    try:
        found = locate(word, env, cwd)
    except SpawnFailed as exc:
        title = engine.title if engine else base(word)
        lack = f"{path} needs {title}: {exc}" + (f"; {engine.install}" if engine else "")
        return EngineFound(engine=engine, word=word, path=None, version=None, problem=lack)
    if engine is None:
        return EngineFound(engine=None, word=word, path=found, version=None, problem=None)
    version, problem = _judged(engine, found, await ask((found,), "--version", env, cwd, seconds=seconds))
    if problem:
        problem = f"{_name(profile, part)} needs {problem}; {engine.install}"
    return EngineFound(engine=engine, word=word, path=found, version=version, problem=problem)


def _judged(engine: Engine, path: str, answer: Answer) -> tuple[str | None, str | None]:
    """The version in its answer, and what is wrong with the engine, if anything."""
    version = read_version(answer.text)
    if answer.trouble:
        return None, f"{engine.title}, but {path} --version {answer.trouble}"
    if version is None:
        return None, f"{engine.title}, but {path} --version {NO_VERSION}"
    if older(version, engine.minimum):
        return version, f"{engine.title} {engine.minimum} or newer, but {path} is {version}"
    return version, None


def _name(profile: Profile, part: Part) -> str:
    return profile.connector.executable if part == "connector" and profile.connector else profile.title


def _named(profile: Profile, env: Env, cwd: str) -> Obstacle | None:
    """The user's own word about the agent's program, if the connector could not follow it."""
    variable = profile.program_variable
    value = env.get(variable, "") if variable else ""
    if not value:
        return None
    # Connectors run a script with their own engine; it need not be executable.
    if SCRIPT.search(value) and readable(value, cwd):
        return None
    try:
        trouble = no_program(locate(value, env, cwd), by_us=False) if value.strip() else "it is blank"
    except SpawnFailed as exc:
        trouble = str(exc)
    if trouble is None:
        return None
    text = f"{variable} names no program: {_unsaid(trouble, value, cwd)}; correct it or unset it"
    return Obstacle(side="acp", text=text)


def _unsaid(trouble: str, value: str, cwd: str) -> str:
    """As everywhere, which variable it is is told, and not what it says, however that is spelled."""
    if not value.strip():
        return trouble
    full = os.path.join(cwd, value)  # noqa: PTH118
    spellings = {full, os.path.abspath(full), value, os.path.normpath(value)}  # noqa: PTH100
    told = "|".join(re.escape(one) for one in sorted(spellings, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{told})(?!\w)", HIDDEN, trouble)


def how_to_install(profile: Profile, part: Part) -> str | None:
    """The command that installs it, where there is one."""
    if part == "connector":
        return profile.connector.install_command if profile.connector else None
    names = sorted(profile.args.packages)
    return f"npm install -g {names[0]}" if names else None


async def program_version(launch: Launch, seen: Env | None, cwd: str) -> Answer:
    """What the TUI's program says to `--version`."""
    if seen is None:
        return Answer(trouble="its shell did not get so far")
    return await ask(launch.command, "--version", seen, cwd)


def connector_version(profile: Profile, launch: Launch, env: Env, cwd: str) -> str | None:
    """The version that the connector's package says; the connector itself is not started."""
    try:
        package = package_of(locate(profile.acp_argv(launch)[0], env, cwd))
    except SpawnFailed:
        return None
    ours = profile.connector and package and base(package.name) == base(profile.connector.executable)
    return read_version(package.version) if package and ours else None


async def outdated_of(
    profile: Profile, launch: Launch, seen: Env | None, cwd: str, connector: str
) -> list[Outdated]:
    """The programs of a session that are older than what its profile was tried with.

    `connector`: the version it gave in its answer to `initialize`, if any. What says nothing is not named.
    """
    found: dict[str, str] = {}
    for one in profile.verified:
        if one.of == "connector":
            found[one.name] = connector
        else:
            answer = await program_version(launch, seen, cwd)
            found[one.name] = "" if answer.trouble else answer.text
    return outdated(profile.verified, found)


async def apart_from_shared_server(
    profile: Profile, launch: Launch, seen: Env | None, cwd: str
) -> Launch | str:
    """The launch as it must be started to keep it apart from the agent's background server, or the reason
    why that cannot be. A program that does not show its options is not started: it might use the server."""
    server = profile.shared_server
    if server is None or launch.has(server.avoid):
        return launch
    if seen is None:
        answer = Answer(trouble="could not be asked: its shell did not get so far")
    else:
        answer = await ask(launch.command, "--help", seen, cwd)
    if answer.trouble:
        return (
            f"{launch.command[-1]} --help {answer.trouble}; so it is not known whether it would keep the "
            "conversation in a background server"
        )
    return apart(launch, server, answer.text)
