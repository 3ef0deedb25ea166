"""Parts of values: what unpacking, indexing, loops and the functions of a file give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import called_functions
from torchlint.facts.classes import attribute_values, class_bindings
from torchlint.facts.flow.values import Item
from torchlint.facts.functions import is_plain, returned_values
from torchlint.facts.loops import gone_through, place_in
from torchlint.facts.memoizing import memoized
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind
from torchlint.facts.tensors.annotations import INDEXED, Part, agreed, kind_of_annotation
from torchlint.facts.tensors.ranks_of_layers import names_of_layers
from torchlint.facts.tree import is_literal_none, is_method_call

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

    Ask = Callable[[FileFacts, ast.expr | None, int, int], Kind]
    """`kind_of`, which asks in turn what stands here."""


def of_target(
    ask: Ask, facts: FileFacts, target: ast.expr, source: ast.expr, name: str, scope: int, depth: int
) -> Kind:
    """What a loop over `source` gives the name in its target: `for i, (x, y) in enumerate(zip(rows, columns))`."""
    place = place_in(target, name) or ()
    while isinstance(source, ast.Call) and (found := gone_through(facts, source, scope, place)) is not None:
        source, place = found
    if not place:
        return _of_element(ask, facts, source, scope, depth)
    if isinstance(source, ast.Call):
        if facts.names(source.func, scope).only == "builtins.enumerate" and place == (Item(0),):
            return Kind.NUMBER
        if is_method_call(source, "items") and not source.args:
            return of_piece(ask, facts, source.func.value, scope, "any", depth) if place == (Item(1),) else Kind.UNKNOWN
    return Kind.TENSOR if _of_element(ask, facts, source, scope, depth) is Kind.TENSOR else Kind.UNKNOWN


def _of_element(ask: Ask, facts: FileFacts, source: ast.expr, scope: int, depth: int) -> Kind:
    """What going through `source` gives."""
    if isinstance(source, ast.Call):
        if facts.names(source.func, scope).only == "builtins.range":
            return Kind.NUMBER
        if is_method_call(source, "values") and not source.args:
            return of_piece(ask, facts, source.func.value, scope, "any", depth)
    return of_piece(ask, facts, source, scope, "each", depth)


def of_piece(ask: Ask, facts: FileFacts, value: ast.expr, scope: int, part: Part, depth: int) -> Kind:
    """The kind of a part of a value: `values, indices = x.topk(3)` are tensors; `b, c = x.shape` are numbers."""
    if depth <= 0:
        return Kind.UNKNOWN
    if isinstance(value, ast.Tuple | ast.List):
        return _of_shown(ask, facts, value, scope, part, depth)
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        inner = facts.index.inner_scopes.get(value)
        return Kind.UNKNOWN if inner is None else ask(facts, value.elt, inner.index, depth - 1)
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        owner = ask(facts, value.value, scope, depth - 1)
        return Kind.NUMBER if owner in (Kind.TENSOR, Kind.NDARRAY) else Kind.UNKNOWN
    whole = ask(facts, value, scope, depth)
    if whole in INDEXED:  # the elements of an array may be anything
        return Kind.UNKNOWN if whole is Kind.NDARRAY and part == "each" else whole
    if isinstance(value, ast.Call):
        return _of_result_part(ask, facts, value, scope, part, depth)
    if isinstance(value, ast.Name):
        bindings = reaching(facts, value.id, scope, value)
        return agreed(_of_bound_piece(ask, facts, b, part, depth) for b in bindings if not is_unset(b))
    if isinstance(value, ast.Attribute):
        declared = class_bindings(facts, value, scope) if attribute_values(facts, value, scope) is not None else []
        return agreed(kind_of_annotation(facts, annotation, scope, part) for annotation in declared)
    return Kind.UNKNOWN


def _of_shown(ask: Ask, facts: FileFacts, value: ast.Tuple | ast.List, scope: int, part: Part, depth: int) -> Kind:
    if any(isinstance(element, ast.Starred) for element in value.elts):
        return Kind.UNKNOWN
    is_there = isinstance(part, int) and -len(value.elts) <= part < len(value.elts)
    chosen = [value.elts[part]] if is_there and isinstance(part, int) else value.elts
    return agreed(ask(facts, element, scope, depth - 1) for element in chosen)


def _of_bound_piece(ask: Ask, facts: FileFacts, binding: Binding, part: Part, depth: int) -> Kind:
    if binding.annotation is not None:
        return kind_of_annotation(facts, binding.annotation, binding.scope, part)
    if binding.kind is BindingKind.ASSIGN and binding.value is not None and not isinstance(binding.value, ast.List):
        return of_piece(ask, facts, binding.value, binding.scope, part, depth - 1)
    return Kind.UNKNOWN  # a list that is written out grows and changes


def _of_result_part(ask: Ask, facts: FileFacts, call: ast.Call, scope: int, part: Part, depth: int) -> Kind:
    """A part of what a call returns."""
    function = call.func
    if isinstance(function, ast.Attribute):
        if function.attr == "size" and ask(facts, function.value, scope, depth - 1) is Kind.TENSOR:
            return Kind.NUMBER
        layers = names_of_layers(facts, function, scope)
        if layers and part == 0 and all(any(word in name for word in load_values().tensor_first) for name in layers):
            return Kind.TENSOR
    name = facts.names(function, scope).only
    if name in ("builtins.list", "builtins.tuple", "builtins.reversed") and call.args:
        return of_piece(ask, facts, call.args[0], scope, "each", depth - 1)
    return of_result(ask, facts, call, scope, part, depth)


def of_result(ask: Ask, facts: FileFacts, call: ast.Call, scope: int, part: Part, depth: int) -> Kind:
    """What a function of this file returns, by its annotation or by all that it returns."""
    functions = called_functions(facts, call, scope)
    return agreed(_returned(facts, ask, function, part, depth - 1) for function in functions)


@memoized
def _returned(facts: FileFacts, ask: Ask, function: int, part: Part, depth: int) -> Kind:
    scope = facts.symbols.scopes[function]
    if depth <= 0 or not is_plain(facts, scope):
        return Kind.UNKNOWN
    annotation = scope.node.returns  # type: ignore[attr-defined]
    if annotation is not None:
        declared = kind_of_annotation(facts, annotation, scope.parent or 0, part)
        if declared is not Kind.UNKNOWN:
            return declared
    values = returned_values(facts, function)
    if part == "whole":
        return agreed(ask(facts, value, function, depth - 1) for value in values)
    return agreed(of_piece(ask, facts, value, function, part, depth - 1) for value in values)


def is_unset(binding: Binding) -> bool:
    return binding.kind is BindingKind.ASSIGN and is_literal_none(binding.value)
