"""What a program's reproducibility stands on: one page a program, as plain data."""
