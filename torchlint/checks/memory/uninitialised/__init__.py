"""From what makes memory without values to what reads it."""
