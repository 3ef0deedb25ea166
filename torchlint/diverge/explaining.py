"""What is known about the place of a difference: findings of `check`, and the registry's word on the operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.catalogue.load import load_catalogue
from torchlint.catalogue.registry import Operator
from torchlint.diagnostics import Diagnostic
from torchlint.diverge.data import Cause, Explanation, Source
from torchlint.diverge.sources import Sources
from torchlint.engine.run import RunOptions, run

_DEVICES = ("cuda", "cpu", "mps", "xpu")


def explanations(cause: Cause, paths: Sequence[Path], sources: Sources) -> tuple[Explanation, ...]:
    """Findings on the lines of the difference and of what entered before it; then what the registry says."""
    lines = [*cause.stack, *(each.source for each in cause.entered if each.source is not None)]
    found = [*_findings(lines, paths, sources), *_facts(cause)]
    return tuple(dict.fromkeys(found))


def _findings(lines: Sequence[Source], paths: Sequence[Path], sources: Sources) -> Iterator[Explanation]:
    files = {sources.path_of(line): line for line in lines}
    asked = [*paths] or [path for path in files if path.is_file() and path.suffix in (".py", ".ipynb")]
    if not asked:
        return
    report = run(asked, RunOptions())
    for line in lines:
        for finding in report.diagnostics:
            if _stands_on(finding, line, sources):
                place = finding.location
                yield Explanation(finding.code, line.path, place.line, finding.message)


def _stands_on(finding: Diagnostic, line: Source, sources: Sources) -> bool:
    place = finding.location
    if place.cell != line.cell or not place.line <= line.line <= max(place.end_line, finding.lines[1]):
        return False
    return Path(place.path).resolve() == sources.path_of(line)


def _facts(cause: Cause) -> Iterator[Explanation]:
    """The rules of the operator, where its bits differ by itself."""
    if cause.origin is None or cause.origin.found.kind not in ("kernel", "memory") or cause.source is None:
        return
    name = cause.origin.found.operator.name.rpartition(".")[0]
    for operator in load_catalogue().operators:
        if name in operator.aten and not operator.is_context:
            message = f"`{name}` is known to the registry: {_known(operator)}"
            yield Explanation(operator.rule, cause.source.path, cause.source.line, message)
            return


def _known(operator: Operator) -> str:
    catalogue = load_catalogue()
    rows = {device: operator.row_for(device, catalogue.newest) for device in _DEVICES}
    told = [f"{row.under_mode.replace('_', ' ')} on {device}" for device, row in rows.items() if row is not None]
    return "; ".join(told) or operator.id
