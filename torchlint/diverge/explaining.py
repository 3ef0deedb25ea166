"""What is known about the place of a difference: findings of `check`, and the registry's word on the operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from torchlint.catalogue.load import load_catalogue
from torchlint.catalogue.registry import Operator
from torchlint.diagnostics import Location
from torchlint.diverge.data import Cause, Explanation, Source
from torchlint.diverge.sources import Sources
from torchlint.engine.run import RunOptions, run

_DEVICES = ("cuda", "cpu", "mps", "xpu")


def explanations(cause: Cause, paths: Sequence[Path], sources: Sources) -> tuple[Explanation, ...]:
    """Findings on the lines of the difference and of what entered before it, or about its operator.

    Where there are none, what the registry says.
    """
    found = tuple(dict.fromkeys(_findings(cause, paths, sources)))
    return found or tuple(_facts(cause))


def _findings(cause: Cause, paths: Sequence[Path], sources: Sources) -> Iterator[Explanation]:
    entered = [each.source for each in cause.entered if each.source is not None]
    lines = [*cause.stack, *entered]
    files = {sources.path_of(line) for line in lines}
    asked = [*paths] or [path for path in sorted(files) if path.is_file() and path.suffix in (".py", ".ipynb")]
    if not asked:
        return
    if cause.source is not None and cause.origin is not None and cause.origin.found.kind == "draw":
        entered.append(cause.source)
    rules, of_operator, is_explained = _rules_of(cause), list[Explanation](), False
    for finding in run(asked, RunOptions()).diagnostics:
        told = Explanation(finding.code, finding.location.path, finding.location.line, finding.message)
        # A place that explains a finding counts where something entered: others say what the program does besides.
        explained = (each.location for each in finding.related)
        if any(_stands_on(finding.location, finding.lines[1], line, sources) for line in lines) or any(
            _stands_on(place, 0, line, sources) for place in explained for line in entered
        ):
            is_explained = True
            yield told
        elif finding.code in rules:
            of_operator.append(told)
    if not is_explained:
        yield from of_operator


def _rules_of(cause: Cause) -> frozenset[str]:
    """The rules of the operator. They report a layer where it is made, and memory where it is taken: on other lines."""
    if cause.origin is None:
        return frozenset()
    found = cause.origin.found
    if found.kind == "memory":
        return frozenset({load_catalogue().operator("uninitialized_memory").rule})
    return frozenset(operator.rule for operator in _entries(cause))


def _entries(cause: Cause) -> Iterator[Operator]:
    """What the registry has of an operator whose bits differ by itself."""
    if cause.origin is not None and cause.origin.found.kind == "kernel":
        name = cause.origin.found.operator.name
        for each in load_catalogue().operators:
            # Products of sparse tensors go by the names of all products: what they multiply was not written down.
            if name in each.aten and not each.is_context and not each.condition.sums_entries:
                yield each


def _stands_on(place: Location, last: int, line: Source, sources: Sources) -> bool:
    if place.cell != line.cell or not place.line <= line.line <= max(place.end_line, last):
        return False
    return Path(place.path).resolve() == sources.path_of(line)


def _facts(cause: Cause) -> Iterator[Explanation]:
    """The rules of the operator, where its bits differ by itself."""
    operator = next(_entries(cause), None)
    if operator is None or cause.origin is None or cause.source is None:
        return
    message = f"`{cause.origin.found.operator.name}` is known to the registry: {_known(operator)}"
    yield Explanation(operator.rule, cause.source.path, cause.source.line, message)


def _known(operator: Operator) -> str:
    catalogue = load_catalogue()
    rows = {device: operator.row_for(device, catalogue.newest) for device in _DEVICES}
    told = [f"{row.under_mode.replace('_', ' ')} on {device}" for device, row in rows.items() if row is not None]
    return "; ".join(told) or operator.id
