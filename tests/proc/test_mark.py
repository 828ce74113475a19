import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridmux.proc.mark import Mark, data_hash, new_run

PARTS = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)


@given(PARTS, PARTS, PARTS, PARTS)
def test_a_mark_survives_its_text(data, session, start, run):
    mark = Mark(data, session, start, run)
    assert Mark.parse(str(mark)) == mark


@pytest.mark.parametrize(
    "text", ["", "a:b:c", "a:b:c:d:e", "a:b::d", "a:b:c:d\n", "a:b:c:ü", "a:b:c:" + "d" * 65]
)
def test_anything_else_is_no_mark(text):
    assert Mark.parse(text) is None


@given(st.text())
def test_parsing_survives_any_text(text):
    mark = Mark.parse(text)
    assert mark is None or str(mark) == text


def test_parts_that_could_not_be_read_back_are_refused():
    with pytest.raises(ValueError, match="data"):
        Mark("a:b", "s", "t", "r")


def test_a_folder_has_one_hash_under_all_its_names(tmp_path):
    real, other = tmp_path / "real", tmp_path / "other"
    real.mkdir()
    other.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert data_hash(real) == data_hash(tmp_path / "link") == data_hash(tmp_path / "." / "real")
    assert data_hash(real) != data_hash(other)
    assert Mark.parse(f"{data_hash(real)}:s:t:{new_run()}")


def test_runs_are_told_apart():
    assert new_run() != new_run()
