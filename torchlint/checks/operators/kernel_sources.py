"""TL116 in CUDA source that stands in a string: atomic additions of floats."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.checks.framework.registration import Finding, Triggers, check
from torchlint.checks.framework.visit import Visit
from torchlint.facts.definitions import seen_values
from torchlint.facts.values import argument_of
from torchlint.source.cuda import atomic_additions

_CODE = "TL116"
_COMPILERS = {
    "torch.utils.cpp_extension.load_inline": ("cuda_sources", 2),
    "torch.cuda._compile_kernel": ("kernel_source", 0),
    "cupy.RawKernel": ("code", 0),
    "cupy.RawModule": ("code", 0),
    "pycuda.compiler.SourceModule": ("source", 0),
}
"""Which argument of each function holds CUDA source."""


@check(codes=(_CODE,), triggers=Triggers(calls=frozenset(_COMPILERS)))
def find(visit: Visit) -> Iterator[Finding]:
    """Each line of a source string that adds floats atomically."""
    argument = _COMPILERS.get(visit.callee() or "")
    given = argument_of(visit.call, *argument) if argument else None
    for text in _strings(visit, given, visit.scope):
        for line, name in atomic_additions(str(text.value)):
            yield Finding(_CODE, visit.node, {"name": name}, "cuda", line=_line_in_file(text, line))


def _strings(visit: Visit, given: ast.expr | None, scope: int) -> Iterator[ast.Constant]:
    """The string constants that an argument is, through names and lists."""
    for value, where in seen_values(visit.facts, given, scope) if given is not None else ():
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value
        for element in value.elts if isinstance(value, ast.List | ast.Tuple) else ():
            yield from _strings(visit, element, where)


def _line_in_file(text: ast.Constant, line: int) -> int:
    """Where the n-th line of a string stands; one with escaped line breaks has fewer lines in the file."""
    lines = (text.end_lineno or text.lineno) - text.lineno
    return text.lineno + min(line, lines) if lines else text.lineno
