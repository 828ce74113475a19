"""Files that survive: records and launch configs."""

import stat

import pytest
from attrs import evolve

from hybridmux.budgets import HISTORY_IDS, RECORDS, STORE_FILE
from hybridmux.errors import BadRequest, ConfigError, Conflict, NotFound, StoreUnusable
from hybridmux.store import atomic, folder
from hybridmux.store.configs import ConfigStore
from hybridmux.store.records import Record, RecordStore
from hybridmux.wire.launch import HIDDEN, LaunchConfigBody


def record(number: int = 0, **changes) -> Record:
    """A record."""
    whole = Record(
        id=f"s{number}", name="n", config_id="c", agent="demo", cwd="/", cmd=["x"], side="tui",
        created_at="2026-01-01T00:00:00Z", updated_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    return evolve(whole, **changes)


def records(path) -> RecordStore:
    """The store as a server starts with it."""
    store = RecordStore(path)
    store.load()
    return store


async def test_a_record_is_on_disk_when_put_returns(tmp_path):
    await records(tmp_path).put(record(agent_session_id="a", permission_mode="ask"), new=True)
    found = records(tmp_path).get("s0")
    assert (found.agent_session_id, found.permission_mode) == ("a", "ask")
    file = tmp_path / "hybrid-sessions.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["hybrid-sessions.json"]


async def test_what_was_active_is_interrupted_at_the_next_start(tmp_path):
    store = records(tmp_path)
    await store.put(record(0, activity="turn", queued=2), new=True)
    await store.put(record(1, state="closed"), new=True)
    store = records(tmp_path)
    await store.interrupt_active()
    shown = records(tmp_path).get("s0").shown(config_missing=False)
    assert (shown.state, shown.activity, shown.lost_queued) == ("interrupted", "turn", 2)
    assert records(tmp_path).get("s1").state == "closed"


async def test_there_is_a_limit(tmp_path):
    store = records(tmp_path)
    await store._document.save([record(i) for i in range(RECORDS)])
    with pytest.raises(Conflict) as caught:
        await store.put(record(RECORDS), new=True)
    assert caught.value.reason == "limit"
    await store.put(record(0, name="changed"), new=True)
    assert store.get("s0").name == "changed"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"version":2,"records":[]}', b'{"version":1,"records":[{}]}']
)
async def test_a_file_that_cannot_be_understood_is_left_alone(tmp_path, data):
    file = tmp_path / "hybrid-sessions.json"
    file.write_bytes(data)
    store = records(tmp_path)
    for use in (store.all, store.check, lambda: store.get("x")):
        with pytest.raises(StoreUnusable) as caught:
            use()
        assert caught.value.body()["path"] == str(file)
    with pytest.raises(StoreUnusable):
        await store.put(record(), new=True)
    assert file.read_bytes() == data


async def test_a_write_that_fails_changes_nothing(tmp_path):
    store = records(tmp_path)
    await store.put(record(0), new=True)
    before = (tmp_path / "hybrid-sessions.json").read_bytes()

    def full(path, data):
        raise OSError(28, "No space left on device")

    broken = RecordStore(tmp_path, write=full)
    broken.load()
    with pytest.raises(StoreUnusable, match="No space left"):
        await broken.put(record(1), new=True)
    assert broken.get("s1") is None
    assert (tmp_path / "hybrid-sessions.json").read_bytes() == before


@pytest.mark.parametrize("how", [lambda store: store.put(record(1), new=True), RecordStore.catch_up])
async def test_what_happened_counts_and_goes_with_the_next_write(tmp_path, how):
    disk = {"full": False}

    def write(path, data):
        if disk["full"]:
            raise OSError(28, "No space left on device")
        atomic.replace(path, data)

    store = RecordStore(tmp_path, write=write)
    store.load()
    await store.put(record(0), new=True)
    disk["full"] = True
    with pytest.raises(StoreUnusable):
        await store.put(evolve(record(0), state="closed"), keep=True)
    assert store.get("s0").state == "closed"
    with pytest.raises(StoreUnusable):
        await store.catch_up()
    disk["full"] = False
    await how(store)
    assert records(tmp_path).get("s0").state == "closed"


def test_no_temp_file_stays_behind(tmp_path):
    target = tmp_path / "target"
    target.mkdir()  # a folder cannot be replaced by a file
    with pytest.raises(OSError, match=r".*"):
        atomic.replace(target, b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["target"]
    (tmp_path / ".old.1.tmp").write_text("left by a killed server")
    atomic.sweep(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["target"]


def test_the_history_keeps_the_newest_and_no_doubles():
    one = record(agent_session_id="a0")
    for number in range(1, 12):
        one = evolve(one, **one.moved(f"a{number}"))
    assert one.agent_session_id == "a11"
    assert one.agent_session_history == [f"a{n}" for n in range(10, 10 - HISTORY_IDS, -1)]
    back = evolve(one, **one.moved("a9"))
    assert "a9" not in back.agent_session_history
    assert back.agent_session_history[0] == "a11"


async def test_a_hidden_value_keeps_what_is_stored(tmp_path):
    store = ConfigStore(tmp_path)
    store.load()
    made = await store.add(LaunchConfigBody(name="n", cmd=["x"], env={"A": "secret", "B": "b"}))
    await store.put(made.id, LaunchConfigBody(name="m", cmd=["x"], env={"A": HIDDEN, "C": "c"}, hybrid=True))
    again = ConfigStore(tmp_path)
    again.load()
    assert again.get(made.id).env == {"A": "secret", "C": "c"}
    assert '"hybrid": true' in (tmp_path / "launch-configs.json").read_text()
    with pytest.raises(BadRequest):
        await store.add(LaunchConfigBody(name="n", cmd=["x"], env={"A": HIDDEN}))
    await store.remove(made.id)
    with pytest.raises(NotFound):
        store.get(made.id)


def test_one_server_on_a_folder(tmp_path):
    path = tmp_path / "data"
    with folder.data_folder(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        with pytest.raises(ConfigError, match="in use"), folder.data_folder(path):
            pass
    with folder.data_folder(path):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"), folder.data_folder(tmp_path / "file"):
        pass


def test_the_token_is_private(tmp_path):
    first = folder.token(tmp_path)
    file = tmp_path / "token"
    assert len(first) >= 43
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert folder.token(tmp_path) == first
    assert folder.rotate(tmp_path) != first
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        folder.token(tmp_path)
    file.unlink()
    file.symlink_to("/etc/hostname")
    with pytest.raises(ConfigError, match="cannot be used"):
        folder.token(tmp_path)


async def test_no_record_is_written_that_could_not_be_read_again(tmp_path):
    store = records(tmp_path)
    long = ["demo", "x" * 900_000]

    async def fill() -> None:
        for number in range(RECORDS):
            await store.put(record(number, cmd=long), new=True)

    with pytest.raises(Conflict) as caught:
        await fill()
    assert caught.value.reason == "limit"
    number = len(store.all())
    assert 10 < number < RECORDS
    # What is there may still change, and is found again.
    await store.put(record(0, cmd=long, title="t" * 100_000))
    again = records(tmp_path)
    assert len(again.all()) == number
    with pytest.raises(Conflict):  # as full as before
        await again.put(record(number), new=True)
    for one in range(3):
        await again.remove(f"s{one}")
    await again.put(record(number), new=True)


async def test_a_change_that_could_not_be_read_again_is_refused(tmp_path):
    store = records(tmp_path)
    await store.put(record(), new=True)
    with pytest.raises(StoreUnusable, match=r"larger than .* remove some records"):
        await store.put(record(config_values={"a": "x" * STORE_FILE}))
    assert store.get("s0").config_values == {}
    assert records(tmp_path).get("s0") == store.get("s0")


async def test_configs_stay_readable_too(tmp_path):
    store = ConfigStore(tmp_path)
    store.load()

    async def fill() -> None:
        for _ in range(20):
            await store.add(LaunchConfigBody(name="n", cmd=["x" * 1_000_000]))

    with pytest.raises(StoreUnusable, match="remove some configs"):
        await fill()
    again = ConfigStore(tmp_path)
    again.load()
    assert again.all() == store.all() != []
