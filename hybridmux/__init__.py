"""hybridmux: one coding-agent conversation, in its own terminal UI or in a chat, under one id."""

__version__ = "0.1.0"
