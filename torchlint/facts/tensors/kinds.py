"""What kind of value an expression is, as far as its own file shows. UNKNOWN is an honest answer."""

from __future__ import annotations

import ast

from torchlint.catalogue.load import load_values
from torchlint.catalogue.values import Kind
from torchlint.facts.classes import attribute_values, class_bindings, is_module_class
from torchlint.facts.contents import loops_of
from torchlint.facts.control.order import may_follow
from torchlint.facts.definitions import is_none, step_back
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.functions import own_scope, parameter_binding
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import hangs_on_call
from torchlint.facts.reaching import reaching
from torchlint.facts.scopes import Binding, BindingKind, ScopeKind
from torchlint.facts.tensors.annotations import (
    DISPLAYS,
    INDEXED,
    LITERALS,
    Part,
    agreed,
    gives_one_tensor,
    kind_of_annotation,
    of_function,
    of_method,
)
from torchlint.facts.tensors.kind_evidence import (
    is_used_as_tensor,
    of_piece,
    of_result,
    of_target,
    shows_tensor,
    tested_kind,
)
from torchlint.facts.tensors.ranks_of_layers import names_of_layers
from torchlint.facts.tree import is_own


@followed(otherwise=Kind.UNKNOWN)
def kind_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> Kind:
    """The kind of `expression` read in `scope`; UNKNOWN unless every way it is bound agrees."""
    if expression is None:
        return Kind.UNKNOWN
    if isinstance(expression, ast.Constant):
        return LITERALS.get(type(expression.value), Kind.OTHER)
    if type(expression) in DISPLAYS:
        return DISPLAYS[type(expression)]
    if isinstance(expression, ast.Name):
        return _of_name(facts, expression, scope)
    if isinstance(expression, ast.Call):
        return _of_call(facts, expression, scope)
    if isinstance(expression, ast.BinOp):
        return _of_operation(facts, expression, scope)
    if isinstance(expression, ast.Compare):
        return _of_comparison(facts, expression, scope)
    return _of_part(facts, expression, scope)


def _of_part(facts: FileFacts, expression: ast.expr, scope: int) -> Kind:
    """Expressions whose kind is that of a part of them."""
    if isinstance(expression, ast.UnaryOp):
        is_truth = isinstance(expression.op, ast.Not)
        return Kind.NUMBER if is_truth else kind_of(facts, expression.operand, scope)
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Slice):
        inner = kind_of(facts, expression.value, scope)
        return inner if inner in INDEXED else Kind.UNKNOWN
    if isinstance(expression, ast.Subscript):
        return of_piece(facts, kind_of, expression.value, scope, _position(expression.slice))
    steps = step_back(facts, Definition(expression, scope))
    if isinstance(expression, ast.Attribute):
        if steps is None:
            owner = kind_of(facts, expression.value, scope)
            return load_values().attributes.get(owner, {}).get(expression.attr, Kind.UNKNOWN)
        given = class_bindings(facts, expression, scope) if is_own(expression) else []
        declared = {kind_of_annotation(facts, annotation, scope) for annotation in given} - {Kind.UNKNOWN}
        if declared:
            return agreed(declared)
    told = (one for one in steps or () if not is_none(one))
    whole = ((one.node, one.scope) if isinstance(one, Definition) and not one.parts else (None, 0) for one in told)
    return agreed(kind_of(facts, node, where) for node, where in whole)


def _position(index: ast.expr) -> Part:
    sign = -1 if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) else 1
    number = index.operand if isinstance(index, ast.UnaryOp) else index
    return sign * number.value if isinstance(number, ast.Constant) and isinstance(number.value, int) else "any"


def _of_name(facts: FileFacts, name: ast.Name, scope: int) -> Kind:
    owner = facts.resolver.owner(name.id, scope)
    if owner is None:
        return Kind.UNKNOWN
    tested = tested_kind(facts, name, scope)
    if tested is not None:
        return tested
    bindings = reaching(facts, name.id, scope, name)
    # What stands for "not yet" is never what the code goes on to use.
    given = [binding for binding in bindings if not binding.is_unset] or bindings
    found = agreed(_of_binding(facts, binding, owner.index, name.id) for binding in given)
    if found is Kind.NUMBER:
        return _augmented(facts, name, owner.bindings[name.id])
    is_tensor = found is Kind.UNKNOWN and is_used_as_tensor(facts, name, scope, bindings)
    return Kind.TENSOR if is_tensor else found


def _augmented(facts: FileFacts, name: ast.Name, bindings: list[Binding]) -> Kind:
    """What becomes of a number: `total = 0` is a tensor after `total += loss`."""
    kinds = set()
    for binding in bindings:
        if isinstance(binding.statement, ast.AugAssign):
            kind = kind_of(facts, binding.value, binding.scope)
            if kind is Kind.TENSOR and may_follow(facts, binding.statement, name):
                return Kind.TENSOR
            kinds.add(kind)
    return Kind.NUMBER if kinds <= {Kind.NUMBER} else Kind.UNKNOWN


def _of_binding(facts: FileFacts, binding: Binding, owner: int, name: str) -> Kind:
    if binding.annotation is not None:
        declared = kind_of_annotation(facts, binding.annotation, binding.scope)
        if declared is not Kind.UNKNOWN or binding.kind is not BindingKind.ASSIGN:
            return declared
    if binding.kind is BindingKind.ASSIGN:
        return kind_of(facts, binding.value, binding.scope)
    if binding.kind is BindingKind.PART and binding.value is not None:
        return of_piece(facts, kind_of, binding.value, binding.scope, binding.position)
    if binding.kind is BindingKind.ELEMENT:
        loops = loops_of(facts, binding, owner, name)
        return agreed(of_target(kind_of, facts, t, source, name, binding.scope) for t, source in loops)
    if binding.kind is BindingKind.PARAMETER and _is_forward_input(facts, owner, name):
        return Kind.TENSOR
    return Kind.UNKNOWN


def _is_forward_input(facts: FileFacts, scope: int, name: str) -> bool:
    """An undefaulted parameter of `forward` in an `nn.Module`."""
    function = facts.symbols.scopes[scope]
    if function.kind is not ScopeKind.FUNCTION or function.name != "forward" or name == "self":
        return False
    return parameter_binding(facts, scope, name).value is None and is_module_class(facts, function.parent)


def _of_operation(facts: FileFacts, expression: ast.BinOp, scope: int) -> Kind:
    left, right = (kind_of(facts, e, scope) for e in (expression.left, expression.right))
    if isinstance(expression.op, (ast.Mod, ast.Mult)) and left is Kind.TEXT:
        return Kind.TEXT
    if isinstance(expression.op, ast.Add) and Kind.TEXT in (left, right):
        return Kind.TEXT
    for kind in (Kind.TENSOR, Kind.NDARRAY):
        if kind in (left, right):
            return kind
    if isinstance(expression.op, ast.Div) and left is Kind.PATH:
        return Kind.PATH
    if left is Kind.SET and isinstance(expression.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)):
        return Kind.SET
    return left if left is right else Kind.UNKNOWN


def _of_comparison(facts: FileFacts, expression: ast.Compare, scope: int) -> Kind:
    """`x > y` is a tensor where one of them is; `x is y`, `x in y` and `x == None` are not."""
    right = expression.comparators[0]
    if isinstance(expression.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)) or len(expression.ops) > 1:
        return Kind.UNKNOWN
    if isinstance(right, ast.Constant) and not isinstance(right.value, (int, float)):
        return Kind.UNKNOWN
    sides = [kind_of(facts, side, scope) for side in (expression.left, right)]
    return next((kind for kind in (Kind.TENSOR, Kind.NDARRAY) if kind in sides), Kind.UNKNOWN)


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> Kind:
    name = facts.names(call.func, scope).only
    if name in load_values().like_first and call.args:
        whole = kind_of(facts, call.args[0], scope)  # of one tensor; of several that einops stacks, each
        is_several = whole in (Kind.OTHER, Kind.UNKNOWN)
        return of_piece(facts, kind_of, call.args[0], scope, "each") if is_several else whole
    is_module = name is not None and is_module_class(facts, own_scope(facts, name))
    known = Kind.MODULE if is_module else Kind.UNKNOWN if name is None else of_function(name)
    if known is Kind.UNKNOWN:
        known = of_result(kind_of, facts, call, scope, "whole")
    if known is not Kind.UNKNOWN or not isinstance(call.func, ast.Attribute):
        return known
    if attribute_values(facts, call.func, scope):
        layers = names_of_layers(facts, call.func, scope)
        return Kind.TENSOR if layers and all(map(gives_one_tensor, layers)) else Kind.UNKNOWN
    if name is not None and not name.startswith("torch.") and not hangs_on_call(name):
        return Kind.UNKNOWN  # a function of some module, not a method
    receiver = kind_of(facts, call.func.value, scope)
    if receiver is Kind.TENSOR and call.func.attr == "size" and (call.args or call.keywords):
        return Kind.NUMBER  # of one dimension
    if receiver is Kind.UNKNOWN and facts.imports_torch and shows_tensor(call):
        return Kind.TENSOR
    return of_method(call.func.attr, receiver)
