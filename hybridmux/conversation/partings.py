"""What ended with a side besides its program, for the person whose background work that was."""

from collections.abc import Iterable
from pathlib import PurePath

from hybridmux.conversation.chatlog import ChatLog
from hybridmux.conversation.sides import Plan
from hybridmux.proc.family import EndReport

NAME_CHARS = 15
"""The kernel keeps so much of a program's name."""


class Partings:
    """Collected as sides end, told when the timeline that people will see is there."""

    def __init__(self, plan: Plan) -> None:
        programs = (plan.launch.program, *plan.profile.acp_argv(plan.launch)[:1])
        names = {PurePath(one).name for one in programs} | plan.profile.args.executables
        self._own = {name[:NAME_CHARS] for name in names}
        self._told: list[tuple[str, str]] = []

    def note(self, report: EndReport | None, side: str) -> None:
        """One side has ended; the agent's own programs (a launcher starts the real one) are no news."""
        if report is None:
            return
        if along := self._others(report.along):
            self._told.append(("ended_along", f"These programs ended with the {side}: {along}"))
        if detached := self._others(report.detached):
            words = "These programs have cut themselves off and run on; the {} may have started them: {}"
            self._told.append(("detached", words.format(side, detached)))

    def _others(self, names: Iterable[str]) -> str:
        return ", ".join(one for one in names if one not in self._own)

    def tell(self, log: ChatLog) -> None:
        """Writes the notices."""
        for code, text in self._told:
            log.say(code, text)
        self._told.clear()
