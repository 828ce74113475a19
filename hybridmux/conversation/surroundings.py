"""The environment as an agent's program sees it: a start-file wrapper's shell may change any of it.

What is asked of it must not block, so the shell is asked when a side is about to be opened.
"""

from collections.abc import Mapping

from hybridmux.agents.asking import surroundings
from hybridmux.agents.launch import Launch


class Surroundings:
    """Those of one plan."""

    def __init__(self, launch: Launch, env: Mapping[str, str], cwd: str) -> None:
        self._launch, self._given, self._cwd = launch, env, cwd
        self._is_asked = not launch.wrapper
        self.env = env
        """As far as is known: what is given to the shell, until it has told what it makes of it."""

    async def look(self) -> bool:
        """Asks the shell, if there is one; False if it did not get so far."""
        seen = await surroundings(self._launch, self._given, self._cwd)
        self._is_asked = True
        self.env = self._given if seen is None else seen
        return seen is not None

    async def known(self) -> Mapping[str, str]:
        """The environment; the shell is asked only if it has not been."""
        if not self._is_asked:
            await self.look()
        return self.env
