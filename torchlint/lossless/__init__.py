"""Code as it is written: LibCST's view of single statements. Loaded only where something is reported."""
