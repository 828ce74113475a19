"""The environment as an agent's program sees it: a start-file wrapper's shell may change any of it.

Asking the shell runs all of the user's start files, which may take a second: it is asked once for a session's
first side, and once more by each switch, before anything is stopped. All that opens a side goes by the last
answer; what must not block does so too. A question that fails (the shell was slow this once) takes nothing
back: what was told of the agent's folders decides whether other writers are seen.
"""

from collections.abc import Mapping

from hybridmux.agents.asking import surroundings
from hybridmux.agents.launch import Launch


class Surroundings:
    """Those of one plan."""

    def __init__(self, launch: Launch, env: Mapping[str, str], cwd: str) -> None:
        self._launch, self._given, self._cwd = launch, env, cwd
        self._is_asked = not launch.wrapper
        self._told: Mapping[str, str] | None = None if launch.wrapper else env

    @property
    def env(self) -> Mapping[str, str]:
        """As far as is known: what the shell told last; what is given to it, while it never told anything."""
        return self._given if self._told is None else self._told

    async def look(self) -> Mapping[str, str] | None:
        """What the shell, if there is one, makes of it now; if it does not get so far, what it told before.
        None if it never told anything."""
        told = await surroundings(self._launch, self._given, self._cwd)
        self._is_asked = True
        if told is not None:
            self._told = told
        return self._told

    async def known(self) -> Mapping[str, str] | None:
        """The same as of the last look; the shell is asked only if it never was."""
        return self._told if self._is_asked else await self.look()
