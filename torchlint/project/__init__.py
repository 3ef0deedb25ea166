"""The project around a file: its root, modules, programs and target torch."""
