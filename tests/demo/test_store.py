"""Sessions on disk: torn lines, one writer, lists."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.agents.demo import history
from hybridmux.agents.demo.session import Session
from hybridmux.agents.demo.store import InUse, Log, NoSuchSession, Store, new_id

WORDS = st.text(max_size=30)
TEXT = [{"type": "text", "text": "hello"}]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def opened():
    """Closes what a test opened."""
    sessions = []
    yield lambda session: sessions.append(session) or session
    for session in sessions:
        session.close()


def lines_of(texts):
    return [{"type": "agent", "messageId": f"m{i}", "text": text} for i, text in enumerate(texts)]


@given(texts=st.lists(WORDS, min_size=1), cut=st.integers(min_value=0), more=st.lists(WORDS))
def test_a_torn_last_line_costs_only_itself(tmp_path_factory, texts, cut, more):
    path = tmp_path_factory.mktemp("torn") / "demo.jsonl"
    data = b"".join(history.dump(line) for line in lines_of(texts))
    kept = data[: cut % (len(data) + 1)]
    path.write_bytes(kept)
    log = Log(path, os.open(os.devnull, os.O_RDONLY))
    for line in lines_of(more):
        log.append(line)
    log.close()
    whole = texts[: kept.count(b"\n")]
    read = [line["text"] for line in history.parse(path.read_bytes())]
    # A line that lost nothing but its line break is whole as well.
    assert read in ([*whole, *more], [*texts[: len(whole) + 1], *more])


@given(st.binary())
def test_any_bytes_can_be_read(data):
    for line in history.parse(data):
        assert isinstance(line["type"], str)


@given(st.text(alphabet=st.characters(codec=None), max_size=20))
def test_every_text_survives(text):
    assert json.loads(history.dump({"text": text})) == {"text": text}


@given(st.lists(st.lists(WORDS, min_size=1), min_size=1))
def test_chunks_fold_into_their_message(messages):
    lines = [
        {"type": "agent", "messageId": f"m{number}", "text": chunk}
        for number, chunks in enumerate(messages)
        for chunk in chunks
    ]
    assert [item["text"] for item in history.fold(lines).items] == ["".join(chunks) for chunks in messages]


def test_tools_and_plans_fold_into_their_final_state():
    lines = [
        {"type": "user", "messageId": "u", "blocks": TEXT, "at": "now"},
        {"type": "tool", "toolCallId": "c", "title": "ls", "status": "pending"},
        {"type": "plan", "entries": [1]},
        {"type": "tool", "toolCallId": "c", "status": "completed"},
        {"type": "plan", "entries": [2]},
    ]
    _, tool, plan = history.fold(lines).items
    assert tool == {"type": "tool", "toolCallId": "c", "title": "ls", "status": "completed"}
    assert plan["entries"] == [2]


def test_the_last_turn_can_be_left_out():
    user = {"type": "user", "messageId": "u", "blocks": TEXT}
    end = {"type": "end", "stopReason": "end_turn"}
    lines = [user, end, {**user, "messageId": "v"}, {**user, "messageId": "w", "steered": True}, end]
    talk = history.fold(lines)
    assert talk.turns == 2
    assert talk.without_last_turn().items == [user, end]
    assert history.fold([]).without_last_turn().items == []


def test_a_session_is_stored_with_its_first_message(store, tmp_path, opened):
    session = opened(Session.new(store, str(tmp_path)))
    assert not session.stored
    assert store.summaries() == []
    session.begin([{"type": "text", "text": "a  rather\nlong first message " + "x" * 100}])
    (summary,) = store.summaries(str(tmp_path))
    assert (summary.id, summary.cwd) == (session.id, str(tmp_path))
    assert summary.title == ("a rather long first message " + "x" * 100)[:60]
    assert store.summaries("/somewhere/else") == []


def test_mode_and_model_are_kept_and_effort_is_not(store, tmp_path, opened):
    session = opened(Session.new(store, str(tmp_path)))
    session.configure("mode", "plan")
    session.begin(TEXT)
    session.configure("model", "demo-large")
    session.configure("effort", "high")
    session.configure("fast", True)
    session.close()
    again = opened(Session.reopen(store, session.id))
    assert again.config == {"mode": "plan", "model": "demo-large", "effort": "low", "fast": False}


@pytest.mark.parametrize(
    ("name", "value"), [("mode", "x"), ("fast", "true"), ("fast", 1), ("size", "L"), ("mode", True)]
)
def test_unknown_options_are_refused(store, tmp_path, name, value):
    with pytest.raises(ValueError, match="no such option"):
        Session.new(store, str(tmp_path)).configure(name, value)


def test_one_writer(store, tmp_path, opened):
    session = opened(Session.new(store, str(tmp_path)))
    session.begin(TEXT)
    assert store.in_use(session.id)
    with pytest.raises(InUse, match=session.id):
        store.open(session.id)
    session.close()
    assert not store.in_use(session.id)
    opened(store.open(session.id))


def test_the_lock_goes_with_its_process(store, tmp_path, opened):
    session = opened(Session.new(store, str(tmp_path)))
    session.begin(TEXT)
    session.close()
    program = (
        "import sys, pathlib; from hybridmux.agents.demo.store import Store;"
        "log = Store(pathlib.Path(sys.argv[1])).open(sys.argv[2]);"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(store.home), session.id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(InUse):
            store.open(session.id)
        other.kill()
    opened(store.open(session.id))


@pytest.mark.parametrize(
    "name", [new_id(), "demo_../../etc", "", "demo_ABCDEF012345", "../demo_000000000000"]
)
def test_unknown_sessions(store, name):
    with pytest.raises(NoSuchSession):
        store.open(name)
    with pytest.raises(NoSuchSession):
        store.read(name)


def test_foreign_files_are_passed_over(store, tmp_path, opened):
    opened(Session.new(store, str(tmp_path))).begin(TEXT)
    (store.home / "demo_broken.jsonl").write_bytes(b"\xff\xfe no session\n")
    assert len(store.summaries()) == 1
