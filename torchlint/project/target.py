"""The target torch and the devices of each file: what the configuration, manifests, code and the environment say."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from torchlint.catalogue.versions import (
    Minor,
    TorchTarget,
    admitted_releases,
    format_minor,
    nearest_release,
    parse_minor,
)
from torchlint.diagnostics import Note
from torchlint.facts.accelerators import CUDA, GPUS
from torchlint.facts.summary import FileSummary
from torchlint.project.call_graph import CallGraph
from torchlint.project.outside import Outside
from torchlint.project.programs import Program
from torchlint.project.randomness import Randomness
from torchlint.project.requirements.manifests import Manifests
from torchlint.project.requirements.specifiers import text_of

_TORCH = "torch"
_UNPINNED = "no torch release is pinned: the newest, and CUBLAS_WORKSPACE_CONFIG for 2.9 and older too"
Release = TypeVar("Release")
_ROCM = re.compile(r"\+rocm\d|/whl/(?:nightly/|test/)?rocm|\brocm/pytorch")
_CUDA = re.compile(r"\+cu\d\d|/whl/(?:nightly/|test/)?cu\d\d|\bnvidia/(?:pytorch|cuda)|\bpytorch/pytorch:")
"""How manifests ask for a build of torch: `torch==2.9.1+rocm6.4`, an index of wheels, an image."""
_OTHERS = frozenset({"npu", "hpu", "xla", "mps", "xpu"})


class Targets:
    """The torch releases that each file of a project may run on.

    In this order: the configuration; the nearest manifest that names a torch; the torch installed in the project's
    environment; the newest release. Without a `root` only an environment that is active counts.
    """

    def __init__(
        self,
        root: Path | None,
        manifests: Manifests,
        configured: str | None,
        releases: Sequence[Minor],
        outside: Outside,
    ) -> None:
        self._manifests = manifests
        self._releases = tuple(releases)
        self._of_pins = functools.cache(
            lambda pins: self._admitted(pins.specifiers, f"{pins.manifest}: torch{', torch'.join(pins.specifiers)}")
        )
        self._root, self._outside = root, outside
        self._configured = configured

    def of(self, path: str) -> TorchTarget:
        """The target of one file."""
        if self._configured is not None:
            return self._everywhere
        pins = self._manifests.pins(path, _TORCH)
        return self._everywhere if pins is None else self._of_pins(pins)

    @functools.cached_property
    def _everywhere(self) -> TorchTarget:
        """Of files that no manifest speaks of."""
        if self._configured is not None:
            return self._admitted((self._configured,), f"torch{self._configured}, as configured")
        version = self._outside.installed_torch(self._root)
        if version:
            installed = parse_minor(version)
            source = f"torch {format_minor(installed)} installed in the project's environment"
            if installed in self._releases:  # nothing to be weighed, and `packaging` need not be loaded
                return TorchTarget((installed,), source, declared=False)
            return self._admitted((f"=={format_minor(installed)}.*",), source, declared=False)
        return TorchTarget(self._releases[-1:], _UNPINNED, pinned=False, declared=False)

    def _admitted(self, specifiers: Sequence[str], source: str, *, declared: bool = True) -> TorchTarget:
        found = _together([set(admitted_releases(specifier, self._releases)) for specifier in specifiers])
        if found:
            return TorchTarget(tuple(sorted(found)), source, declared=declared)
        nearest = next(filter(None, (nearest_release(text, self._releases) for text in specifiers)), self._releases[-1])
        return TorchTarget((nearest,), source, declared=declared, is_known=False)


def unknown_torch(targets: Iterable[TorchTarget]) -> list[Note]:
    """One note where projects ask for a torch that is newer or older than all that are known."""
    unknown = sorted({target.source: target for target in targets if not target.is_known}.items())
    if not unknown:
        return []
    source, target = unknown[0]
    others = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    because = f"torchlint does not know this release, and judges it as torch {target}, the nearest"
    return [Note(f"{source}{others}: {because}")]


def admitted(specifiers: Iterable[str], releases: Iterable[str]) -> frozenset[str]:
    """Those of the releases that usable specifiers admit, as far as these do not exclude each other."""
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - only a few runs need it

    return frozenset(_together([set(SpecifierSet(specifier).filter(releases)) for specifier in specifiers]))


def _together(admitted: Sequence[set[Release]]) -> set[Release]:
    return set.intersection(*admitted) or set.union(*admitted)


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
