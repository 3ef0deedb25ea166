"""What a program's start block has to do: what it draws from unseeded, runs under, and restores when it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.audit.data import RESTART_CODES, WORKER_CODES
from torchlint.audit.material import Material
from torchlint.audit.surroundings import ASKS_FOR_CUBLAS, CUBLAS
from torchlint.catalogue.versions import VersionRange
from torchlint.checks.framework.programs import varying_kernels
from torchlint.facts.accelerators import GPUS
from torchlint.facts.data_loading.loaders import Where
from torchlint.facts.modes import Mode
from torchlint.project.randomness import RESTORES
from torchlint.project.shown import shown_path

GENERATORS = ("random", "numpy", "torch")
"""In the order in which a block seeds them."""
_FIRST_WITH_FUNCTION = (1, 8)
"""Before, `torch.use_deterministic_algorithms` had another name, or did not exist."""
_WORKERS_UNSEEDED = VersionRange.parse("<1.9")
"""Releases whose loaders leave NumPy in their workers as it was in the first process."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the start block of one program has to do; the rest it does by itself, or does not need."""

    program: str
    """Its file, and its command where there are several: `train.py`."""
    torch: str
    """The releases that it may run on."""
    trains: bool = False
    """Whether it is seen to train."""
    seeds: tuple[str, ...] = ()
    """The generators that it draws from and does not seed for certain, of `GENERATORS`."""
    mode: bool = False
    """Whether the determinism mode has to be turned on."""
    cudnn: bool = False
    """Whether cuDNN has to be told, in releases that have no determinism mode."""
    workspace: bool = False
    """Whether CUBLAS_WORKSPACE_CONFIG has to be set for that."""
    workers: bool = False
    """Whether what loaders draw in their workers has to be seeded by hand."""
    restored: tuple[str, ...] = ()
    """The generators whose states a checkpoint has to hold, with `cuda` where a GPU draws."""

    def __bool__(self) -> bool:
        return bool(self.seeds or self.mode or self.cudnn or self.workers or self.restored)


def needs_of(material: Material) -> Needs:
    project, program = material.project, material.program
    target = project.target_for(program.path)
    mode = project.mode_for(program.path).mode
    asks = any(release in ASKS_FOR_CUBLAS for release in target.releases) or not target.pinned
    is_set = project.frameworks_set(CUBLAS) or any(one.name == CUBLAS for one in project.environment)
    varies = material.trains or bool(varying_kernels(program, project))
    lacks_mode = mode is Mode.OFF and bool(material.devices) and varies
    turns_on = lacks_mode and target.newest >= _FIRST_WITH_FUNCTION
    is_legacy = all(release in _WORKERS_UNSEEDED for release in target.releases)
    drawn = _drawn(material)
    return Needs(
        program=shown_path(project.root, program.path),
        torch=str(target),
        trains=material.trains,
        seeds=_unseeded(material, drawn),
        mode=turns_on,
        cudnn=lacks_mode and not turns_on,
        workspace=(turns_on or mode is Mode.ON) and asks and not is_set and "cuda" in material.devices,
        workers=bool(material.findings(WORKER_CODES)) or (is_legacy and _draws_in_workers(material, "numpy")),
        restored=_restored(material, drawn),
    )


def _drawn(material: Material) -> frozenset[str]:
    """The generators that the program draws from itself. Loaders take the seed of their workers from torch's.

    What loaders draw counts where they may have no workers.
    """
    randomness = material.project.randomness_of(material.program)
    may_load = any(
        one.where is not Where.WORKERS and material.is_run(one.location)
        for summary in material.summaries
        for one in summary.workers
    )
    found = {draw.generator for draw in (*randomness.draws, *(randomness.worker_draws if may_load else ()))}
    if randomness.trained is not None or randomness.worker_draws:
        found.add("torch")
    return frozenset(found)


def _unseeded(material: Material, drawn: frozenset[str]) -> tuple[str, ...]:
    """A seed that runs only where an option is given, or in code that may not run, is none."""
    randomness = material.project.randomness_of(material.program)
    on_demand = {draw.generator for draw in randomness.seeded_on_demand}
    if randomness.seeded_training is not None:
        return ()
    return tuple(one for one in GENERATORS if one in drawn and one not in randomness.reached_generators - on_demand)


def _draws_in_workers(material: Material, generator: str) -> bool:
    draws = material.project.randomness_of(material.program).worker_draws
    return any(draw.generator == generator for draw in draws)


def _restored(material: Material, drawn: frozenset[str]) -> tuple[str, ...]:
    """Nothing, unless the program goes on from a checkpoint without the states of its generators."""
    if not material.trains or not material.suspicions(RESTART_CODES):
        return ()
    restores = any(RESTORES.of(summary) for summary in material.summaries)
    on_gpu = ("cuda",) if "torch" in drawn and not GPUS.isdisjoint(material.devices) else ()
    return () if restores else (*(one for one in GENERATORS if one in drawn), *on_gpu)
