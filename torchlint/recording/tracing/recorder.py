"""The recorder: which operators a forward and backward pass dispatches, from which lines, by which module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import torch
from torch import nn
from torch.autograd.function import BackwardCFunction

from torchlint.recording.originals import Judging
from torchlint.recording.tensors import tensors_in
from torchlint.recording.tracing.dispatch_mode import PlainMode
from torchlint.recording.tracing.events import Event
from torchlint.recording.tracing.indices import Arguments
from torchlint.recording.tracing.lines import (
    Line,
    calling_lines,
    constructor_lines,
    lines_of_traceback,
    remember_constructors,
)
from torchlint.recording.tracing.module_hooks import on_leaving
from torchlint.recording.tracing.operands import (
    has_ties,
    operands_of,
    repetition_of,
    sums_sparse_entries,
    windows_overlap,
)

T = TypeVar("T")

_MODULE = "torchlint module"
"""The key under which the graph's nodes remember the module that made them."""


class Recorder(PlainMode):
    """Writes down every operator of interest (`watched`: full names; None is all) that is dispatched meanwhile.

    `names` of every operator are kept. Slow: anomaly mode keeps a traceback for each node of the graph.
    """

    def __init__(self, watched: Iterable[str] | None = None, names: Mapping[nn.Module, str] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.watched = None if watched is None else frozenset(watched)
        self.events: list[Event] = []
        self.names: set[str] = set()
        self.reached: dict[Line, set[str]] = {}
        """The operators that each line led to, of forward calls and of the modules that it constructed."""
        self._module_names = dict(names or {})
        self._running: list[nn.Module] = []
        self.is_looking = False

    def __torch_dispatch__(
        self,
        called: Any,  # noqa: ANN401 - torch's own signature, here and below
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        del types
        kwargs = kwargs or {}
        if not self.is_looking:
            with Judging():
                self._note(called, args, kwargs)
        return called(*args, **kwargs)

    def _note(self, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:  # noqa: ANN401
        name = str(called)
        self.names.add(name)
        self._reach(name)
        if self.watched is None or name in self.watched:
            self._look(called, name, args, kwargs)

    def _reach(self, name: str) -> None:
        node = torch._C._current_autograd_node()  # noqa: SLF001 - nothing public tells it
        module = self._module_of(node)
        made_at = constructor_lines(module) if module is not None else ()
        for line in (*_forward_lines(node)[:1], *made_at):
            self.reached.setdefault(line, set()).add(name)

    def _look(self, called: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:  # noqa: ANN401
        arguments = arguments_by_name(called, args, kwargs)
        self.events.append(self.apart(lambda: self._event(name, arguments)))

    def apart(self, look: Callable[[], T]) -> T:
        """Look at tensors without being recorded: what is asked of them is dispatched as well."""
        self.is_looking = True
        try:
            with Judging(), torch.no_grad():
                return look()
        finally:
            self.is_looking = False

    def _event(self, name: str, arguments: Arguments) -> Event:
        operator = name.split(".")[1]
        node = torch._C._current_autograd_node()  # noqa: SLF001 - nothing public tells it
        module = self._module_of(node)
        return Event(
            name=name,
            is_backward=node is not None,
            is_called=isinstance(node, BackwardCFunction),
            operands=operands_of(arguments),
            forward_lines=_forward_lines(node),
            constructor_lines=constructor_lines(module) if module is not None else (),
            module=self._module_names.get(module, "") if module is not None else "",
            repetition=repetition_of(operator, arguments),
            overlaps=windows_overlap(operator, arguments),
            ties=has_ties(operator.rstrip("_"), arguments),
            sums_entries=sums_sparse_entries(arguments),
        )

    def _module_of(self, node: Any) -> nn.Module | None:  # noqa: ANN401
        if node is not None:
            marked: nn.Module | None = node.metadata.get(_MODULE)
            return marked
        return self._running[-1] if self._running else None

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Meanwhile modules say that they run, mark the nodes that they make, and remember where they are made."""
        before = torch.nn.modules.module.register_module_forward_pre_hook(self._enter)
        after = on_leaving(self._leave)
        try:
            with remember_constructors():  # some are made in the middle of a run
                yield
        finally:
            before.remove()
            after.remove()

    def _enter(self, module: nn.Module, _inputs: Any) -> None:  # noqa: ANN401
        self._running.append(module)

    def _leave(self, module: nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:  # noqa: ANN401
        while self._running and self._running.pop() is not module:
            pass  # one that broke, and whose error was caught
        with Judging():
            _mark(outputs, (args, kwargs), module)


def arguments_by_name(called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:  # noqa: ANN401
    """Positional and named arguments by the names of the schema, with its defaults."""
    parameters = called._schema.arguments  # noqa: SLF001 - nothing public tells it
    defaults = {each.name: each.default_value for each in parameters if each.has_default_value()}
    positional = dict(zip((each.name for each in parameters), args, strict=False))
    return {**defaults, **positional, **kwargs}


def _forward_lines(node: Any) -> tuple[Line, ...]:  # noqa: ANN401
    """Of a backward operator: the user's own `backward` if it is running, else where the node was made."""
    here = calling_lines()
    return here if node is None or here else lines_of_traceback(node.metadata.get("traceback_", ()))


def _mark(outputs: Any, inputs: Any, module: nn.Module) -> None:  # noqa: ANN401
    """Let the nodes between inputs and outputs remember the module, unless an inner one did."""
    made_before = {tensor.grad_fn for _, tensor in tensors_in(inputs)}
    open_nodes = [tensor.grad_fn for _, tensor in tensors_in(outputs)]
    seen = set(made_before)
    while open_nodes:
        node = open_nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        metadata: dict[str, Any] = cast("Any", node).metadata  # torch annotates this property as a method
        if _MODULE in metadata:
            continue
        metadata[_MODULE] = module
        open_nodes += [following for following, _ in node.next_functions]
