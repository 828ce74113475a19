"""Composition root: builds the server from its rooms."""
