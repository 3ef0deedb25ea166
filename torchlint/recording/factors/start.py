"""Where factors begin to be held or varied: at Python's start, and right after torch was imported.

Each imports only what the factors that are asked for need, and nothing where there are none.
"""
# ruff: noqa: PLC0415 - see above

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from types import ModuleType

_WITH_NUMBERS = frozenset({"torch-random", "numpy-random", "python-random", "os-entropy", "process-id"})
"""Factors for which each process has fixed numbers of its own."""


def begin(held: frozenset[str], varied: frozenset[str]) -> None:
    """Hold and vary what needs no torch, before the user's code runs. A factor in both is held."""
    if not held and not varied:
        return
    from torchlint.recording.factors.troubles import attempt

    if held & _WITH_NUMBERS:
        from torchlint.recording.factors.streams import count_processes

        attempt("process-id", count_processes)
    for factor in sorted(held | varied):
        attempt(factor, lambda factor=factor: _begin(factor, held))  # type: ignore[misc]


def begin_torch(held: frozenset[str], varied: frozenset[str]) -> None:
    """Hold and vary what is torch's, right after it was imported."""
    if not held and not varied:
        return
    import torch

    from torchlint.recording.factors.troubles import attempt

    for factor in sorted(held | varied):
        attempt(factor, lambda factor=factor: _begin_torch(torch, factor, held))  # type: ignore[misc]


def troubles() -> list[str]:
    """What could not be held or varied in this process so far, in plain sentences."""
    from torchlint.recording.factors.troubles import troubles as sentences

    return sentences()


def _begin(factor: str, held: frozenset[str]) -> None:
    if factor == "python-random" and factor in held:
        from torchlint.recording.factors.generators import hold_python

        hold_python()
    elif factor == "numpy-random" and factor in held:
        from torchlint.recording.factors.generators import hold_numpy

        hold_numpy()
    elif factor == "os-entropy" and factor in held:
        from torchlint.recording.factors.entropy import hold_entropy

        hold_entropy(numpy_too="numpy-random" in held)
    elif factor == "process-id" and factor in held:
        from torchlint.recording.factors.process_id import hold_process_id

        hold_process_id()
    elif factor == "listing":
        from torchlint.recording.factors.listing import sort_listings

        sort_listings(backwards=factor not in held)
    elif factor == "clock":
        from torchlint.recording.factors.clock import hold_clock, vary_clock

        (hold_clock if factor in held else vary_clock)()
    elif factor == "workers" and factor in held:
        from torchlint.recording.factors.workers import order_results

        order_results()


def _begin_torch(torch: ModuleType, factor: str, held: frozenset[str]) -> None:
    if factor == "torch-random" and factor in held:
        from torchlint.recording.factors.generators import hold_torch

        hold_torch(torch)
    elif factor == "threads":
        from torchlint.recording.factors.switches import set_threads

        set_threads(torch, varied=factor not in held)
    elif factor == "workers":
        from torchlint.recording.factors.workers import put_in_loaders

        put_in_loaders(torch, varied=factor not in held)
    elif factor == "determinism-mode" and factor in held:
        from torchlint.recording.factors.switches import hold_determinism_mode

        hold_determinism_mode(torch, fill="memory" in held)
