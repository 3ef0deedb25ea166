"""Regions that `torch.compile` makes: each call is one operator, with what goes in and what comes out.

torch compiles nothing below a dispatch mode, and would compile hooks of modules with the region. So both are taken
away while a region runs, and it runs as it does without a recorder.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import nn

from torchlint.recording.factors.imports import after_import
from torchlint.recording.journal.mode import JournalMode, only_mode
from torchlint.recording.journal.operators import COMPILED_BACKWARD, Operators
from torchlint.recording.journal.places import Place, Places, caller
from torchlint.recording.journal.rows import OpenRow, StepRows
from torchlint.recording.journal.steps import Hooks
from torchlint.recording.tensors import tensors_in

_COMPILER = "torch._dynamo.eval_frame"
_WHOLE_CALL = "_call_impl"
"""The method that `module.compile()` compiles: no hook sees its call."""


@dataclass(frozen=True)
class Regions:
    """Calls regions outside of the recorder."""

    operators: Operators
    rows: StepRows
    places: Places
    hooks: Hooks

    def watch(self) -> None:
        """Have each region that is made called by way of this."""
        warnings.filterwarnings("ignore", message=r"Using `torch\.compile\(module\)` when there are global hooks")
        after_import("compile", _COMPILER, self._wrap)

    def _wrap(self, compiler: ModuleType) -> None:
        context = compiler.OptimizeContext
        plain = context.__call__

        @functools.wraps(plain)
        def compiling(itself: Any, fn: Any) -> Any:  # noqa: ANN401 - torch's own signature
            compiled = plain(itself, fn)
            return compiled if isinstance(fn, (nn.Module, type)) else self._region(compiled, fn)

        context.__call__ = compiling

    def _region(self, compiled: Any, fn: Any) -> Any:  # noqa: ANN401 - functions of any signature
        @functools.wraps(compiled)
        def region(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            mode = only_mode()
            return compiled(*args, **kwargs) if mode is None else self._call(mode, compiled, fn, args, kwargs)

        region._torchdynamo_wrapper_id = id(region)  # type: ignore[attr-defined]  # noqa: SLF001 - torch looks at it
        return region

    def _call(
        self,
        mode: JournalMode,
        compiled: Callable[..., Any],
        fn: Any,  # noqa: ANN401 - a function of any signature
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401
        do = self.operators.aside.do
        owner = getattr(fn, "__self__", None)
        name = f"compiled.{_name(fn)}"
        self.operators.total += 1
        begun = do(self._begin, name, [*_tensors((args, kwargs)), *_own_tensors(owner)], mode.thread)
        mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        self.hooks.pause()
        try:
            result = compiled(*args, **kwargs)
        finally:
            self.hooks.resume()
            mode.__enter__()  # type: ignore[no-untyped-call]
        if begun is not None:
            do(self._end, begun, result)
        if isinstance(owner, nn.Module) and fn.__name__ == _WHOLE_CALL:
            self.hooks.told_call(owner, result)
        return result

    def _begin(self, name: str, operands: list[torch.Tensor], thread: int) -> _Begun | None:
        if not self.operators.writes_rows or self.rows.is_full:
            return None
        place = self.places.forward(caller())
        row = self.rows.begin_row(name, "forward", place, thread)
        self.rows.add_operands(row, operands)
        device = operands[0].device if operands else None
        return _Begun(row, name, place, thread, device, self.rows.digest_of_state(None, device))

    def _end(self, begun: _Begun, result: object) -> None:
        results = list(_tensors(result))
        if self.rows.digest_of_state(None, begun.device) != begun.state:
            begun.row.generator = begun.state
        self.rows.end_row(begun.row, results)
        nodes = {id(each.grad_fn): each.grad_fn for each in results if each.grad_fn is not None}
        for node in nodes.values():
            if node.name().startswith(COMPILED_BACKWARD):
                _Backward(self, begun).watch(node)


@dataclass(frozen=True)
class _Begun:
    """A call of a region that runs."""

    row: OpenRow
    name: str
    place: Place
    thread: int
    device: torch.device | None
    state: Any
    """The digest of the generator's state before it."""


class _Backward:
    """Adds a row for the backward pass of a region."""

    def __init__(self, regions: Regions, begun: _Begun) -> None:
        self._regions = regions
        self._begun = begun
        self._row: OpenRow | None = None

    def watch(self, node: torch.autograd.graph.Node) -> None:
        do = self._regions.operators.aside.do
        node.register_prehook(lambda gradients: do(self._begin, gradients))
        node.register_hook(lambda inputs, _: do(self._end, inputs))

    def _begin(self, gradients: tuple[torch.Tensor | None, ...]) -> None:
        regions, begun = self._regions, self._begun
        if regions.operators.writes_rows and not regions.rows.is_full:
            self._row = regions.rows.begin_row(begun.name, "backward", begun.place, begun.thread)
            regions.rows.add_operands(self._row, list(_tensors(gradients)))

    def _end(self, gradients: tuple[torch.Tensor | None, ...]) -> None:
        if self._row is not None:
            self._regions.rows.end_row(self._row, list(_tensors(gradients)))
            self._row = None


def _name(fn: Any) -> str:  # noqa: ANN401 - a function
    """A function's own name; for a module torch compiles a function that calls it."""
    is_own = str(getattr(fn, "__module__", "")).startswith("torch.")
    return "module" if is_own else str(getattr(fn, "__qualname__", type(fn).__name__))


def _tensors(value: object) -> Iterator[torch.Tensor]:
    return (tensor for _, tensor in tensors_in(value))


def _own_tensors(owner: object) -> Iterable[torch.Tensor]:
    return (*owner.parameters(), *owner.buffers()) if isinstance(owner, nn.Module) else ()
