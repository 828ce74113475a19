"""`hybridmux`: settings, and what a person is told when one cannot be used."""

import subprocess
import sys
from pathlib import Path

import pytest

from hybridmux.errors import ConfigError
from hybridmux.settings import load

PROGRAM = Path(sys.executable).parent / "hybridmux"


def run(*args: str, home: Path) -> subprocess.CompletedProcess[str]:
    """The program, with a HOME of its own."""
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    return subprocess.run([PROGRAM, *args], env=env, capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = 'x'", "port must be a whole number"),
        ("prot = 1", "unknown setting prot"),
        ("[budgets]\nchioce = 1.0", "unknown setting budgets.chioce"),
        ("[budgets]\nchoice = 'long'", "budgets.choice must be a number"),
        ("budgets = 3", "budgets must be an object"),
        ("port = 70000", "not between 0 and 65535"),
        ("host = '0.0.0.0'", "not a loopback address"),
        ("= 3", "is not TOML"),
    ],
)
def test_a_bad_config_is_one_sentence_and_exit_2(tmp_path, text, words):
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert words in str(caught.value)
    done = run("serve", "--config", str(file), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"hybridmux: {caught.value}\n"


def test_flags_win_over_the_file(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text("port = 1\nhost = 'localhost'\n[budgets]\nchoice = 3\n")
    settings = load(file, port=2, host=None)
    assert (settings.port, settings.host, settings.budgets.choice) == (2, "localhost", 3)


def test_a_file_where_the_data_folder_should_be(tmp_path):
    (tmp_path / "data").write_text("")
    done = run("serve", "--port", "0", "--data", str(tmp_path / "data"), home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("hybridmux: data folder ")
    assert done.stderr.count("\n") == 1


def test_help_names_every_command(tmp_path):
    done = run("--help", home=tmp_path)
    assert done.returncode == 0
    for word in ("serve", "token", "hybridmux serve --port 0"):
        assert word in done.stdout


def test_the_token_command(tmp_path):
    first, second = run("token", home=tmp_path), run("token", home=tmp_path)
    assert first.returncode == 0
    assert first.stdout == second.stdout
    assert run("token", "--rotate", home=tmp_path).stdout != first.stdout


@pytest.mark.parametrize("args", [("--help",), ("serve", "--help"), ("doctor", "--help")])
@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_help_is_there_in_every_locale(tmp_path, args, encoding):
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONIOENCODING": encoding}
    done = subprocess.run([PROGRAM, *args], env=env, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"usage: hybridmux" in done.stdout


def test_a_data_folder_that_no_folder_can_be_called(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('data = "/x\\u0000y"\n')
    done = run("serve", "--config", str(file), home=tmp_path)
    assert (done.returncode, done.stderr) == (2, "hybridmux: data folder '/x\\x00y' is no path\n")
