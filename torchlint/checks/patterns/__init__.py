"""Rules that are TOML alone."""
