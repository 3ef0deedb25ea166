"""Diagnostics for tests of the reporters."""

from __future__ import annotations

from typing import Any

from torchlint.catalogue import Rule
from torchlint.diagnostics import Confidence, Diagnostic, Fix, Location, Severity


def make_finding(path: str = "train.py", line: int = 3, column: int = 5, **changes: Any) -> Diagnostic:  # noqa: ANN401 - any field
    cell = changes.pop("cell", None)
    end = changes.pop("end", (line, column + 3))
    fields: dict[str, Any] = {
        "code": "TL101",
        "name": "nondeterministic-operator",
        "severity": Severity.WARNING,
        "confidence": Confidence.HIGH,
        "message": "`index_add_` varies on CUDA",
        "location": Location(path, cell, line, column, *end),
        "url": "https://example.org/TL101",
        "advice": "Turn the mode on.",
        "source_line": "    x.index_add_(0, i, v)",
    }
    return Diagnostic(**{**fields, **changes})


def make_fix(key: str = "mode", *, raises: bool = False, **changes: str) -> Fix:
    words = {"one": "turn the mode on in train.py:14", "many": "turn the mode on in train.py:14", **changes}
    return Fix(key, words["one"], words["many"], raises=raises)


def make_rule(code: str = "TL101", **changes: Any) -> Rule:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {"name": "nondeterministic-operator", "status": "planned", "summary": "Adds in any order."}
    return Rule(code=code, **{**fields, **changes})
