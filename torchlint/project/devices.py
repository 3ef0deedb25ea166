"""Which devices a project and its programs run on, where manifests and code say so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from torchlint.facts.accelerators import CUDA, GPUS
from torchlint.facts.summary import FileSummary
from torchlint.project.call_graph import CallGraph
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness
from torchlint.project.requirements.lines import text_of

_ROCM = re.compile(r"\+rocm\d|/whl/(?:nightly/|test/)?rocm|\brocm/pytorch")
_CUDA = re.compile(r"\+cu\d\d|/whl/(?:nightly/|test/)?cu\d\d|\bnvidia/(?:pytorch|cuda)|\bpytorch/pytorch:")
"""How manifests ask for a build of torch: `torch==2.9.1+rocm6.4`, an index of wheels, an image."""
_OTHERS = frozenset({"npu", "hpu", "xla", "mps", "xpu"})


def gpus_of(manifests: Iterable[Path]) -> tuple[str, ...]:
    """The GPUs that manifests ask a build of torch for: `cuda`, unless they ask for `rocm` alone."""
    texts = [text_of(path) for path in manifests]
    is_rocm = any(_ROCM.search(text) for text in texts)
    is_cuda = not is_rocm or any(_CUDA.search(text) for text in texts)
    return (*((CUDA,) if is_cuda else ()), *(("rocm",) if is_rocm else ()))


def used_among(devices: Sequence[str], used: Collection[str]) -> tuple[str, ...]:
    """Those of a project's devices that code uses, which names every GPU `cuda`."""
    return tuple(device for device in devices if (CUDA if device in GPUS else device) in used)


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
