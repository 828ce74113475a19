"""Command lines and what they mean."""

import pytest

from hybridmux.agents.launch import Launch, Refusal
from hybridmux.agents.registry import Registry

EXEC = 'exec -- "$@"'


@pytest.mark.parametrize(
    ("cmd", "verdict"),
    [
        (["vim"], "unknown_agent"),
        (["opencode-x"], "unknown_agent"),
        (["hybridmux-demo", "tui"], "demo"),
        (["/opt/bin/hybridmux-demo", "tui"], "demo"),
        (["hybridmux-demo"], "unsupported_form"),
        (["hybridmux-demo", "acp"], "non_interactive"),
        (["hybridmux-demo", "tui", "--resume", "x"], "session_arg"),
        (["hybridmux-demo", "tui", "--resume=x"], "session_arg"),
        (["hybridmux-demo", "tui", "--what"], "unsupported_form"),
        (["opencode"], "opencode"),
        (["opencode", "--model", "a/b"], "opencode"),
        (["opencode", "--model=a/b"], "opencode"),
        (["opencode", "--model"], "unsupported_form"),
        (["opencode", "run", "hi"], "non_interactive"),
        (["opencode", "--model", "a", "run"], "non_interactive"),
        (["opencode", "-s", "ses_1"], "session_arg"),
        (["opencode", "--continue"], "session_arg"),
        (["opencode", "."], "directory_arg"),
        (["opencode", "--help"], "non_interactive"),
        (["bash", "-ic", EXEC, "webmux", "opencode"], "opencode"),
        (["/bin/zsh", "-ic", EXEC, "hybridmux", "hybridmux-demo", "tui"], "demo"),
        (["bash", "-c", "opencode"], "unsupported_form"),
        (["bash", "-ic", EXEC, "other", "opencode"], "unsupported_form"),
        (["bash", "-ic", EXEC, "webmux"], "unsupported_form"),
        (["bash"], "unsupported_form"),
        ([], "unsupported_form"),
    ],
)
def test_what_a_command_line_means(cmd, verdict):
    found = Registry().read(cmd)
    assert (found.reason if isinstance(found, Refusal) else found.agent) == verdict
    support = Registry().support(cmd)
    assert support.supported is isinstance(found, Launch)
    assert support.supported_agents == ["OpenCode", "Demo agent"]


def test_a_resume_keeps_what_it_can_and_says_what_it_drops():
    cmd = ["bash", "-ic", EXEC, "webmux", "opencode", "--model", "a/b", "--prompt", "hi", "--print-logs"]
    launch = Registry().read(cmd)
    assert isinstance(launch, Launch)
    assert launch.argv() == cmd
    assert launch.resumed(("--session", "ses_1")) == [
        *cmd[:5],
        "--model",
        "a/b",
        "--print-logs",
        "--session",
        "ses_1",
    ]
    assert launch.dropped == ("--prompt", "hi")
    assert launch.unsupported == ("--model", "a/b", "--prompt", "hi")
    assert launch.wrapped(["opencode", "acp"]) == [*cmd[:4], "opencode", "acp"]
