"""Memory that is read before it is written, or written twice (TL118, TL119)."""
