"""Assertions in the helpers of this folder are explained like those in tests."""

import pytest

HELPERS = ("breaks", "deeds", "endings", "holds", "house", "outcomes", "programs", "stage")
pytest.register_assert_rewrite(*(f"tests.faults.{name}" for name in HELPERS))
