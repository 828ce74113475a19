"""What of the server's environment, and of a launch config's, a session's program gets."""

import trio

from hybridmux.agents.registry import Registry
from hybridmux.budgets import Budgets
from hybridmux.conversation.bell import Bell
from hybridmux.conversation.making import Maker
from hybridmux.proc.mark import ENV
from hybridmux.wire.sessions import CreateSession
from tests.support.processes import mark, nothing_left

__all__ = ["mark", "nothing_left"]

SERVERS = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMUX": "/tmp/tmux-0/default,1,0", "COLUMNS": "80"}


async def test_the_server_s_terminal_is_not_theirs_unless_the_config_says_so(mark, tmp_path):
    maker = Maker(
        sides=None,
        registry=Registry(),
        records=None,
        budgets=Budgets(),
        environ={**SERVERS, ENV: "a:b:c:d", "CLAUDECODE": "1", "TERM": "screen"},
        bell=Bell(),
    )
    wanted = CreateSession(
        cmd=["env", "-0"], cwd=str(tmp_path), env={"COLUMNS": "132", "spring.profile": "dev"}
    )
    session = maker.shell(wanted, None)
    async with trio.open_nursery() as nursery:
        await nursery.start(session.run, mark, (80, 24), Budgets())
        await session.terminal.wait_exited()
        journal = session.terminal.journal
        seen = journal.read(journal.tail, 10**6).decode()
        session.over.set()
    assert dict(one.split("=", 1) for one in seen.split("\0") if one) == {
        "PATH": SERVERS["PATH"],
        "LANG": "C.UTF-8",
        "COLUMNS": "132",
        "spring.profile": "dev",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PWD": str(tmp_path),
        ENV: str(mark),
    }
