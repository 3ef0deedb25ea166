"""Subjects and contexts for the tests of probes: what is flagged carries the comment `# flagged` in the test's file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from torchlint.catalogue import load_catalogue
from torchlint.catalogue.versions import parse_minor
from torchlint.recording.messages import Code, ProbedFinding, Request, Target
from torchlint.recording.probe_context import ProbeContext
from torchlint.recording.subject import Subject
from torchlint.recording.tracing.lines import remember_constructors
from torchlint.verify.operator_facts import operator_facts

OPERATORS = {operator.id: operator for operator in load_catalogue().operators}
RELEASE = parse_minor(torch.__version__)


def finding_in(made: object, *entries: str, mark: str = "# flagged", is_refused: bool = False) -> ProbedFinding:
    """A finding about the marked line of a class or function, with entries of the registry."""
    lines, first = inspect.getsourcelines(made)  # type: ignore[arg-type]
    marked = [first + offset for offset, line in enumerate(lines) if line.rstrip().endswith(mark)]
    assert len(marked) == 1, f"{made}: {len(marked)} lines are marked"
    return finding(marked[0], marked[0], *entries, is_refused=is_refused)


def finding(line: int, end_line: int, *entries: str, is_refused: bool = False) -> ProbedFinding:
    operators = operator_facts([OPERATORS[entry] for entry in entries], RELEASE, is_refused=is_refused)
    return ProbedFinding(
        index=0, code="TL100", line=line, end_line=end_line, probes=("trace", "repeat", "strict"), operators=operators
    )


def context(
    make: Callable[[], Any],
    flagged: ProbedFinding,
    *inputs: Any,  # noqa: ANN401
    runs: int = 10,
    **options: Any,  # noqa: ANN401
) -> ProbeContext:
    """A context on the CPU with the subject that `make` constructs."""
    with remember_constructors():
        call = make()
    path = options.pop("path", None) or _file_of(make)
    seconds = options.pop("seconds", 600.0)
    request = Request(
        code=Code(path=path, module="flagged", text=""),
        target=Target(kind="module", name="flagged"),
        findings=(flagged,),
        runs=runs,
        seconds=seconds,
    )
    return ProbeContext(request, "cpu", Subject("flagged", call, inputs, **options))


def _file_of(make: Callable[[], Any]) -> str:
    return str(Path(inspect.getfile(make)))


def floats(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def indices(below: int, *shape: int) -> torch.Tensor:
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(0))
