"""Exit codes."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
TROUBLE = 2
"""Usage, configuration, a missing path, an internal error."""
INTERRUPTED = 130
TERMINATED = 143
"""What a shell reports for a process that SIGTERM ended."""
PIPE_CLOSED = 141
"""What a shell reports for a process that SIGPIPE ended."""
