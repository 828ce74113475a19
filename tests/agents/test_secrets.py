"""As `tests/e2e/test_secrets.py` with the real agent: its registry, locks or breadcrumb stay inside."""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from hybridmux.agents import claude_registry, codex_locks, omp_breadcrumb
from tests.agents.sides import PROFILE
from tests.agents.use import (
    AGENT,
    CONFIG,
    PATIENCE,
    kill_side,
    say_in_chat,
    say_in_terminal,
    start,
    until_processes,
)
from tests.support.client import serving
from tests.support.leaks import processes
from tests.support.secrets import LOUD, Overheard, Secrets, paths_of

pytestmark = pytest.mark.skipif(PROFILE.evidence is None, reason="it keeps no such files")
FIRST_PID = 3_141_592
"""Processes are numbered from here on: nothing else in an answer has such a number."""

TELLING = ("procStart", "pidDomain", "messagingSocketPath", "name")


def folder() -> Path:
    """Where this agent keeps what tells of its processes."""
    match PROFILE.evidence:
        case "registry":
            return claude_registry.folder(os.environ, "/")
        case "locks":
            return Path(codex_locks.home(os.environ, "/")) / "thread-writer-locks"
    return omp_breadcrumb.folder(os.environ, "/")


def number_processes() -> None:
    """The sandbox has a pid namespace of its own; without the right to set its counter small numbers do."""
    with suppress(OSError):
        if int(Path("/proc/sys/kernel/pid_max").read_text()) > FIRST_PID + 100_000:
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(FIRST_PID))


def told_by_files() -> set[str]:
    """What the files say now that no one must hear."""
    words = set()
    for file in folder().glob("*") if folder().is_dir() else ():
        words |= set(paths_of(file))
        text = file.read_text(errors="replace").strip()
        if file.suffix == ".json":
            value = json.loads(text)
            words |= {str(value[key]) for key in TELLING if key in value}
        elif file.suffix == ".key":
            words |= {text, file.name.split(".")[1]}
        elif PROFILE.evidence == "breadcrumb":
            words |= {line for line in text.splitlines()[1:] if len(line) > len("fresh")}
    return {word for word in words if len(word) >= 5}


async def test_what_its_files_tell_stays_inside(tmp_path):
    number_processes()
    words, env = set(paths_of(folder())), dict(os.environ)
    async with serving(tmp_path, config=CONFIG, env=env, program=LOUD) as server:
        heard = Overheard(server)

        async def look() -> None:
            await heard.look_around()
            words.update(told_by_files())

        async with heard.listening():
            client = heard.client
            sid = await start(client)
            await say_in_terminal(client, sid, "first words")
            await look()
            await client.switch(sid, "acp")
            await say_in_chat(client, sid, "second words")
            await look()
            await client.switch(sid, "tui")
            async with client.terminal(sid) as term:
                await term.until_text(AGENT.ready, PATIENCE)
                await look()
                await kill_side(server, sid)
                await term.until_closed(PATIENCE)
            await look()
            await client.resume(sid, {"side": "acp"})
            await look()
            await client.delete(f"/api/sessions/{sid}")
            await until_processes(lambda: not processes(server.data))
            await look()
    heard.read_files()
    secrets = heard.secrets(*words)
    assert heard.find(secrets) == []
    # The files were there and told something, and the search finds what is there to be found.
    assert len(words) > len(paths_of(folder()))
    assert len(heard.pids) >= 4
    assert heard.find(Secrets(words=frozenset({sid}))) != []
