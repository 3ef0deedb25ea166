"""Loaders without workers, or with where they had none; and results of pools in the order of submission."""

from __future__ import annotations

from functools import partial
from itertools import count
from time import monotonic

from torchlint.recording.factors.imports import after_import
from torchlint.recording.factors.replacing import replace

TYPE_CHECKING = False  # `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType
    from typing import Any

_WITHOUT: dict[str, Any] = {
    "num_workers": 0,
    "timeout": 0,
    "multiprocessing_context": None,
    "prefetch_factor": None,
    "persistent_workers": False,
}
"""What a loader without workers accepts."""


def put_in_loaders(torch: ModuleType, *, varied: bool) -> None:
    replace(torch.utils.data.DataLoader, "__init__", partial(_with_other_workers, varied=varied))


def _with_other_workers(plain: Callable[..., None], *, varied: bool) -> Callable[..., None]:
    from inspect import signature  # noqa: PLC0415 - torch has imported it by now

    parameters = signature(plain)

    def __init__(self: Any, *given: Any, **named: Any) -> None:  # noqa: ANN401, N807 - the method's own name
        try:
            bound = parameters.bind(self, *given, **named)
        except TypeError:
            plain(self, *given, **named)  # it says what is wrong
            return
        asked = bound.arguments.get("num_workers", 0)
        bound.arguments.update(_WITHOUT if asked else _two_workers() if varied else {})
        plain(*bound.args, **bound.kwargs)

    return __init__


def _two_workers() -> dict[str, Any]:
    import multiprocessing  # noqa: PLC0415 - torch has imported it by now

    if multiprocessing.current_process().daemon:
        return {}  # such a process may start no others
    forks = "fork" in multiprocessing.get_all_start_methods()  # what is in the dataset need not be pickled then
    return {"num_workers": 2} | ({"multiprocessing_context": "fork"} if forks else {})


def order_results() -> None:
    after_import("workers", "concurrent.futures._base", _order_futures)
    after_import("workers", "multiprocessing.pool", _order_pools)


def _order_futures(futures: ModuleType) -> None:
    numbers = count()

    def counted(plain: Callable[[Any], None]) -> Callable[[Any], None]:
        def __init__(self: Any) -> None:  # noqa: ANN401, N807 - the method's own name
            plain(self)
            self._torchlint_number = next(numbers)

        return __init__

    def in_order(_: object) -> Callable[..., Iterator[Any]]:
        def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
            end = None if timeout is None else monotonic() + timeout
            waiting = sorted(set(fs), key=lambda future: getattr(future, "_torchlint_number", -1))
            for position, future in enumerate(waiting):
                futures.wait([future], None if end is None else max(0.0, end - monotonic()))
                if not future.done():
                    left = len(waiting) - position
                    raise futures.TimeoutError(f"{left} (of {len(waiting)}) futures unfinished")
                yield future

        return as_completed

    replace(futures.Future, "__init__", counted)
    replace(futures, "as_completed", in_order)


def _order_pools(pool: ModuleType) -> None:
    def in_order(_: object) -> Callable[..., Any]:
        def imap_unordered(self: Any, func: Any, iterable: Any, chunksize: int = 1) -> Any:  # noqa: ANN401
            return self.imap(func, iterable, chunksize)

        return imap_unordered

    replace(pool.Pool, "imap_unordered", in_order)
