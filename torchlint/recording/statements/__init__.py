"""Statements of a program: executed under watch, in processes apart, and what they made compared.

The probes for switches, seeds, loaders and orders are made of these parts.
"""
