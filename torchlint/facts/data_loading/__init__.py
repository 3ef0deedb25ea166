"""Data loaders and their worker processes."""
