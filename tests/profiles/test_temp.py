"""Temp folders: they go with their block, and those of a dead server with the next one."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import trio

from hybridmux.agents.temp import sweep, temp_folder
from hybridmux.proc import table


def pid_of_the_dead() -> int:
    """The pid of a process that has ended just now."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


async def test_a_folder_goes_with_its_block(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with temp_folder() as folder:
        await trio.Path(folder, "left.so").touch()
        assert Path(folder).parent == tmp_path
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_another_sweep_takes_first_is_left_to_it(tmp_path, monkeypatch):
    """It goes between the look into the temp folder and the look at it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with temp_folder() as folder:
        space = Path(folder).name.split("-")[1]
        dead = tmp_path / f"hybridmux-{space}-{pid_of_the_dead()}-7-abc"
        monkeypatch.setattr(Path, "glob", lambda *_: [dead])
        assert sweep() == 0


async def test_a_maker_that_cannot_be_seen_is_not_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def taken(work):
        raise OSError(errno.EMFILE, "Too many open files")

    async with temp_folder() as folder:
        monkeypatch.setattr(table, "with_spare", taken)
        assert sweep() == 0
        assert await trio.Path(folder).is_dir()


async def test_only_folders_of_dead_makers_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = pid_of_the_dead()
    async with temp_folder() as folder:
        mine = Path(folder)
        space, pid = mine.name.split("-")[1:3]
        assert pid == str(os.getpid())
        others = [f"hybridmux-{space}-{pid}-7-abc", f"hybridmux-{space}-{dead}-7-abc"]
        kept = ["hybridmux-1-1-1-abc", "hybridmux-bench-abc", "other"]
        for name in (*others, *kept):
            (tmp_path / name).mkdir()
            (tmp_path / name / "file").touch()
        assert sweep() == len(others)
        assert {path.name for path in tmp_path.iterdir()} == {mine.name, *kept}
