import pytest

from hybridmux.proc.inherited import inherited
from hybridmux.proc.mark import ENV

OWN = [
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "ZELLIJ",
    "ZELLIJ_SESSION_NAME",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "COLUMNS",
    "LINES",
    "WINDOWID",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "KITTY_PID",
    "WT_SESSION",
    "ITERM_SESSION_ID",
    "VSCODE_IPC_HOOK_CLI",
    "SSH_TTY",
    "GPG_TTY",
    "NVIM",
    "NOTIFY_SOCKET",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "WATCHDOG_USEC",
    "SYSTEMD_EXEC_PID",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "OPENCODE",
]
THEIRS = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TERM",
    "COLORTERM",
    "EDITOR",
    "SSH_AUTH_SOCK",
    "SSH_CONNECTION",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "TMUX_TMPDIR",
    "NO_COLOR",
    "LINES_OF_MINE",
    "LISTEN_ADDR",
    "XTERM_COLOURS",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_EXECUTABLE",
    "ANTHROPIC_API_KEY",
    "CODEX_HOME",
    "CODEX_PATH",
    "OPENCODE_CONFIG",
    "spring.profile",
]


@pytest.mark.parametrize("name", [*OWN, ENV])
def test_what_tells_of_the_server_is_not_handed_on(name):
    assert inherited({name: "1", "HOME": "/root"}) == {"HOME": "/root"}


@pytest.mark.parametrize("name", THEIRS)
def test_all_else_is(name):
    assert inherited({name: "1"}) == {name: "1"}
