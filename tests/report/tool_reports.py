"""A report with all that is hard to print: foreign letters, notebooks, spans over lines, odd paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.report.findings import make_finding, make_rule
from torchlint.diagnostics import InternalError, Location, Related, Report, Severity, Skipped
from torchlint.report.context import Context
from torchlint.report.formats import render
from torchlint.report.sources import Sources

PLAIN = "src/train.py"
ODD = "src/a b%,é:1.py"
NOTEBOOK = "nb.ipynb"

_PLAIN = 'größe = "𝒳"; x.index_add_(0, i, v)\nx.index_add_(\n    0, i, v)\n'
_CELLS = [
    {"cell_type": "markdown", "source": ["# Title\n", "text"]},
    {"cell_type": "code", "source": ["import torch\n", "x = 1\n"]},
    {"cell_type": "code", "source": ["y = 2\n", 'é = "\\""; x.index_add_(0, i, v)']},
]

FILES: dict[Path, bytes] = {
    Path(PLAIN): _PLAIN.encode(),
    Path(ODD): b"x = 1\nx.index_add_(0, i, v)\n",
    Path(NOTEBOOK): json.dumps({"cells": _CELLS, "metadata": {}}, indent=1, ensure_ascii=False).encode(),
}

_RELATED = (Related(Location(NOTEBOOK, 2, 2, 1, 2, 6), "made here"),)

REPORT = Report(
    (
        make_finding(NOTEBOOK, 2, 11, cell=3, end=(2, 34), code="TL401", name="unsorted-listing"),
        make_finding(ODD, 2, 1, end=(2, 24), severity=Severity.INFO, message="100 %: a, b; see x.py:3"),
        make_finding(PLAIN, 1, 14, end=(1, 36), related=_RELATED, severity=Severity.ERROR),
        make_finding(PLAIN, 2, 1, end=(3, 13), message="`a\x1bb\nc` varies\ud800"),
    ),
    notes=(Skipped("needs Python 3.14", "newer, file.py"), Skipped("needs Python 3.12", NOTEBOOK, 4)),
    internal_errors=(InternalError("some_check", PLAIN, "KeyError: 'x'"),),
    files=(NOTEBOOK, ODD, PLAIN, "src/clean.py"),
)
RULES = {
    code: make_rule(code, name=name, why="Adds\nin any order.", bad="x = 1\n", good="y = 1\n", severity="error")
    for code, name in (("TL101", "nondeterministic-operator"), ("TL401", "unsorted-listing"))
}


def rendered(name: str, report: Report = REPORT, **changes: Any) -> str:  # noqa: ANN401 - any field
    context = Context(sources=Sources(FILES), load_rules=lambda: RULES, **changes)
    return "\n".join(render(name, report, context))


def file_lines(path: str) -> list[str]:
    """The lines of a file as an editor shows them."""
    return FILES[Path(path)].decode().split("\n")
