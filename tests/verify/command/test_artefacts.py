"""Which operators are there only because somebody records: the table against the profiler, on the installed torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchlint.recording.in_command.artefacts import is_artefact

pytestmark = pytest.mark.torch


class _Names(TorchDispatchMode):
    """Every operator, and those that the table calls artefacts."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[str] = set()
        self.in_table: set[str] = set()
        self.is_asking = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        node: Any = torch._C._current_autograd_node()
        name = str(func)
        self.seen.add(name)
        if node is not None and not self.is_asking:
            self.is_asking = True
            self.in_table |= {name} if is_artefact(node, name) else set()
            self.is_asking = False
        return func(*args, **(kwargs or {}))


def _values() -> torch.Tensor:
    return torch.rand(3, 4, generator=torch.Generator().manual_seed(0)).add(1).requires_grad_()


def _plain(run: Callable[[], None]) -> set[str]:
    with torch.autograd.profiler.profile() as profile:
        run()
    return {event.name.replace("::", ".").rstrip("_") for event in profile.function_events}


CASES: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "product of all": (lambda: _values().prod(), "aten.cumprod.default"),
    "product along a dimension": (lambda: _values().prod(1).sum(), "aten.cumprod.default"),
    "product with zeros": (lambda: (_values() * torch.tensor([0.0, 0.0, 1.0, 1.0])).prod(1).sum(), ""),
    "cumulative product": (lambda: _values().cumprod(1).sum(), "aten.gather.default"),
    "a plain sum": (lambda: _values().cumsum(1).sum(), ""),
    "choice by index": (lambda: _values().gather(1, torch.zeros(3, 2, dtype=torch.int64)).sum(), ""),
    "addition by index": (lambda: torch.zeros(3, 4).index_add(0, torch.tensor([0, 0, 1]), _values()).sum(), ""),
    "reading by index": (lambda: _values().index_select(0, torch.tensor([0, 0])).sum(), ""),
}


@pytest.mark.parametrize("case", CASES)
def test_what_only_a_recorder_sees_is_in_the_table_and_nothing_else_is(case: str) -> None:
    make, artefact = CASES[case]

    def run() -> None:
        make().backward()

    with _Names() as names:
        run()
    plain = _plain(run)
    suspected = ("aten.cumprod", "aten.gather", "aten.cumsum", "aten.index_add", "aten.index_put", "aten.scatter_add")
    only_recorded = {
        name
        for name in names.seen
        if name.startswith(suspected)
        and name.rpartition(".")[0].rstrip("_") not in plain
        and "aten._index_put_impl" not in plain
    }
    assert only_recorded == ({artefact} if artefact else set())
    assert {name for name in names.in_table if name.startswith(suspected)} == only_recorded
