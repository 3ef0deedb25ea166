"""What the code around a name shows of its kind: tests of its type, methods that only tensors have, loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.facts.control.blocks import block_of, lines_of
from torchlint.facts.reaching import reaching
from torchlint.facts.remembering import remembered
from torchlint.facts.scopes import Binding, BindingKind, CallSite, ScopeKind
from torchlint.facts.tensors.annotations import Kind, kind_of_annotation
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_self

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_ALSO_OF_MODULES = frozenset({"float", "half", "double", "bfloat16", "requires_grad_"})
_TESTS = frozenset({"isinstance", "is_tensor", "hasattr", "type", "issubclass"})


def shows_tensor(call: ast.Call) -> bool:
    """Whether nothing but a tensor has this method: `x.unsqueeze(0)`, `x.view(-1, 3)`; arrays' `view` takes a type."""
    function = call.func
    if not isinstance(function, ast.Attribute) or (is_self(function.value)):
        return False
    return method_named(function.attr).only_of_tensors or (
        function.attr == "view" and any(_is_size(a) for a in call.args)
    )


def _is_size(argument: ast.expr) -> bool:
    if isinstance(argument, ast.UnaryOp):
        argument = argument.operand
    return isinstance(argument, ast.Constant) and type(argument.value) is int


def is_used_as_tensor(facts: FileFacts, name: ast.Name, scope: int, bindings: Sequence[Binding]) -> bool:
    """Whether the value that a name has here evidently gets a method that only tensors have, whichever way it runs."""
    owner = facts.resolver.owner(name.id, scope)
    if owner is None or len(bindings) != 1 or not facts.imports_torch or not _may_be_tensor(facts, bindings[0]):
        return False
    if (owner.index, name.id) in facts.once(_tested):
        return False  # its type differs from branch to branch
    for site in facts.once(_uses).get((owner.index, name.id), ()):
        first, last = lines_of(block_of(facts, site.statement))
        if first <= name.lineno <= last and reaching(facts, name.id, site.scope, site.node.lineno) == list(bindings):
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


_VARIABLES = (BindingKind.PARAMETER, BindingKind.ASSIGN, BindingKind.PART, BindingKind.ELEMENT)


def _uses(facts: FileFacts) -> dict[tuple[int, str], list[CallSite]]:
    found: dict[tuple[int, str], list[CallSite]] = {}
    for site in facts.reading.calls:
        function = site.node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and shows_tensor(site.node):
            owner = facts.resolver.owner(function.value.id, site.scope)
            if owner is not None and function.attr not in _ALSO_OF_MODULES:
                found.setdefault((owner.index, function.value.id), []).append(site)
    return found


def _tested(facts: FileFacts) -> set[tuple[int, str]]:
    """Names whose type the code asks for."""
    found = set()
    for site in facts.reading.calls:
        function, arguments = site.node.func, site.node.args
        asked = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if asked in _TESTS and arguments and isinstance(arguments[0], ast.Name):
            owner = facts.resolver.owner(arguments[0].id, site.scope)
            if owner is not None:
                found.add((owner.index, arguments[0].id))
    return found


def tested_kind(facts: FileFacts, name: ast.Name, scope: int) -> Kind | None:
    """The kind that `if isinstance(x, Tensor):` or `assert isinstance(x, Tensor)` gives `x` on this line."""
    owner = facts.resolver.owner(name.id, scope)
    if owner is None or (owner.index, name.id) not in facts.once(_tested):
        return None
    found = None
    for test, where, start, first, last in facts.once(_type_tests).get((owner.index, name.id), ()):
        is_kept = not any(
            start < (0 if b.statement is None else b.statement.lineno) < name.lineno for b in owner.bindings[name.id]
        )
        if first <= name.lineno <= last and is_kept:
            found = kind_of_annotation(facts, test, where)  # the innermost comes last
    return found


def _type_tests(facts: FileFacts) -> dict[tuple[int, str], list[tuple[ast.expr, int, int, int, int]]]:
    """For each name: the type tested for, the scope, the line of the test and the lines that it holds for."""
    found: dict[tuple[int, str], list[tuple[ast.expr, int, int, int, int]]] = {}
    for statement, scope in facts.reading.scope_of.items():
        if isinstance(statement, ast.If):
            lines = lines_of(statement.body)
        elif isinstance(statement, ast.Assert):
            lines = statement.lineno + 1, lines_of(block_of(facts, statement))[1]
        else:
            continue
        for tested, test in _isinstance_parts(statement.test):
            owner = facts.resolver.owner(tested, scope)
            if owner is not None:
                place = (test, scope, statement.lineno, *lines)
                found.setdefault((owner.index, tested), []).append(place)
    return found


def _isinstance_parts(test: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name) or part.func.id != "isinstance":
            continue
        if len(part.args) == 2 and isinstance(part.args[0], ast.Name):
            yield part.args[0].id, part.args[1]


def loops_of(facts: FileFacts, binding: Binding, owner: int, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The target and what is gone through, of the loop or the comprehension that binds a name."""
    scope = facts.reading.scopes[owner]
    if scope.kind is ScopeKind.COMPREHENSION:
        pairs = [(g.target, g.iter) for g in scope.node.generators]  # type: ignore[attr-defined]
    elif isinstance(binding.statement, ast.For | ast.AsyncFor):
        pairs = [(binding.statement.target, binding.statement.iter)]
    else:
        return
    for target, iterated in pairs:
        if holds_name(target, name):
            yield target, iterated


def holds_name(target: ast.expr, name: str) -> bool:
    """Whether an assignment's or a loop's target binds a name."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(holds_name(element, name) for element in target.elts)
    return isinstance(target, ast.Name) and target.id == name


@remembered
def is_part_of_batch(facts: FileFacts, value: ast.expr, scope: int, depth: int = 4) -> bool:
    """Whether a value is one part of what a data loader gives: `for images, labels in loader`, `batch["labels"]`."""
    if depth == 0:
        return False
    if isinstance(value, ast.Subscript):
        return is_part_of_batch(facts, value.value, scope, depth - 1) or _is_batch(facts, value.value, scope)
    owner = facts.resolver.owner(value.id, scope) if isinstance(value, ast.Name) else None
    if owner is None or not isinstance(value, ast.Name):
        return False
    bindings = reaching(facts, value.id, scope, value.lineno)
    return bool(bindings) and all(_gives_part(facts, b, owner.index, value.id, depth) for b in bindings)


def _gives_part(facts: FileFacts, binding: Binding, owner: int, name: str, depth: int) -> bool:
    if binding.kind is BindingKind.PART and binding.value is not None:
        return _is_batch(facts, binding.value, binding.scope)
    if binding.kind is BindingKind.ASSIGN and isinstance(binding.value, ast.Subscript):
        return is_part_of_batch(facts, binding.value, binding.scope, depth - 1)
    return any(
        isinstance(batch, ast.Tuple) and holds_name(batch, name) and is_loader
        for batch, is_loader in _batches(facts, binding, owner, name)
    )


def _is_batch(facts: FileFacts, value: ast.expr, scope: int) -> bool:
    """Whether a name holds all that a loader gives at once."""
    owner = facts.resolver.owner(value.id, scope) if isinstance(value, ast.Name) else None
    if owner is None or not isinstance(value, ast.Name):
        return False
    bindings = reaching(facts, value.id, scope, value.lineno)
    return bool(bindings) and all(
        any(isinstance(batch, ast.Name) and loads for batch, loads in _batches(facts, b, owner.index, value.id))
        for b in bindings
    )


def _batches(facts: FileFacts, binding: Binding, owner: int, name: str) -> Iterator[tuple[ast.expr, bool]]:
    """The targets of loops over loaders, without the number that `enumerate` adds."""
    if binding.kind is not BindingKind.ELEMENT:
        return
    for target, iterated in loops_of(facts, binding, owner, name):
        batch, source = target, iterated
        while isinstance(source, ast.Call) and source.args:
            called = source.func.id if isinstance(source.func, ast.Name) else ""
            if called == "enumerate" and isinstance(batch, ast.Tuple) and len(batch.elts) == 2:
                batch = batch.elts[1]
            elif called != "tqdm":
                break
            source = source.args[0]
        yield batch, _is_loader(facts, source, binding.scope)


def _is_loader(facts: FileFacts, source: ast.expr, scope: int) -> bool:
    if facts.names(source, scope).only == "torch.utils.data.DataLoader()":
        return True
    return getattr(source, "id", getattr(source, "attr", "")).lower().endswith(("loader", "dataloader"))
