"""What workers of a loader make: each batch that a fetcher of torch gives in one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch.utils.data import get_worker_info
from torch.utils.data._utils import fetch

Fetched = Callable[[int, object, object], None]
"""Told the worker's number, the indices and the batch."""


def watch_fetches(told: Fetched) -> None:
    """Have batches told that are made in workers; in the main process operators are seen anyway."""
    for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):  # noqa: SLF001 - nothing public tells it
        _watch(kind, told)


def _watch(kind: Any, told: Fetched) -> None:  # noqa: ANN401 - a class of torch without annotations
    plain = kind.fetch

    @functools.wraps(plain)
    def fetching(fetcher: Any, indices: Any) -> Any:  # noqa: ANN401
        data = plain(fetcher, indices)
        worker = get_worker_info()
        if worker is not None:
            told(worker.id, indices, data)
        return data

    kind.fetch = fetching
