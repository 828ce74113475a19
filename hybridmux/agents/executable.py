"""The agent's own program as an absolute path, for connectors that would start another copy of it."""

import os
from collections.abc import Mapping

from hybridmux.agents.launch import Launch
from hybridmux.agents.profile import Profile
from hybridmux.agents.programs import SCRIPT, locate, readable
from hybridmux.proc.spawn import SpawnFailed


def chat_environment(
    profile: Profile, env: Mapping[str, str], program: str | None, seen: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The connector's environment: it is told the TUI's program, unless the user has named one. Pure.

    `seen`: what the shell of a wrapper makes of `env`, where there is one.
    """
    variable = profile.program_variable
    if variable is None or program is None or (env if seen is None else seen).get(variable):
        return dict(env)
    return {**env, variable: program}


def own_program(launch: Launch, env: Mapping[str, str], cwd: str) -> str | None:
    """The absolute path of the agent's program or script; None if there is no such file that can be run.

    Reads the file system. A folder, a broken link and a file that is not executable are no program; but a
    script that connectors run with their own engine need only be readable.
    """
    try:
        if not launch.script:
            return locate(launch.program, env, cwd)
        script = os.path.abspath(os.path.join(cwd, launch.script[0]))  # noqa: PTH100, PTH118 - no resolving
        return script if SCRIPT.search(script) and readable(script, cwd) else locate(script, env, cwd)
    except SpawnFailed:
        return None
