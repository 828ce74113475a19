"""What real agents said, through the peer and the translation: as approved, and of the documented shape."""

import json
from pathlib import Path

import attrs
import pytest
import trio

from hybridmux.wire.chat import ConfigOption
from hybridmux.wire.chat_events import EVENTS
from hybridmux.wire.convert import camel, read
from tests.acp.replay import golden, golden_of, main, replay

FIXTURES = Path(__file__).parents[2] / "fixtures/acp"
RECORDINGS = sorted(FIXTURES.glob("*/*.jsonl"))
TYPES = {cls.__attrs_attrs__.type.type.__args__[0]: cls for cls in EVENTS}

OPTION = {camel(one.name) for one in attrs.fields(ConfigOption)}


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_there_are_recordings_of_every_agent():
    assert {path.parent.name for path in RECORDINGS} >= {"opencode", "claudecode", "codex", "omp"}
    assert len(RECORDINGS) >= 130


@pytest.mark.parametrize("path", RECORDINGS, ids=name)
async def test_recording(path):
    played = await replay(path.read_bytes().splitlines())
    assert played.problems == []
    assert golden(played) == json.loads(path.with_suffix(".golden.json").read_text())
    for event in played.events:
        assert_in_the_contract(event)


def assert_in_the_contract(event: dict) -> None:
    """The contract's reader refuses unknown and missing fields. It cannot read the value of an option."""
    if event["type"] == "config.set":
        for option in event["options"]:
            assert {"id", "name", "type", "value"} <= set(option) <= OPTION
    else:
        read({"at": "2026-01-01T00:00:00Z", **event}, TYPES[event["type"]])


async def test_a_recording_with_nonsense_in_it_is_played_and_the_nonsense_named():
    update = {"sessionUpdate": "unheard_of"}
    lines = [
        b"no json",
        b"[1]",
        b'{"dir":"stderr","msg":"x"}',
        b'{"dir":"agent","msg":{"jsonrpc":"2.0","id":77,"result":1}}',
        json.dumps(
            {"dir": "agent", "msg": {"method": "session/update", "params": {"update": update}}}
        ).encode(),
        b'{"dir":"agent","msg":{"method":"session/update","params":null}}',
    ]
    played = await replay(lines)
    assert played.problems[:2] == [f"line {n} of the recording is no JSON object" for n in (1, 2)]
    assert any("unheard_of" in one for one in played.problems)
    assert any("unknown_response" in one for one in played.problems)


def test_the_command_prints_goldens_and_fails_on_problems(tmp_path, capsys):
    path = RECORDINGS[0]
    assert main([str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(path.with_suffix(".golden.json").read_text())
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes() + b"nonsense\n")
    assert main(["--write", str(copy)]) == 1
    assert json.loads((tmp_path / "copy.golden.json").read_text())["problems"]
    assert trio.lowlevel.in_trio_run() is False
    assert golden_of(path)["problems"] == []
