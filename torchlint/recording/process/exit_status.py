"""How a process ended, in one line."""

from __future__ import annotations

import signal


def how_it_ended(code: int) -> str:
    """Of an exit code as `subprocess` has it: a signal is a negative number."""
    if code >= 0:
        return f"exited with code {code} before it was done"
    name = (signal.strsignal(-code) or "ended").lower()
    if -code == getattr(signal, "SIGKILL", 9):
        return f"killed (signal {-code}), by itself, or by the system because memory ran out"
    return f"{name} (signal {-code})"
