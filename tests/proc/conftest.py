from tests.support.processes import env, mark, nothing_left, read_line, started, until

__all__ = ["env", "mark", "nothing_left", "read_line", "started", "until"]
