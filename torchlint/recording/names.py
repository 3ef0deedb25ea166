"""The names of probes and verdicts: free of every import, so that `--help` may list them."""

from __future__ import annotations

from typing import Literal

ProbeName = Literal[
    "trace", "repeat", "strict", "memory", "devices", "shapes", "algebra", "config", "loader", "order", "draws"
]
ON_ACCELERATORS: frozenset[ProbeName] = frozenset({"repeat", "strict", "devices", "memory"})
"""What an accelerator can say more about than the CPU; the others are asked once, on the CPU."""

VerdictName = Literal[
    "DIVERGED",
    "RAISED",
    "CONFIRMED",
    "REFUTED",
    "VARIES",
    "TRACED",
    "KERNEL-ONLY",
    "NOT REPRODUCED",
    "SKIPPED",
]
