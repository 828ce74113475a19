"""What programs inherit of the server's own environment: all of it but what tells of the server itself.

Its terminal is not theirs: in a pane of tmux an agent would wrap its sequences for a tmux that is not there,
and take the server's window size for its own. Its service manager's sockets and ids are not theirs either,
and a server that was started by an agent does not make their agents run inside of that one.
"""

import re
from collections.abc import Mapping

from hybridmux.proc.mark import ENV

_TERMINAL = """
    TERM_PROGRAM TERM_PROGRAM_VERSION TERM_SESSION_ID TERMCAP TERMINAL_EMULATOR LC_TERMINAL
    LC_TERMINAL_VERSION COLUMNS LINES COLORFGBG WINDOWID VTE_VERSION SSH_TTY GPG_TTY
    TMUX TMUX_PANE STY WINDOW BYOBU_.* ZELLIJ ZELLIJ_.*
    ALACRITTY_.* GHOSTTY_.* GNOME_TERMINAL_.* ITERM_.* KITTY_.* KONSOLE_.* TILIX_ID WEZTERM_.* WT_SESSION
    WT_PROFILE_ID XTERM_LOCALE XTERM_SHELL XTERM_VERSION
    INSIDE_EMACS NVIM NVIM_LISTEN_ADDRESS VIM_TERMINAL VIM_SERVERNAME VSCODE_.*
"""
_SERVICE = """
    NOTIFY_SOCKET INVOCATION_ID JOURNAL_STREAM WATCHDOG_PID WATCHDOG_USEC FDSTORE SYSTEMD_EXEC_PID
    LISTEN_FDS LISTEN_FDNAMES LISTEN_PID LISTEN_PIDFDID MAINPID MANAGERPID MANAGERPIDFDID
    MEMORY_PRESSURE_WATCH MEMORY_PRESSURE_WRITE CREDENTIALS_DIRECTORY RUNTIME_DIRECTORY STATE_DIRECTORY
    CACHE_DIRECTORY LOGS_DIRECTORY CONFIGURATION_DIRECTORY
    SUPERVISOR_ENABLED SUPERVISOR_GROUP_NAME SUPERVISOR_PROCESS_NAME SUPERVISOR_SERVER_URL
"""
_AGENT = """
    CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION
    CLAUDE_PID CODEX_SANDBOX CODEX_SANDBOX_.* CODEX_THREAD_ID OPENCODE OPENCODE_PID OMPCODE AI_AGENT
"""
_OWN = re.compile("|".join([ENV, *(_TERMINAL + _SERVICE + _AGENT).split()]))


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that sessions start from; what their launch configs set comes on top of it."""
    return {name: value for name, value in environ.items() if not _OWN.fullmatch(name)}
