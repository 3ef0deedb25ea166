"""Pretrained weights are not fetched: the module stays as it was initialised, and the report says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import nn


class NotFetched(dict[str, Any]):
    """Stands in for a state that would have to be downloaded."""

    def __missing__(self, _key: str) -> NotFetched:
        return self


@contextmanager
def without_downloads() -> Iterator[list[str]]:
    """Within this, downloads of weights give nothing, and loading that nothing does nothing. Lists who went without."""
    without: list[str] = []
    loading = _loading(nn.Module.load_state_dict, without)
    with (
        mock.patch.object(torch.hub, "load_state_dict_from_url", _not_fetched),
        mock.patch.object(nn.Module, "load_state_dict", loading),
    ):
        yield without


def _not_fetched(*_args: object, **_kwargs: object) -> NotFetched:
    return NotFetched()


def _loading(original: Callable[..., Any], without: list[str]) -> Callable[..., Any]:
    def load_state_dict(module: nn.Module, state_dict: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - torch's
        if isinstance(state_dict, NotFetched):
            without.append(type(module).__name__)
            return torch.nn.modules.module._IncompatibleKeys([], [])  # noqa: SLF001 - what torch returns
        return original(module, state_dict, *args, **kwargs)

    return load_state_dict
