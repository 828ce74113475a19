"""Every profile by its name, and the questions that concern all of them."""

from collections.abc import Iterable, Mapping, Sequence

from hybridmux.agents import claudecode, codex, demo_profile, omp, opencode
from hybridmux.agents.launch import Launch, Refusal, analyse
from hybridmux.agents.profile import Profile
from hybridmux.wire.launch import HybridSupport

BUILT_IN: tuple[Profile, ...] = (
    opencode.PROFILE,
    claudecode.PROFILE,
    codex.PROFILE,
    omp.PROFILE,
    demo_profile.PROFILE,
)


class Registry:
    """The profiles of one server."""

    def __init__(self, profiles: Iterable[Profile] = BUILT_IN) -> None:
        self.profiles: Mapping[str, Profile] = {profile.name: profile for profile in profiles}

    def read(self, cmd: Sequence[str]) -> Launch | Refusal:
        """Which agent a command starts, or why it is no hybrid session."""
        return analyse(cmd, {name: profile.args for name, profile in self.profiles.items()})

    def support(self, cmd: Sequence[str]) -> HybridSupport:
        """The contract's answer about a command; nothing is looked up on the machine."""
        titles = [profile.title for profile in self.profiles.values()]
        verdict = self.read(cmd)
        if isinstance(verdict, Refusal):
            return HybridSupport(
                supported=False, agent=verdict.agent, reason=verdict.reason, supported_agents=titles
            )
        profile = self.profiles[verdict.agent]
        return HybridSupport(
            supported=True, agent=profile.name, connector=profile.connector, supported_agents=titles
        )
