"""Runs of a subject, one way a module: recorded, repeated, under the determinism mode, in double precision, trained."""
