"""Generators: who seeds them, when, and with what (TL301 to TL304, TL309 to TL312)."""
