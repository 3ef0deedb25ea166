"""Which places an index names: whether two of them can be the same."""
