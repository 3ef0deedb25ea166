"""Data loaders, their samplers and their worker processes."""
