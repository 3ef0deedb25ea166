"""Runs one case with the mode off, on and on with warnings only. Imported by a process of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.hardware.case import Tensor, torch
from tests.hardware.every import CASES
from tests.hardware.verdict import MODES, Mode, Observation

FIRST_WORDS = 200
"""Enough for the longest name of a kernel and the words behind it, which tell an alert from another error."""

Measured = dict[str, dict[Mode, Observation]]
"""By call and mode."""


@contextmanager
def determinism(mode: Mode) -> Iterator[None]:
    """The mode in this state, and off afterwards."""
    torch.use_deterministic_algorithms(mode=mode != "off", warn_only=mode == "warn_only")
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(mode=False)


def measure(identity: str, device: str, runs: int) -> Measured:
    """Each call of the case, from the same inputs, `runs` times in each mode."""
    case = CASES[identity]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that quantized tensors are deprecated
        inputs = case.build(device, "large", torch.Generator().manual_seed(0))

    def observed(call: str, mode: Mode) -> Observation:
        with determinism(mode):
            return observe(lambda: case.run(call, inputs), runs)

    return {call: {mode: observed(call, mode) for mode in MODES} for call in case.calls}


def observe(run: Callable[[], list[Tensor]], runs: int) -> Observation:
    """Compare every run with the first, bit by bit."""
    diverged, raised = 0, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            first = seeded(run)
            for _ in range(runs - 1):
                diverged += not same(first, seeded(run))
        except Exception as error:  # noqa: BLE001 - whatever torch raises is what is to be seen
            raised = first_words(error)
    warned = next((str(w.message) for w in caught if "deterministic" in str(w.message).lower()), "")
    return Observation(runs, diverged, raised, warned[:FIRST_WORDS])


def first_words(error: Exception) -> str:
    text = " ".join(str(error).split()).partition(", but you set")[0]
    return f"{type(error).__name__}: {text}"[:FIRST_WORDS].rstrip()


def seeded(run: Callable[[], list[Tensor]]) -> list[Tensor]:
    torch.manual_seed(0)
    return run()


def same(first: list[Tensor], second: list[Tensor]) -> bool:
    return len(first) == len(second) and all(map(same_bits, first, second))


def same_bits(first: Tensor, second: Tensor) -> bool:
    """As `torch.equal`, but a NaN equals itself and 0.0 is not -0.0."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return bool(torch.equal(bits(first), bits(second)))


def bits(value: Tensor) -> Tensor:
    dense = value.detach() if value.layout is torch.strided else value.detach().to_dense()
    return dense.contiguous().reshape(-1).view(torch.uint8)
