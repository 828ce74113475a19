"""A start file makes the environment: what is on its PATH is installed, and its folders are looked into."""

from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import SHORT
from tests.support import fake_claude
from tests.support.client import Unexpected, marked
from tests.support.leaks import processes

QUICK = SHORT + "evidence_beat = 0.2\n"
SECONDS = 5.0
WRAPPER = ["bash", "-ic", 'exec -- "$@"', "hybridmux"]


@asynccontextmanager
async def wrapped(server, folder: Path, *cmd: str, **exported: object):
    """(server, session id): Claude Code in its terminal, found by its start file alone."""
    start_file = folder / "home" / ".bashrc"
    start_file.parent.mkdir()
    names = {"PATH": fake_claude.install(folder), "CLAUDE_CONFIG_DIR": folder / "config", **exported}
    start_file.write_text("".join(f"export {name}='{value}'\n" for name, value in names.items()))
    async with server(config=QUICK) as running:
        client = running.client
        sid = (await client.hybrid_session([*WRAPPER, *(cmd or ["claude"])], str(folder)))["id"]
        async with client.terminal(sid) as term:
            await term.until_text("welcome")
            await term.submit("hello")
            await term.until_text("echo: hello")
        yield running, sid


def told(running, sid: str) -> str | None:
    """The program that the connector was told."""
    (connector,) = [one for one in processes(running.data, sid) if one.side == "acp"]
    environ = Path(f"/proc/{connector.pid}/environ").read_bytes().decode().split("\0")
    return dict(one.split("=", 1) for one in environ if one).get("CLAUDE_CODE_EXECUTABLE")


async def test_a_connector_on_the_path_of_a_start_file_is_installed(server, tmp_path):
    async with wrapped(server, tmp_path) as (running, sid):
        async with running.client.chat(sid) as chat:
            await chat.until(lambda v: v.state["eligibility"] == {"available": True}, SECONDS)
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"
        assert told(running, sid) == str(tmp_path / "bin" / "claude")
        assert (await running.client.switch(sid, "tui"))["side"] == "tui"


async def test_a_connector_that_no_start_file_finds_is_missing(server, tmp_path):
    async with wrapped(server, tmp_path) as (running, sid):
        connector = tmp_path / "bin" / "claude-agent-acp"
        connector.rename(tmp_path / "kept")
        before = marked(running.data)
        with pytest.raises(Unexpected) as caught:
            await running.client.switch(sid, "acp")
        assert (caught.value.status, caught.value.body["reason"]) == (409, "connector_missing")
        assert marked(running.data) == before
        other = tmp_path / "other"
        other.mkdir()
        (tmp_path / "kept").rename(other / "claude-agent-acp")
        with (tmp_path / "home" / ".bashrc").open("a") as start_file:
            start_file.write(f"PATH={other}:$PATH\n")
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"


async def test_programs_of_others_are_seen_where_a_start_file_puts_the_registry(server, tmp_path):
    async with wrapped(server, tmp_path) as (running, sid):
        await running.client.switch(sid, "acp")
        (conversation,) = (tmp_path / "config" / "projects").glob("*.jsonl")
        await running.client.switch(sid, "tui")
        async with running.client.chat(sid) as chat:
            with fake_claude.foreign(tmp_path / "config", conversation.stem):
                await chat.until(
                    lambda v: v.state["eligibility"].get("reason") == "occupied_external", SECONDS
                )
            await chat.until(lambda v: v.state["eligibility"]["available"], SECONDS)


async def test_a_program_that_the_start_file_names_is_the_user_s_word(server, tmp_path):
    mine = tmp_path / "mine"
    async with wrapped(server, tmp_path, CLAUDE_CODE_EXECUTABLE=mine) as (running, sid):
        before = marked(running.data)
        with pytest.raises(Unexpected) as caught:
            await running.client.switch(sid, "acp")
        assert "CLAUDE_CODE_EXECUTABLE names no program: there is no file" in str(caught.value.body)
        assert str(mine) not in str(caught.value.body)
        assert marked(running.data) == before
        mine.symlink_to(tmp_path / "bin" / "claude")
        assert (await running.client.switch(sid, "acp"))["side"] == "acp"
        assert told(running, sid) == str(mine)
