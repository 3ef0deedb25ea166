"""Which devices a program runs on, where its code says so."""

from __future__ import annotations

from collections.abc import Mapping

from torchlint.facts.accelerators import CUDA
from torchlint.facts.summary import FileSummary
from torchlint.project.call_graph import CallGraph
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness

_OTHERS = frozenset({"npu", "hpu", "xla", "mps", "xpu"})


def devices_of(
    program: Program, randomness: Randomness, calls: CallGraph, summaries: Mapping[str, FileSummary]
) -> frozenset[str] | None:
    """The accelerators that a program uses, or may use; None where nothing is known of it.

    A program that trains, and whose files name no accelerator and take no device from anywhere, stays on the CPU, where
    torch makes tensors. One that names another accelerator and never CUDA uses that one. All else may use CUDA.
    """
    files = calls.loaded(program.files) & summaries.keys()
    named = frozenset[str]().union(*(summaries[path].devices for path in files))
    if CUDA in named:
        return frozenset({CUDA}) | (named & _OTHERS)
    if named & _OTHERS:
        return named & _OTHERS
    if named:
        return frozenset({CUDA})
    return frozenset() if randomness.training is not None else None
