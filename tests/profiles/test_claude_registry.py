"""Claude Code's registry: what a record must agree with, each check failing alone."""

import json
import os

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.agents import claude_registry as registry
from hybridmux.agents.claude_registry import Facts
from hybridmux.proc.table import Entry, entry

SESSION = "48eb007c-3c6b-4ba8-b23f-7c6ce8782516"
DOMAIN = "linux:0123456789abcdef0123456789abcdef:pid:[4026531836]"
# As a real one wrote it.
VALUE = {
    "pid": 28671,
    "sessionId": SESSION,
    "cwd": "/home/user/proj",
    "startedAt": 1796008972164,
    "procStart": "309755",
    "version": "2.1.332",
    "peerProtocol": 1,
    "peerFeatures": ["notify_idle", "reply_across_default_dirs", "artifact_yield"],
    "kind": "interactive",
    "entrypoint": "cli",
    "pidDomain": DOMAIN,
    "asksForConvertedSkills": None,
    "messagingSocketPath": "/tmp/cc-socks/28671.sock",
    "name": "proj-4e",
    "nameSource": "derived",
    "nameSince": 1796008972164,
    "status": "idle",
}
FACTS = Facts(pid=28671, start_ticks=309755, cwd="/home/user/proj", pid_domain=DOMAIN)


def record(file="28671.json", /, **changes):
    return registry.parse(file, json.dumps({**VALUE, **changes}).encode())


def test_a_record_that_agrees_with_everything():
    found = record()
    assert found.session_id == SESSION
    assert found.turn == "idle"
    assert registry.doubt(found, FACTS) is None
    assert registry.doubt(record(cwd="/home/user/x/../proj/"), FACTS) is None


@pytest.mark.parametrize(
    ("name", "changes", "facts", "doubt"),
    [
        ("28672.json", {}, {}, "file"),
        ("28671.json", {}, {"pid": 1}, "pid"),
        ("28671.json", {"procStart": "309756"}, {}, "start"),
        ("28671.json", {"pidDomain": DOMAIN.replace("4026", "4027")}, {}, "domain"),
        ("28671.json", {"cwd": "/home/user/proj2"}, {}, "cwd"),
    ],
)
def test_each_check_fails_alone(name, changes, facts, doubt):
    assert registry.doubt(record(name, **changes), evolve(FACTS, **facts)) == doubt


@pytest.mark.parametrize(
    "changes",
    [
        {"sessionId": "no-uuid"},
        {"sessionId": SESSION + "x"},
        {"sessionId": None},
        {"pid": "28671"},
        {"pid": True},
        {"procStart": 309755},
        {"procStart": "-1"},
        {"procStart": "٣"},
        {"procStart": "9" * 20},
        {"cwd": 1},
        {"pidDomain": None},
        {"name": "x" * registry.RECORD_BYTES},
    ],
)
def test_a_record_in_another_form_is_none(changes):
    assert record(**changes) is None


@pytest.mark.parametrize("data", [b"", b"[1]", b"{", b"\xff", b"null", b"[" * 30_000, b'{"pid": 1}'])
def test_a_torn_or_odd_file_is_none(data):
    assert registry.parse("1.json", data) is None


JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)


@given(st.sampled_from(sorted(VALUE)), JUNK | st.lists(JUNK, max_size=2))
def test_no_junk_makes_it_raise_or_is_trusted(key, value):
    found = record(**{key: value})
    if key == "sessionId":
        assert found is None
    elif key in ("pid", "cwd", "procStart", "pidDomain"):
        assert found is None or registry.doubt(found, FACTS)


@pytest.mark.parametrize(
    ("name", "pid"),
    [
        ("28671.json", 28671),
        ("28671.3f.key", None),
        ("028671.json", None),
        ("0.json", None),
        ("x.json", None),
        ("1.json.tmp", None),
        ("12345678901.json", None),
    ],
)
def test_only_records_are_looked_at(name, pid):
    assert registry.file_pid(name) == pid


@pytest.mark.parametrize(
    ("status", "turn"),
    [("idle", "idle"), ("busy", "running"), ("waiting", "asking"), ("new", "unknown"), ([], "unknown")],
)
def test_the_turn(status, turn):
    assert record(status=status).turn == turn


def test_a_first_record_has_no_status_yet():
    value = {key: each for key, each in VALUE.items() if key != "status"}
    assert registry.parse("28671.json", json.dumps(value).encode()).turn == "unknown"


def process(pid, ppid, name, state="S"):
    return Entry(
        pid=pid,
        ppid=ppid,
        name=name,
        state=state,
        pgid=1,
        sid=1,
        tty_nr=0,
        threads=1,
        start_ticks=1,
    )


NODE, SHIM, DASH, NATIVE = "/usr/bin/node", "/opt/volta/shim", "/bin/dash", "/opt/claude/1"


@pytest.mark.parametrize(
    ("root", "runs", "children", "pids"),
    [
        ("node", NODE, [(11, 10, "claude", NATIVE)], [11]),
        ("node", NODE, [(11, 10, "claude", NODE)], [11]),
        ("claude", NODE, [(11, 10, "claude.exe", NATIVE)], [11]),
        ("claude", SHIM, [(11, 10, "claude", NATIVE)], [11]),
        ("start", DASH, [(11, 10, "claude", NATIVE), (12, 10, "rg", "/bin/rg")], [11]),
        ("start", DASH, [(11, 10, "claude", NATIVE), (12, 10, "claude.exe", NATIVE)], [11, 12]),
        ("start", DASH, [(11, 10, "claude", NATIVE, "Z"), (12, 10, "claude", NATIVE)], [12]),
        ("claude", NATIVE, [(11, 10, "claude", NATIVE)], []),
        ("node", NODE, [(11, 10, "rg", "/bin/rg")], []),
        ("claude", NATIVE, [], []),
    ],
)
def test_which_processes_may_register_for_the_terminal(root, runs, children, pids):
    below = [process(pid, ppid, name, *state) for pid, ppid, name, _, *state in children]
    programs = {10: runs} | {child[0]: child[3] for child in children}
    found = registry.launched(process(10, 1, root), below, programs.__getitem__)
    assert [one.pid for one in found] == pids


def test_what_a_launcher_has_started_in_another_session_is_none_of_the_terminal():
    elsewhere = evolve(process(11, 10, "claude"), sid=11)
    assert registry.launched(process(10, 1, "node"), [elsewhere], str) == []


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("28672.json", {}),
        ("28671.json", {"sessionId": SESSION.replace("4", "5")}),
        ("28671.json", {"pidDomain": "linux:x:pid:[1]"}),
    ],
)
def test_what_says_nothing_of_who_has_a_session_open(name, changes):
    assert registry.claimants([record(name, **changes)], SESSION, domain=DOMAIN) == {}


def test_who_says_that_it_has_a_session_open():
    records = [record(sessionId=SESSION.replace("4", "5")), record(entrypoint="sdk-ts", status="busy")]
    assert registry.claimants(records, SESSION, domain=DOMAIN) == {28671: 309755}


def test_nothing_private_is_in_a_record_s_text():
    text = repr(record()) + repr(FACTS)
    for private in ("28671", "309755", "/home", "0123456789abcdef"):
        assert private not in text


def test_the_folder():
    env = {"HOME": "/home/a"}
    assert str(registry.folder(env, "/proj")) == "/home/a/.claude/sessions"
    assert str(registry.folder({**env, "CLAUDE_CONFIG_DIR": "/x"}, "/proj")) == "/x/sessions"
    assert str(registry.folder({**env, "CLAUDE_CONFIG_DIR": ".own"}, "/proj")) == "/proj/.own/sessions"
    assert str(registry.folder({"HOME": "h"}, "/proj")) == "/proj/h/.claude/sessions"


def test_the_reader_takes_plain_records_of_living_processes_and_nothing_else(tmp_path):
    me = entry(os.getpid())
    domain = registry.this_domain() or DOMAIN
    value = {
        **VALUE,
        "pid": me.pid,
        "procStart": str(me.start_ticks),
        "cwd": str(tmp_path),
        "pidDomain": domain,
    }
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / f"{me.pid}.json").write_text(json.dumps({**value, "cwd": str(tmp_path / "link")}))
    (tmp_path / f"{me.pid}.ab.key").write_text("secret")
    (tmp_path / "2.json").symlink_to(tmp_path / f"{me.pid}.json")
    (tmp_path / "3.json").mkdir()
    os.mkfifo(tmp_path / "4.json")
    (tmp_path / "5.json").write_bytes(b"x" * (registry.RECORD_BYTES + 10))
    (found,) = registry.read_records(tmp_path)
    facts = Facts(pid=me.pid, start_ticks=me.start_ticks, cwd=os.path.realpath(tmp_path), pid_domain=domain)
    assert registry.record_of(tmp_path, facts) == found
    assert registry.record_of(tmp_path, evolve(facts, start_ticks=1)) is None
    assert registry.record_of(tmp_path, evolve(facts, pid=2)) is None
    assert registry.record_of(tmp_path, evolve(facts, cwd="/")) is None
    assert registry.read_records(tmp_path / "nowhere") == []


def test_the_reader_stops_after_so_many_names(tmp_path, monkeypatch):
    for pid in range(1, 9):
        (tmp_path / f"{pid}.json").write_text(json.dumps({**VALUE, "pid": pid}))
    assert len(registry.read_records(tmp_path)) == 8
    monkeypatch.setattr(registry, "ENTRIES", 3)
    assert len(registry.read_records(tmp_path)) == 3
