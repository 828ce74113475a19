"""The built-in demo agent: a small real TUI and a real ACP agent over one on-disk store.

It stands for a third-party program: it imports nothing else of hybridmux and speaks its own small JSON-RPC.
It starts often (every test, every first try of a user), so it avoids heavy imports: its records are named
tuples, not attrs classes, and prompt_toolkit is loaded by the TUI alone.
"""
