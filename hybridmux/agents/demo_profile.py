"""The built-in demo agent's profile: it states everything about itself in OSC 7501 reports."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve

from hybridmux.agents.farewell import farewell as last_line
from hybridmux.agents.launch import Launch
from hybridmux.agents.options import ArgRules, Option
from hybridmux.agents.profile import Look, Press, Profile, TuiState
from hybridmux.wire.types import ConnectorInfo

_TURNS = {"idle": "idle", "working": "running", "blocked": "asking"}


def _fields(report: str) -> dict[str, str]:
    """`state=idle:app=x:session=y` as a mapping."""
    return dict(part.split("=", 1) for part in report.split(":") if "=" in part)


def _flag(value: str | None) -> bool | None:
    return None if value is None else value == "1"


def observe(look: Look) -> TuiState:
    """Reads the newest report; without one nothing is known."""
    if not look.report:
        return TuiState()
    facts = _fields(look.report)
    return TuiState(
        turn=_TURNS.get(facts.get("state", ""), "unknown"),  # type: ignore[arg-type]  # values are TurnState
        ready=True,
        session_id=facts.get("session"),
        stored=_flag(facts.get("stored")),
        draft=_flag(facts.get("draft")),
    )


farewell = last_line(r"(?:Continue with: )?hybridmux-demo tui --resume (demo_\w+)")


def _acp(launch: Launch) -> tuple[str, ...]:
    return (*launch.command, "acp")


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """The demo agent stands beside our own program, which need not be on the user's PATH."""
    beside = str(Path(sys.executable).parent)
    return {**env, "PATH": os.pathsep.join([env.get("PATH", os.defpath), beside])}


_RULES = ArgRules(
    executables=frozenset({"hybridmux-demo"}),
    leading=("tui",),
    options={"--resume": Option(takes="one", refuse="session_arg")},
    subcommands=frozenset({"acp", "sessions", "show"}),
)

PROFILE = Profile(
    name="demo",
    title="Demo agent",
    args=_RULES,
    acp_argv=_acp,
    resume_args=lambda session_id: ("--resume", session_id),
    observe=observe,
    interrupt=(Press(b"\x1b"),),
    dismiss=(Press(b"\x1b"),),
    quit=(Press(b"\x04"),),
    farewell=farewell,
    identity="report",
    occupied=re.compile(r"Session \S.* is open in another program"),
    environment=_environment,
    reapply=("effort", "fast"),
    force_note="What runs in the background of the terminal ends with it.",
)

LONELY = evolve(
    PROFILE,
    name="demo-lonely",
    title="Demo agent without its connector",
    args=ArgRules(executables=frozenset({"hybridmux-demo-lonely"}), leading=("tui",), options=_RULES.options),
    acp_argv=lambda _: ("hybridmux-demo-lonely-acp",),
    connector=ConnectorInfo(
        executable="hybridmux-demo-lonely-acp",
        title="Demo ACP",
        install_command="npm install -g hybridmux-demo-lonely-acp",
        docs_url="https://example.invalid/",
    ),
)
"""For tests only (setting `test_profiles`): the same TUI, with a connector that is never installed."""
