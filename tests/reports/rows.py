"""Which rows of the field reports a module answers for."""

import re
from collections.abc import Mapping


def unaccounted(module: Mapping[str, object], rows: list[str], reasons: Mapping[str, str]) -> list[str]:
    """Rows that have neither a test named after them nor a reason, or both."""
    named = [re.match(r"test_([a-z]\d+)_", name) for name in module]
    tested = {found[1].upper() for found in named if found}
    return [row for row in rows if (row in tested) == bool(reasons.get(row))] + sorted(tested - set(rows))
