"""The target torch and the devices of each file: what the configuration, manifests, code and the environment say."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from torchlint.facts.accelerators import CHOSEN, CUDA, GPUS, OPEN
from torchlint.facts.memoizing import memoized
from torchlint.project.answers import Answering
from torchlint.project.outside import Outside
from torchlint.project.programs import Program
from torchlint.project.requirements.manifests import Manifests, Pins
from torchlint.project.requirements.specifiers import text_of

_TORCH = "torch"
_UNPINNED = "no torch release is pinned: the newest, and CUBLAS_WORKSPACE_CONFIG for 2.9 and older too"
Release = TypeVar("Release")
_ROCM = re.compile(r"\+rocm\d|/whl/(?:nightly/|test/)?rocm|\brocm/pytorch")
_CUDA = re.compile(r"\+cu\d\d|/whl/(?:nightly/|test/)?cu\d\d|\bnvidia/(?:pytorch|cuda)|\bpytorch/pytorch:")
"""How manifests ask for a build of torch: `torch==2.9.1+rocm6.4`, an index of wheels, an image."""
_OTHERS = frozenset({"npu", "hpu", "xla", "mps", "xpu"})


@dataclass(eq=False)
class Targets(Answering):
    """The torch releases that each file of a project may run on.

    In this order: the configuration; the nearest manifest that names a torch; the torch installed in the project's
    environment; the newest release. Without a `root` only an environment that is active counts.
    """

    root: Path | None
    manifests: Manifests
    configured: str | None
    releases: tuple[Minor, ...]
    outside: Outside

    def of(self, path: str) -> TorchTarget:
        """The target of one file."""
        if self.configured is not None:
            return self._everywhere
        pins = self.manifests.pins(path, _TORCH)
        return self._everywhere if pins is None else self._of_pins(pins)

    @memoized
    def _of_pins(self, pins: Pins) -> TorchTarget:
        return self._admitted(pins.specifiers, f"{pins.manifest}: torch{', torch'.join(pins.specifiers)}")

    @functools.cached_property
    def _everywhere(self) -> TorchTarget:
        """Of files that no manifest speaks of."""
        if self.configured is not None:
            return self._admitted((self.configured,), f"torch{self.configured}, as configured")
        version = self.outside.installed_torch(self.root)
        if version:
            installed = parse_minor(version)
            source = f"torch {format_minor(installed)} installed in the project's environment"
            if installed in self.releases:  # nothing to be weighed, and `packaging` need not be loaded
                return TorchTarget((installed,), source, declared=False)
            return self._admitted((f"=={format_minor(installed)}.*",), source, declared=False)
        return TorchTarget(self.releases[-1:], _UNPINNED, pinned=False, declared=False)

    def _admitted(self, specifiers: Sequence[str], source: str, *, declared: bool = True) -> TorchTarget:
        found = _together([set(admitted_releases(specifier, self.releases)) for specifier in specifiers])
        if found:
            return TorchTarget(tuple(sorted(found)), source, declared=declared)
        nearest = next(filter(None, (nearest_release(text, self.releases) for text in specifiers)), self.releases[-1])
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


def accelerators_of(
    program: Program, spoken: Mapping[str, frozenset[str]], named_in: Callable[[str], frozenset[str]]
) -> frozenset[str]:
    """The accelerators that a program uses, or may use, by what the texts of its files speak of and their code names.

    A program whose files name no accelerator and take no device from anywhere stays on the CPU, where torch makes
    tensors. One that names another accelerator and never CUDA uses that one. All else may use CUDA.
    """
    named = frozenset[str]().union(*spoken.values()) & {CHOSEN}
    for path in sorted(spoken, key=lambda path: (path != program.path, path)):  # its own file names one, mostly
        if not spoken[path] <= (named | {OPEN} if named else named):  # OPEN adds nothing to others
            named |= named_in(path)
    others = named & _OTHERS
    uses_cuda = CUDA in named or (bool(named) and not others)
    return others | {CUDA} if uses_cuda else others
