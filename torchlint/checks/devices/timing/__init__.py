"""Clocks around work that a GPU still does."""
