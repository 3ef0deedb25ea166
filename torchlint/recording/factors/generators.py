"""Generators held fixed: seeded at the start, and with fixed numbers where the program seeds them from entropy.

Seeds that the program chooses stay the program's.
"""

from __future__ import annotations

import os
from functools import partial

from torchlint.recording.factors.imports import after_import
from torchlint.recording.factors.replacing import dressed, replace, replace_in_type
from torchlint.recording.factors.streams import fixed_number

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


def hold_python() -> None:
    after_import("python-random", "random", _hold_random)


def _hold_random(random: ModuleType) -> None:
    def with_number(plain: Any) -> Any:  # noqa: ANN401 - the method as it was
        def seed(self: Any, a: Any = None, version: int = 2) -> None:  # noqa: ANN401
            plain(self, fixed_number("python-random", 64) if a is None else a, version)

        return seed

    replace(random.Random, "seed", with_number)
    shared = random._inst  # noqa: SLF001 - whose methods the module's functions are
    random.seed = shared.seed  # type: ignore[attr-defined]
    shared.seed(0)
    if hasattr(os, "register_at_fork"):  # after the module's own, which takes entropy
        os.register_at_fork(after_in_child=shared.seed)


def hold_numpy() -> None:
    after_import("numpy-random", "numpy.random.bit_generator", _hold_numpy_entropy)
    after_import("numpy-random", "numpy.random", lambda module: module.seed(0))


def _hold_numpy_entropy(bit_generator: ModuleType) -> None:
    """Every generator without a seed takes its entropy here, by way of a `SeedSequence`."""
    replace(bit_generator, "randbits", lambda _: partial(fixed_number, "numpy-random"))


def hold_torch(torch: ModuleType) -> None:
    torch.manual_seed(0)
    replace_in_type(torch.Generator, "seed", _with_fixed_number)  # torch.seed and torch.cuda.seed call it


def _with_fixed_number(plain: Any) -> Any:  # noqa: ANN401 - the method as it was
    def seed(self: Any) -> int:  # noqa: ANN401 - a generator
        number = fixed_number("torch-random", 64)
        self.manual_seed(number)
        return number

    return dressed(seed, plain)
