"""A background server that several of an agent's programs share, and how to start the agent without it. Pure.

Such a server outlives the TUI and keeps the conversation open, and it is never ours to end.
"""

import re

from attrs import frozen

from hybridmux.agents.launch import Launch


@frozen(kw_only=True)
class SharedServer:
    """What to look for in the help text of the program that is installed."""

    avoid: str
    """The option that keeps a start apart from it."""
    mentioned: re.Pattern[str]
    """How a version shows that it may use one."""
    reason: str
    """What a person is told when there is one and no way around it."""


def apart(launch: Launch, server: SharedServer, help_text: str) -> Launch | str:
    """The launch with the option, where this version has it; else, with a server that may be in the way, the
    reason why the command cannot be a hybrid session."""
    if re.search(rf"(?<![\w-]){re.escape(server.avoid)}(?![\w-])", help_text):
        return launch.adding(server.avoid)
    return server.reason if server.mentioned.search(help_text) else launch
