"""Clocks that are read around work on a GPU, and what waits for it."""
