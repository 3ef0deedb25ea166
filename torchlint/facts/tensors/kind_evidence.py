"""What the code around a name shows of its kind: tests of its type, methods that only tensors have, loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.catalogue.values import Kind
from torchlint.facts.control.blocks import block_of, lines_of
from torchlint.facts.data_loading.loaders import LOADER
from torchlint.facts.definitions import step_back
from torchlint.facts.ends import Definition, End
from torchlint.facts.flow.values import EACH, Field
from torchlint.facts.loops import gone_through
from torchlint.facts.memoizing import memoized
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, CallSite, Variable
from torchlint.facts.tensors.annotations import kind_of_annotation
from torchlint.facts.tensors.methods import is_method_of_tensors, method_named
from torchlint.facts.tree import is_method_call, is_self, last_word

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_ALSO_OF_MODULES = frozenset({"float", "half", "double", "bfloat16", "requires_grad_"})
_TESTS = frozenset({"isinstance", "is_tensor", "hasattr", "type", "issubclass"})
_VARIABLES = (BindingKind.PARAMETER, BindingKind.ASSIGN, BindingKind.PART, BindingKind.ELEMENT)
_PICKED = Field("picked")


def shows_tensor(call: ast.Call) -> bool:
    """Whether nothing but a tensor has this method: `x.unsqueeze(0)`, `x.view(-1, 3)`; arrays' `view` takes a type.

    Nor this word of an argument: arrays and frames are summed along an `axis`.
    """
    function = call.func
    if not isinstance(function, ast.Attribute) or is_self(function.value):
        return False
    if function.attr == "view":
        return any(_is_size(argument) for argument in call.args)
    is_along = is_method_of_tensors(function.attr) and any(map(_says_dimension, call.keywords))
    return is_along or method_named(function.attr).only_of_tensors


def _says_dimension(given: ast.keyword) -> bool:
    """`dim=-1`, `keepdim=True`; xarray names its dimensions: `dim="time"`."""
    return given.arg == "keepdim" or (given.arg == "dim" and _is_size(given.value))


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
    for site in facts.cached(_uses).get(variable, ()):
        first, last = lines_of(block_of(facts, site.statement))
        if first <= name.lineno <= last and reaching(facts, name.id, site.scope, site.node) == list(bindings):
            return True
    return False


def _may_be_tensor(facts: FileFacts, binding: Binding) -> bool:
    """Not for what has a type of its own, or comes from something of this project."""
    if binding.annotation is not None or binding.kind not in _VARIABLES:
        return False
    if isinstance(binding.value, ast.Call) and binding.kind is not BindingKind.PARAMETER:
        names = facts.names(binding.value.func, binding.scope).names
        return not any("::" in name or name.rpartition(".")[2][:1].isupper() for name in names)
    return True


def _uses(facts: FileFacts) -> dict[Variable | None, list[CallSite]]:
    found: dict[Variable | None, list[CallSite]] = {}
    for site in facts.symbols.calls:
        call = site.node
        if is_method_call(call) and call.func.attr not in _ALSO_OF_MODULES and shows_tensor(call):
            found.setdefault(facts.variable(call.func.value, site.scope), []).append(site)
    return found


def _tested(facts: FileFacts) -> set[Variable | None]:
    """Names whose type the code asks for."""
    asking = (site for site in facts.symbols.calls if last_word(site.node.func) in _TESTS and site.node.args)
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
        for tested, test in _isinstance_parts(statement.test):
            place = (test, scope, statement.lineno, *lines)
            found.setdefault(facts.variable(tested, scope), []).append(place)
    return found


def _isinstance_parts(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name) or part.func.id != "isinstance":
            continue
        if len(part.args) == 2:
            yield part.args[0], part.args[1]


def is_part_of_batch(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    """Whether a value is one part of what a data loader gives: `for images, labels in loader`, `batch["labels"]`."""
    found = gone_through_for(facts, value, scope)
    return all(one is not None and len(one.parts) > 1 and _is_loader(facts, one.node, one.scope) for one in found)


def _is_loader(facts: FileFacts, source: ast.expr, scope: int) -> bool:
    if facts.names(source, scope).only == f"{LOADER}()":
        return True
    return last_word(source).lower().endswith(("loader", "dataloader"))


@memoized
def gone_through_for(facts: FileFacts, value: ast.expr, scope: int) -> tuple[Definition | None, ...]:
    """What loops go through that give a value, as they name it, with the part of it; None for what is no element."""
    return _behind(facts, Definition(value, scope), 4)


def _behind(facts: FileFacts, one: End, depth: int) -> tuple[Definition | None, ...]:
    if not isinstance(one, Definition) or depth <= 0:
        return (None,)
    if one.parts[:1] == (EACH,):
        found = gone_through(facts, one.node, one.scope, one.parts[1:]) if isinstance(one.node, ast.Call) else None
        return (one,) if found is None else _behind(facts, Definition(found[0], one.scope, (EACH, *found[1])), depth)
    if isinstance(one.node, ast.Subscript | ast.Attribute):
        return _behind(facts, Definition(one.node.value, one.scope, (_PICKED, *one.parts)), depth)
    steps = step_back(facts, one) if isinstance(one.node, ast.Name) else None
    return tuple(dict.fromkeys(found for step in steps or (None,) for found in _behind(facts, step, depth - 1)))
