"""The element type of tensors and their layout, as far as their own file shows. None is an honest answer."""

from __future__ import annotations

import ast
from functools import partial

from torchlint.facts.definitions import definitions_of, every
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import End, Parameter
from torchlint.facts.functions import parameter_binding
from torchlint.facts.memoizing import followed
from torchlint.facts.reaching import reaching
from torchlint.facts.tensors.methods import element_of_type, method_named, operation_named
from torchlint.facts.tensors.operands import FUNCTIONS, Part, called_name, operand, part_of_result, picked_result
from torchlint.facts.tree import last_word, method_called

_OF_BOOLS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Mult)
"""Of two bool tensors these make a bool tensor."""
_KERNEL_INTEGERS = frozenset(
    f"triton.language.{name}" for name in ("histogram", "xor_sum", "program_id", "num_programs")
)


@followed(otherwise=None)
def element_of(facts: FileFacts, expression: ast.expr | None, scope: int) -> str | None:
    """`float`, `integer`, `bool` or `complex`: what a tensor's elements evidently are."""
    ends = () if expression is None else definitions_of(facts, expression, scope)
    found = {_of_end(facts, one) for one in ends}
    return found.pop() if len(found) == 1 else None


def _of_end(facts: FileFacts, one: End) -> str | None:
    if isinstance(one, Parameter):
        declared = parameter_binding(facts, one.function, one.name)
        annotation = None if declared.annotation is None else facts.names(declared.annotation, declared.scope).only
        return element_of_type((annotation or "").removeprefix("torch."))
    if one is None:
        return None
    expression, scope = one.node, one.scope
    part = picked_result(one) if one.parts else part_of_result(facts, expression, scope)
    if part is not None:
        return _element_of_part(facts, part)
    if one.parts:
        return None
    if isinstance(expression, ast.Compare):
        return "bool"
    if isinstance(expression, ast.BinOp):
        return _of_operation(facts, expression, scope)
    if isinstance(expression, ast.UnaryOp):
        return element_of(facts, expression.operand, scope)
    if isinstance(expression, ast.Call):
        return _of_call(facts, expression, scope)
    is_same = isinstance(expression, ast.Attribute) and expression.attr in ("T", "mT", "data", "grad")
    if is_same or isinstance(expression, ast.Subscript):
        return element_of(facts, expression.value, scope)  # type: ignore[attr-defined]
    return "integer" if isinstance(expression, ast.Attribute) and expression.attr == "indices" else None


def is_named_mask(expression: ast.expr | None) -> bool:
    """Whether a tensor's own name says that it is a mask: zeros and ones, mostly kept as integers or bools."""
    name = last_word(expression)
    return name.lower().rstrip("0123456789").rpartition("_")[2] in ("mask", "masks", "valid")


def _element_of_part(facts: FileFacts, part: Part) -> str | None:
    name = called_name(facts, part.call, part.scope)
    results = operation_named(name).results
    is_place = results == "pair" and part.position not in (0, -2)
    if is_place or name in ("where", "nonzero") or (part.position and name == "unique"):
        return "integer"
    if results in ("pair", "parts") or name == "unique":
        return element_of(facts, operand(facts, part.call, part.scope), part.scope)
    return None


def _of_operation(facts: FileFacts, expression: ast.BinOp, scope: int) -> str | None:
    if isinstance(expression.op, ast.Div):
        return "float"
    sides = (expression.left, expression.right)
    found = [element_of(facts, one, scope) for one in sides]
    if "float" in found:
        return "float"
    known = [element or _of_number(facts, one, scope) for element, one in zip(found, sides, strict=True)]
    if "float" in known:
        return "float"
    if None in known:
        return None
    return "bool" if set(known) == {"bool"} and isinstance(expression.op, _OF_BOOLS) else "integer"


def _of_number(facts: FileFacts, expression: ast.expr, scope: int) -> str | None:
    """What a Python number makes of the tensor beside it."""
    values = facts.value(expression, scope)
    if not values.is_known:
        return "integer" if is_count(facts, expression, scope) else None
    if all(isinstance(value, int) for value in values.constants):
        return "integer"
    return "float" if all(isinstance(value, (int, float)) for value in values.constants) else None


def is_count(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    """`len(x)`, `int(x)`, `x.size(0)`, or a parameter that is annotated `int`."""
    if isinstance(expression, ast.Call):
        method = method_called(expression)
        is_asked = method in ("numel", "nelement") or (method == "size" and bool(expression.args))
        return is_asked or facts.names(expression.func, scope).only in ("builtins.len", "builtins.int")
    bound = reaching(facts, expression.id, scope, expression) if isinstance(expression, ast.Name) else []
    return bool(bound) and all(isinstance(b.annotation, ast.Name) and b.annotation.id == "int" for b in bound)


def _of_call(facts: FileFacts, call: ast.Call, scope: int) -> str | None:
    name = called_name(facts, call, scope)
    if name is None:
        return None
    given = given_dtype(facts, call, scope)
    if given is not None:
        return given
    element = operation_named(name).element
    if element in ("integer", "bool", "float"):
        return element
    if facts.names(call.func, scope).only in _KERNEL_INTEGERS:
        return "integer"
    if element_of_type(name) is not None:
        return element_of_type(name)
    if element in ("same", "counted"):
        inner = element_of(facts, operand(facts, call, scope), scope)
        return "integer" if inner == "bool" and element == "counted" else inner
    return _of_factory(facts, call, name, scope)


def given_dtype(facts: FileFacts, call: ast.Call, scope: int) -> str | None:
    """From `dtype=torch.long`, `.to(torch.int32)` or `.type(torch.LongTensor)`."""
    candidates = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    if method_called(call) in ("to", "type", "cast"):
        candidates += call.args
    for candidate in candidates:
        name = facts.names(candidate, scope).only or ""
        if name.startswith(FUNCTIONS):
            short = name.removeprefix("torch.").removeprefix("cuda.").removeprefix("triton.language.")
            if element_of_type(short) is not None:
                return element_of_type(short)
        if isinstance(candidate, ast.Name) and candidate.id in ("bool", "int", "float"):
            return element_of_type(candidate.id)
    return None


def _of_factory(facts: FileFacts, call: ast.Call, name: str, scope: int) -> str | None:
    if any(keyword.arg == "dtype" for keyword in call.keywords):
        return None  # given, and not known
    if name in ("zeros", "ones", "empty"):
        return "float"
    if name == "one_hot":
        return "integer"
    if name == "arange" and call.args:
        kinds = {_of_number(facts, argument, scope) for argument in call.args[:3]}
        return "float" if "float" in kinds else "integer"
    if name == "bincount" and len(call.args) < 2 and not any(k.arg == "weights" for k in call.keywords):
        return "integer"
    return _of_display(facts, call.args[0], scope) if name in ("tensor", "as_tensor") and call.args else None


def _of_display(facts: FileFacts, display: ast.expr, scope: int) -> str | None:
    if not isinstance(display, (ast.List, ast.Tuple)):
        return _of_number(facts, display, scope)
    kinds = {_of_display(facts, item, scope) for item in display.elts[:50]}
    return None if not kinds or None in kinds else "float" if "float" in kinds else "integer"


@followed(otherwise=False)
def is_sparse(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether a tensor evidently has a sparse layout: made so, or turned into one."""
    return facts.cached(makes_sparse) and every(facts, expression, scope, partial(_is_made_sparse, facts))


def _is_made_sparse(facts: FileFacts, call: ast.expr, scope: int) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = called_name(facts, call, scope)
    if name is not None and _may_make_sparse(facts, call, scope):
        return True
    keeps = method_named(name).copies or name in ("coalesce", "t", "transpose")
    return keeps and is_sparse(facts, operand(facts, call, scope), scope)


def makes_sparse(facts: FileFacts) -> bool:
    """Whether the file makes a sparse tensor anywhere: where none is made, nothing evidently is one."""
    return any(_may_make_sparse(facts, site.node, site.scope) for site in facts.symbols.calls)


def _may_make_sparse(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    """By the last part of its name; the call of a tensor's method, or of a function of torch, makes one for sure."""
    name = method_called(call) or (facts.names(call.func, scope).only or "").rpartition(".")[2]
    is_made = name.startswith(("sparse_", "to_torch_")) and name.endswith("_tensor")
    return is_made or name.startswith("to_sparse")
