"""What code shows of the kinds of names and of parts of values: tests, methods, loops, unpacking, functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.calls import known_functions
from torchlint.facts.classes import attribute_values, class_bindings
from torchlint.facts.contents import gone_through, place_in
from torchlint.facts.control.blocks import block_of, lines_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Item
from torchlint.facts.functions import is_plain, returned_values
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import is_of_project
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Variable
from torchlint.facts.tensors.annotations import INDEXED, Part, agreed, kind_of_annotation
from torchlint.facts.tensors.methods import is_method_of_tensors, method_named
from torchlint.facts.tensors.ranks_of_layers import names_of_layers
from torchlint.facts.tree import is_method_call, is_self, method_called

Ask = Callable[[FileFacts, ast.expr | None, int], Kind]
"""`kind_of`, which asks in turn what stands here."""

_ALSO_OF_MODULES = frozenset({"float", "half", "double", "bfloat16", "requires_grad_"})
_TESTS = frozenset({"isinstance", "is_tensor", "hasattr", "type", "issubclass"})
_VARIABLES = (BindingKind.PARAMETER, BindingKind.ASSIGN, BindingKind.PART, BindingKind.ELEMENT)


def shows_tensor(call: ast.Call) -> bool:
    """Whether nothing but a tensor has this method: `x.unsqueeze(0)`, `x.view(-1, 3)`; arrays' `view` takes a type.

    Nor this word of an argument: arrays and frames are summed along an `axis`.
    """
    function = call.func
    if not isinstance(function, ast.Attribute) or is_self(function.value):
        return False
    if function.attr == "view":
        return any(_is_size(argument) for argument in call.args)
    # `dim=-1`, `keepdim=True`; xarray names its dimensions: `dim="time"`.
    is_along = is_method_of_tensors(function.attr) and any(
        one.arg == "keepdim" or (one.arg == "dim" and _is_size(one.value)) for one in call.keywords
    )
    return is_along or method_named(function.attr).only_of_tensors


def _is_size(argument: ast.expr) -> bool:
    if isinstance(argument, ast.UnaryOp):
        argument = argument.operand
    return isinstance(argument, ast.Constant) and type(argument.value) is int


def is_used_as_tensor(facts: FileFacts, name: ast.Name, scope: int, bindings: Sequence[Binding]) -> bool:
    """Whether the value that a name has here evidently gets a method that only tensors have, whichever way it runs."""
    variable = facts.variable(name, scope)
    if variable is None or len(bindings) != 1 or not facts.imports_torch or not _may_be_tensor(facts, bindings[0]):
        return False
    if variable in facts.cached(_tested):
        return False  # its type differs from branch to branch
    uses = ((site, *lines_of(block_of(facts, site.statement))) for site in facts.cached(_uses).get(variable, ()))
    around = (site for site, first, last in uses if first <= name.lineno <= last)
    return any(reaching(facts, name.id, site.scope, site.node) == list(bindings) for site in around)


def _may_be_tensor(facts: FileFacts, binding: Binding) -> bool:
    """Not for what has a type of its own, or comes from something of this project."""
    if binding.annotation is not None or binding.kind not in _VARIABLES:
        return False
    if isinstance(binding.value, ast.Call) and binding.kind is not BindingKind.PARAMETER:
        names = facts.names(binding.value.func, binding.scope).names
        return not any(is_of_project(name) or name.rpartition(".")[2][:1].isupper() for name in names)
    return True


def _uses(facts: FileFacts) -> dict[Variable | None, list[CallSite]]:
    calls = ((one, one.node) for one in facts.symbols.calls if method_called(one.node) not in _ALSO_OF_MODULES)
    shown = ((site, call.func.value) for site, call in calls if is_method_call(call) and shows_tensor(call))
    return grouped((facts.variable(value, site.scope), site) for site, value in shown)


def _tested(facts: FileFacts) -> set[Variable | None]:
    """Names whose type the code asks for."""
    asking = (site for site in facts.calls.find(words=_TESTS) if site.node.args)
    return {facts.variable(site.node.args[0], site.scope) for site in asking}


def tested_kind(facts: FileFacts, name: ast.Name, scope: int) -> Kind | None:
    """The kind that `if isinstance(x, Tensor):` or `assert isinstance(x, Tensor)` gives `x` on this line."""
    variable = facts.variable(name, scope)
    if variable is None or variable not in facts.cached(_tested):
        return None
    found = None
    bound = [0 if b.statement is None else b.statement.lineno for b in facts.bindings(name, scope)]
    for test, where, start, first, last in facts.cached(_type_tests).get(variable, ()):
        is_kept = not any(start < line < name.lineno for line in bound)
        if first <= name.lineno <= last and is_kept:
            found = kind_of_annotation(facts, test, where)  # the innermost comes last
    return found


def _type_tests(facts: FileFacts) -> dict[Variable | None, list[tuple[ast.expr, int, int, int, int]]]:
    """For each name: the type tested for, the scope, the line of the test and the lines that it holds for."""
    found: dict[Variable | None, list[tuple[ast.expr, int, int, int, int]]] = {}
    for statement, scope in facts.symbols.scope_of.items():
        if isinstance(statement, ast.If):
            lines = lines_of(statement.body)
        elif isinstance(statement, ast.Assert):
            lines = statement.lineno + 1, lines_of(block_of(facts, statement))[1]
        else:
            continue
        is_and = isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.And)
        for part in statement.test.values if is_and else [statement.test]:  # type: ignore[attr-defined]
            if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "isinstance" and len(part.args) == 2:
                place = (part.args[1], scope, statement.lineno, *lines)
                found.setdefault(facts.variable(part.args[0], scope), []).append(place)
    return found


def of_target(ask: Ask, facts: FileFacts, target: ast.expr, source: ast.expr, name: str, scope: int) -> Kind:
    """What a loop over `source` gives the name in its target: `for i, (x, y) in enumerate(zip(rows, columns))`."""
    place = place_in(target, name) or ()
    while isinstance(source, ast.Call) and (found := gone_through(facts, source, scope, place)) is not None:
        source, place = found
    if not place:
        return _of_element(ask, facts, source, scope)
    if isinstance(source, ast.Call):
        if facts.names(source.func, scope).only == "builtins.enumerate" and place == (Item(0),):
            return Kind.NUMBER
        if is_method_call(source, "items") and not source.args:
            return of_piece(facts, ask, source.func.value, scope, "any") if place == (Item(1),) else Kind.UNKNOWN
    return Kind.TENSOR if _of_element(ask, facts, source, scope) is Kind.TENSOR else Kind.UNKNOWN


def _of_element(ask: Ask, facts: FileFacts, source: ast.expr, scope: int) -> Kind:
    """What going through `source` gives."""
    if isinstance(source, ast.Call):
        if facts.names(source.func, scope).only == "builtins.range":
            return Kind.NUMBER
        if is_method_call(source, "values") and not source.args:
            return of_piece(facts, ask, source.func.value, scope, "any")
    return of_piece(facts, ask, source, scope, "each")


@followed(otherwise=Kind.UNKNOWN)
def of_piece(facts: FileFacts, ask: Ask, value: ast.expr, scope: int, part: Part) -> Kind:
    """The kind of a part of a value: `values, indices = x.topk(3)` are tensors; `b, c = x.shape` are numbers."""
    if isinstance(value, (ast.Tuple, ast.List)):
        if any(isinstance(element, ast.Starred) for element in value.elts):
            return Kind.UNKNOWN
        is_there = isinstance(part, int) and -len(value.elts) <= part < len(value.elts)
        chosen = [value.elts[part]] if is_there and isinstance(part, int) else value.elts
        return agreed(ask(facts, element, scope) for element in chosen)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        inner = facts.index.inner_scopes.get(value)
        return Kind.UNKNOWN if inner is None else ask(facts, value.elt, inner.index)
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        owner = ask(facts, value.value, scope)
        return Kind.NUMBER if owner in (Kind.TENSOR, Kind.NDARRAY) else Kind.UNKNOWN
    whole = ask(facts, value, scope)
    if whole in INDEXED:  # the elements of an array may be anything
        return Kind.UNKNOWN if whole is Kind.NDARRAY and part == "each" else whole
    if isinstance(value, ast.Call):
        return _of_result_part(ask, facts, value, scope, part)
    if isinstance(value, ast.Name):
        bindings = reaching(facts, value.id, scope, value)
        return agreed(_of_bound_piece(ask, facts, b, part) for b in bindings if not b.is_unset)
    if isinstance(value, ast.Attribute):
        declared = class_bindings(facts, value, scope) if attribute_values(facts, value, scope) is not None else []
        return agreed(kind_of_annotation(facts, annotation, scope, part) for annotation in declared)
    return Kind.UNKNOWN


def _of_bound_piece(ask: Ask, facts: FileFacts, binding: Binding, part: Part) -> Kind:
    if binding.annotation is not None:
        return kind_of_annotation(facts, binding.annotation, binding.scope, part)
    if binding.kind is BindingKind.ASSIGN and binding.value is not None and not isinstance(binding.value, ast.List):
        return of_piece(facts, ask, binding.value, binding.scope, part)
    return Kind.UNKNOWN  # a list that is written out grows and changes


def _of_result_part(ask: Ask, facts: FileFacts, call: ast.Call, scope: int, part: Part) -> Kind:
    """A part of what a call returns."""
    function = call.func
    if isinstance(function, ast.Attribute):
        if function.attr == "size" and ask(facts, function.value, scope) is Kind.TENSOR:
            return Kind.NUMBER
        layers = names_of_layers(facts, function, scope)
        if layers and part == 0 and all(any(word in name for word in load_values().tensor_first) for name in layers):
            return Kind.TENSOR
    name = facts.names(function, scope).only
    if name in ("builtins.list", "builtins.tuple", "builtins.reversed") and call.args:
        return of_piece(facts, ask, call.args[0], scope, "each")
    return of_result(ask, facts, call, scope, part)


def of_result(ask: Ask, facts: FileFacts, call: ast.Call, scope: int, part: Part) -> Kind:
    """What a function of this file returns, by its annotation or by all that it returns."""
    functions = known_functions(facts, call.func, scope)
    return agreed(_returned(facts, ask, function, part) for function in functions)


@followed(otherwise=Kind.UNKNOWN)
def _returned(facts: FileFacts, ask: Ask, function: int, part: Part) -> Kind:
    scope = facts.symbols.scopes[function]
    if not is_plain(facts, scope):
        return Kind.UNKNOWN
    annotation = scope.node.returns  # type: ignore[attr-defined]
    if annotation is not None:
        declared = kind_of_annotation(facts, annotation, scope.parent or 0, part)
        if declared is not Kind.UNKNOWN:
            return declared
    values = returned_values(facts, function)
    if part == "whole":
        return agreed(ask(facts, value, function) for value in values)
    return agreed(of_piece(facts, ask, value, function, part) for value in values)
