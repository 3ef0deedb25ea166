"""Copies to the host that may still be on their way."""
