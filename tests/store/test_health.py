"""A data folder is looked over, and nothing in it changes."""

import os

import pytest

from hybridmux.store import folder as store_folder
from hybridmux.store.health import look_over


def tree(folder):
    return {str(one): (one.lstat().st_mtime_ns, one.lstat().st_mode) for one in folder.rglob("*")}


@pytest.fixture
def data(tmp_path):
    """A folder as a server leaves it."""
    folder = tmp_path / "data"
    with store_folder.data_folder(folder):
        store_folder.token(folder)
    for name, key, version in (("hybrid-sessions", "records", 1), ("launch-configs", "configs", 2)):
        file = folder / f"{name}.json"
        file.write_text(f'{{"version": {version}, "{key}": []}}')
        file.chmod(0o600)
    return folder


def looked(folder, level):
    before = tree(folder)
    found = [one.text for one in look_over(folder) if one.level == level]
    assert tree(folder) == before
    return found


def test_a_folder_in_order(data):
    assert looked(data, "note") + looked(data, "wrong") == []
    assert looked(data, "ok")[2:] == [
        "hybrid-sessions.json: 0 records",
        "launch-configs.json: 0 launch configs",
    ]


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    (finding,) = look_over(tmp_path / "data")
    assert finding.level == "note"
    assert not (tmp_path / "data").exists()


def test_an_empty_folder_gets_no_token(data):
    for file in data.iterdir():
        file.unlink()
    assert looked(data, "wrong") == []
    assert len(looked(data, "note")) == 3


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: (data / "token").chmod(0o640), "chmod 600"),
        (lambda data: (data / "token").write_text("short"), "holds no token"),
        (lambda data: (data / "token").unlink() or (data / "token").symlink_to("/gone"), "link to nowhere"),
        (lambda data: data.chmod(0o777), "can be changed by others"),
        (lambda data: os.chown(data, 12345, -1), "belongs to another user"),
        (lambda data: (data / "launch-configs.json").chmod(0o644), "chmod 600"),
        (lambda data: (data / "launch-configs.json").write_text("{"), "launch-configs.json cannot be used"),
        (lambda data: (data / "hybrid-sessions.json").write_text('{"version": 9}'), "not of version 1"),
    ],
)
def test_what_a_person_must_mend(data, spoil, words):
    if "chown" in spoil.__code__.co_names and os.getuid():
        pytest.skip("only root can give a folder away")
    spoil(data)
    (text,) = looked(data, "wrong")
    assert words in text


def test_a_folder_that_others_can_look_into_is_a_note(data):
    data.chmod(0o755)
    assert "mode 0755" in looked(data, "note")[0]


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "data").write_text("")
    assert [one.level for one in look_over(tmp_path / "data")] == ["wrong"]
