"""Seeds that a user sets and no code reads (TL305)."""
