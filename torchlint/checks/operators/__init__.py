"""Operators of the registry (TL1xx), and kernels that people write themselves."""
