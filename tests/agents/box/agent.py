"""What the sandbox must know of each agent. One more is an entry here and one in `versions.toml`."""

import json
from typing import Any

from attrs import frozen

MODEL_PORT = 8099
MODEL_URL = f"http://127.0.0.1:{MODEL_PORT}/v1"


@frozen(kw_only=True)
class Agent:
    """One agent in the sandbox."""

    name: str
    env: dict[str, str]
    """Added to the sandbox's environment: what keeps it off the network, and dummy keys."""
    home: dict[str, str]
    """Files of the throwaway HOME, path → text: no first-run questions, and the fake model."""


def _opencode_config() -> dict[str, Any]:
    model = {"name": "Fake Model", "limit": {"context": 100_000, "output": 4_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": MODEL_URL, "apiKey": "dummy"},
        "models": {"fake-model": model},
    }
    return {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        # By default it asks for nothing.
        "permission": {"bash": "ask", "edit": "ask"},
        "provider": {"fake": provider},
    }


OPENCODE = Agent(
    name="opencode",
    env={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_SHARE": "1",
    },
    home={".config/opencode/opencode.json": json.dumps(_opencode_config(), indent=2)},
)

AGENTS = {agent.name: agent for agent in (OPENCODE,)}
