"""torch's switches held: the number of threads, and the determinism mode. What the program sets is passed over."""

from __future__ import annotations

import os
import warnings

from torchlint.recording.factors.callers import calling_package
from torchlint.recording.factors.replacing import replace
from torchlint.recording.factors.surroundings import other_number_of_threads

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def set_threads(torch: ModuleType, *, varied: bool) -> None:
    """Set the number, and let only torch's own workers set another: after a fork, several threads may hang."""
    number = 1 if not varied else int(os.environ.get("OMP_NUM_THREADS") or other_number_of_threads(os.environ))

    def make(plain: Callable[[int], None]) -> Callable[[int], None]:
        def set_num_threads(number: int, /) -> None:
            if calling_package() == "torch":
                plain(number)

        return set_num_threads

    torch.set_num_threads(number)
    replace(torch, "set_num_threads", make)


def hold_determinism_mode(torch: ModuleType, *, fill: bool) -> None:
    """Turn the mode on for good; unwritten memory is a factor of its own, and filled only where it is held too."""
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    if not fill and hasattr(torch.utils, "deterministic"):
        torch.utils.deterministic.fill_uninitialized_memory = False
    warnings.filterwarnings("ignore", message=".*does not have a deterministic implementation")

    def only_on(plain: Callable[..., None]) -> Callable[..., None]:
        def _set_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:  # noqa: FBT001 - as torch has it
            if mode:
                plain(mode, warn_only=warn_only)

        return _set_deterministic_algorithms

    def only_off(plain: Callable[[bool], None]) -> Callable[[bool], None]:
        def _set_cudnn_benchmark(_: bool, /) -> None:  # noqa: FBT001 - as torch has it
            plain(False)  # noqa: FBT003

        return _set_cudnn_benchmark

    replace(torch._C, "_set_deterministic_algorithms", only_on)  # noqa: SLF001 - all public functions end there
    replace(torch._C, "_set_cudnn_benchmark", only_off)  # noqa: SLF001
    vars(type(torch.backends.cudnn))["benchmark"].setter = torch._C._set_cudnn_benchmark  # noqa: SLF001
