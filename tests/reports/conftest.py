"""The servers of the end-to-end tests."""

from tests.e2e.conftest import fault, server

__all__ = ["fault", "server"]
