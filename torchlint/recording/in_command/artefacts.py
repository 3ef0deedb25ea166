"""Operators that are dispatched only because somebody records.

Under a dispatch mode autograd takes the paths that it has for subclasses of tensors. Of the operators in the registry,
these came of it when all samples of torch's own operator tests (5314 calls, torch 2.13) were run with a recorder and
with the profiler alone; the tests of this project repeat the comparison for the nodes named here.
"""

from __future__ import annotations

from typing import Any

_BY_NODE = {
    "ProdBackward": frozenset({"aten.cumprod"}),
    "CumprodBackward": frozenset({"aten.gather"}),
    "torch::autograd::AccumulateGrad": frozenset({"aten.new_empty_strided"}),
}


def is_artefact(node: Any, operator: str) -> bool:  # noqa: ANN401 - torch annotates nodes wrongly
    """Whether the node of the graph that runs dispatches an operator (`aten.cumprod.default`) only when recorded."""
    kind = node.name().rstrip("0123456789")
    if operator.rpartition(".")[0] not in _BY_NODE.get(kind, ()):
        return False
    return kind != "ProdBackward" or not _has_zero(node)


def _has_zero(product: Any) -> bool:  # noqa: ANN401 - as above
    """Whether a product has a factor that is zero: its gradient takes the cumulative product then in any case."""
    return bool((product._saved_self == 0).any())  # noqa: SLF001 - torch documents these names
