"""The agent's own program as an absolute path, for connectors that would start another copy of it."""

import os
import shutil
from collections.abc import Mapping

from hybridmux.agents.launch import Launch
from hybridmux.agents.profile import Profile


def chat_environment(profile: Profile, env: Mapping[str, str], program: str | None) -> dict[str, str]:
    """The connector's environment: it is told the TUI's program, unless the user has named one. Pure."""
    variable = profile.program_variable
    if variable is None or program is None or env.get(variable):
        return dict(env)
    return {**env, variable: program}


def own_program(launch: Launch, env: Mapping[str, str], cwd: str) -> str | None:
    """The absolute path of the agent's program or script; None if there is no such file that can be run.

    Reads the file system. A folder, a broken link and a file that is not executable are no program.
    """
    word = (*launch.script, launch.program)[0]
    if "/" in word:
        path: str | None = os.path.abspath(os.path.join(cwd, word))  # noqa: PTH100, PTH118 - no resolving
    else:
        path = shutil.which(word, path=env.get("PATH", os.defpath))
    if path is None or not os.path.isfile(path) or not os.access(path, os.X_OK):  # noqa: PTH113
        return None
    return os.path.abspath(path)  # noqa: PTH100
