"""Where no gradient can flow: under `no_grad` / `inference_mode`, or on an input that was cut from the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.catalogue.load import load_values
from torchlint.facts.calls import callers, known_functions
from torchlint.facts.classes import attribute_values
from torchlint.facts.control.blocks import Function, lines_of
from torchlint.facts.control.conditions import governed
from torchlint.facts.file import FileFacts
from torchlint.facts.functions import returned_values
from torchlint.facts.grouping import grouped
from torchlint.facts.memoizing import followed
from torchlint.facts.scopes import Binding, BindingKind
from torchlint.facts.tensors.methods import function_named, method_named
from torchlint.facts.training.steps import goes_backward
from torchlint.facts.tree import is_method_call, is_own, last_word, method_called, names_in
from torchlint.facts.values import argument_of

_CONTEXTS = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
_RESHAPING = frozenset({"torch.nn.functional.interpolate", "torch.nn.functional.pad"})
_ASKING = "requires_grad_"
_SCALING = frozenset({"div", "mul", "tril", "triu"})
"""With a number, as data is scaled; a part of it, as masks are made."""


def is_gradless(facts: FileFacts, node: ast.expr) -> bool:
    """Whether gradients are off where code stands."""
    return any(first <= node.lineno <= last for first, last in facts.cached(_gradless_lines))


def _gradless_lines(facts: FileFacts) -> list[tuple[int, int]]:
    """The spans of lines (both ends included) in which gradients are off."""
    spans = []
    for statement in facts.symbols.parents:
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            scope = facts.symbols.scope_of[statement]
            if any(_turns_off(facts, item.context_expr, scope) for item in statement.items):
                spans.append(lines_of([statement]))
        elif isinstance(statement, ast.If):
            answer = _answer_without_gradients(facts, statement.test, facts.symbols.scope_of[statement])
            if answer is not None:
                spans += [lines_of(run) for run in governed(facts, statement, answer=answer)]
    functions = ((one.node, one.parent or 0) for one in facts.symbols.scopes if isinstance(one.node, Function))
    spans += [lines_of([node]) for node, home in functions if any(_is_off(facts, d, home) for d in node.decorator_list)]
    return spans + [lines_of([function]) for function in _called_only_from(facts, spans)]


@followed(otherwise=None)
def _answer_without_gradients(facts: FileFacts, test: ast.expr, scope: int) -> bool | None:
    """What `self.training`, `x.requires_grad` or `is_decoding` says where gradients are off; None for any other test.

    Of `a and not self.training` one part says enough; of `a and self.training` the parts must agree. A function of the
    file says what it returns.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _answer_without_gradients(facts, test.operand, scope)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        answers = {_answer_without_gradients(facts, part, scope) for part in test.values}
        settled = isinstance(test.op, ast.And)
        return settled if settled in answers else answers.pop() if len(answers) == 1 else None
    if isinstance(test, ast.Call):
        if facts.names(test.func, scope).only == "torch.is_grad_enabled":
            return False
        called = known_functions(facts, test.func, scope)
        returned = [(value, function) for function in called for value in returned_values(facts, function)]
        return _answer_without_gradients(facts, *returned[0]) if len(returned) == 1 else None
    if isinstance(test, ast.Name) and test.id in ("is_decoding", "is_inference", "inference"):
        return True
    if not isinstance(test, ast.Attribute):
        return None
    # Where a weight needs no gradient, the input may.
    is_off = test.attr == "training" or (test.attr == "requires_grad" and isinstance(test.value, ast.Name))
    return False if is_off else None


def _turns_off(facts: FileFacts, expression: ast.expr, scope: int) -> bool:
    call = expression if isinstance(expression, ast.Call) else None
    name = facts.names(call.func if call else expression, scope).only
    if name == "torch.set_grad_enabled":
        return call is not None and bool(call.args) and facts.value(call.args[0], scope).constants == (False,)
    if name not in _CONTEXTS:
        return False
    # `inference_mode(False)` turns gradients back on.
    return call is None or not call.args or facts.value(call.args[0], scope).constants != (False,)


def _is_off(facts: FileFacts, decorator: ast.expr, scope: int) -> bool:
    """Also by name, `@smart_inference_mode()`: one of the project's own, which chooses between those of torch."""
    word = last_word(getattr(decorator, "func", decorator))
    return word.endswith(("_no_grad", "_inference_mode")) or _turns_off(facts, decorator, scope)


def _called_only_from(facts: FileFacts, spans: list[tuple[int, int]]) -> Iterator[Function]:
    """Private functions and methods all of whose calls in this file stand where gradients are off."""
    for scope in facts.symbols.scopes if spans else ():
        node, is_private = scope.node, scope.name.startswith("_") and not scope.name.startswith("__")
        lines = [site.node.lineno for site in facts.calls.find(words=(scope.name,))] if is_private else []
        if isinstance(node, Function) and lines and all(any(a <= line <= z for a, z in spans) for line in lines):
            yield node


@followed(otherwise=False)
def is_cut_off(facts: FileFacts, expression: ast.expr | None, scope: int) -> bool:
    """Whether a tensor evidently carries no gradient: detached, or just loaded or made."""
    if expression is None:
        return False
    if isinstance(expression, ast.Name):
        return _is_name_cut_off(facts, expression.id, scope)
    if isinstance(expression, ast.Subscript):
        return is_cut_off(facts, expression.value, scope)
    if isinstance(expression, ast.BinOp):
        sides = (one for one in (expression.left, expression.right) if not isinstance(one, ast.Constant))
        return all(is_cut_off(facts, one, scope) for one in sides)
    if is_own(expression):  # `self.positions = nn.Parameter(table, requires_grad=False)`
        kept = attribute_values(facts, expression, scope) or ()
        made = [(value, where) for value, where in kept if isinstance(value, ast.Call)]
        return bool(made) and all(
            facts.names(value.func, where).only == "torch.nn.Parameter"
            and facts.value(argument_of(value, "requires_grad", 1), where).constants == (False,)
            for value, where in made
        )
    return isinstance(expression, ast.Call) and _is_made_cut_off(facts, expression, scope)


def _is_made_cut_off(facts: FileFacts, call: ast.Call, scope: int) -> bool:
    if any(keyword.arg == "requires_grad" for keyword in call.keywords):
        return False
    if isinstance(call.func, ast.Attribute):
        if call.func.attr == _ASKING:
            return not asks_for_gradient(facts, call, scope)
        if method_named(call.func.attr).cuts_gradient:
            return True
        if _follows_receiver(call.func.attr):
            return is_cut_off(facts, call.func.value, scope)
    names = facts.names(call.func, scope)
    # Data is loaded, or a tensor is new: no gradient flows through.
    loaded = load_values().data
    is_made = [one in loaded or function_named(one).values in ("fresh", "like") for one in names.names]
    return names.complete and bool(is_made) and all(is_made)


def asks_for_gradient(facts: FileFacts, node: ast.expr, scope: int) -> bool:
    """Whether an expression makes a leaf that wants a gradient: `randn(3, requires_grad=True)`, `Parameter(x)`."""
    if not isinstance(node, ast.Call):
        return False
    is_asking = is_method_call(node, _ASKING)
    is_parameter = not is_asking and facts.names(node.func, scope).only == "torch.nn.Parameter"
    asked = argument_of(node, "requires_grad", 0 if is_asking else 1 if is_parameter else None)
    return is_asking or is_parameter if asked is None else facts.value(asked, scope).constants == (True,)


def is_told_to_ask(facts: FileFacts, name: str, scope: int) -> bool:
    """Whether the tensor of a name is told to want a gradient after it is made."""
    return (facts.function_of(scope), name) in facts.cached(_asked_later)


def _asked_later(facts: FileFacts) -> set[tuple[int | None, str]]:
    """Names, by function, whose tensor is told to want a gradient: `x.requires_grad_()`, `x.requires_grad = True`."""
    calls = [one for one in facts.calls.find(words=(_ASKING,)) if asks_for_gradient(facts, one.node, one.scope)]
    found = [(one.node.func, one.scope) for one in calls]
    for one in facts.symbols.assignments:
        is_set = isinstance(one.target, ast.Attribute) and one.target.attr == "requires_grad"
        if is_set and facts.value(one.value, one.scope).constants == (True,):
            found.append((one.target, one.scope))
    holders = ((getattr(target, "value", None), scope) for target, scope in found)
    return {(facts.function_of(scope), holder.id) for holder, scope in holders if isinstance(holder, ast.Name)}


def _follows_receiver(name: str) -> bool:
    """Whether the result of a method needs a gradient only if its receiver does."""
    found = method_named(name)
    is_drawn = bool(found.draws and found.writes)
    return found.carries or found.results == "parts" or is_drawn or name in _SCALING


@followed(otherwise=False)
def _is_name_cut_off(facts: FileFacts, name: str, scope: int) -> bool:
    """Whether everything a name is bound to is cut off; `x = x.float()` says nothing new."""
    if is_told_to_ask(facts, name, scope):
        return False
    owner = facts.resolver.owner(name, scope)
    bindings = owner.bindings[name] if owner else []
    telling = [b for b in bindings if not (b.kind is BindingKind.ASSIGN and _is_rebound_to_itself(facts, b, name))]
    is_made = bool(telling) and all(_is_binding_cut_off(facts, name, binding, scope) for binding in telling)
    return is_made and not is_filled_up(facts, name, facts.function_of(scope))


def _is_binding_cut_off(facts: FileFacts, name: str, binding: Binding, scope: int) -> bool:
    if binding.kind is BindingKind.ASSIGN:
        return is_cut_off(facts, binding.value, binding.scope)
    if binding.kind is BindingKind.ELEMENT:
        return goes_backward(facts, scope)  # what its loops run over comes from a loader
    return binding.kind is BindingKind.PARAMETER and _is_given_cut_off(facts, name, scope)


def _is_given_cut_off(facts: FileFacts, parameter: str, scope: int) -> bool:
    """Whether a method gets nothing but tensors that are cut off, by all calls of the class where gradients are on."""
    function = facts.function_of(scope)
    method = None if function is None else facts.symbols.scopes[function]
    if method is None or method.name == "forward" or method.name.startswith("__"):
        return False
    if facts.class_of(method.index) is None or f".{method.name}" not in facts.source.text:
        return False  # to look for the callers of a function means to look at every call
    calls = [(site, target) for site, target in callers(facts, method.index) if not is_gradless(facts, site.node)]
    if not calls or is_filled_up(facts, parameter, method.index):
        return False
    given = [target.argument(parameter) for site, target in calls if is_own(site.node.func)]
    return len(given) == len(calls) and all(one and is_cut_off(facts, *one) for one in given)


def is_filled_up(facts: FileFacts, name: str, function: int | None) -> bool:
    """Whether a function puts anything into what a name stands for that may carry a gradient: `x.index_add_(0, i, y)`.

    The moved parts of a dictionary are what it held before.
    """
    return any(
        not _is_moved_element(facts, value, name, scope) and not is_cut_off(facts, value, scope)
        for value, scope in facts.cached(_values_put_in).get((function, name), ())
    )


def _values_put_in(facts: FileFacts) -> dict[tuple[int | None, str], list[tuple[ast.expr, int]]]:
    """What each function writes into what a name stands for, numbers aside: `x[i] = y`, `x.add_(y)`, `x.copy_(y)`."""
    stores = [(one.target, one.value, one.scope) for one in facts.symbols.assignments]
    writing = [one for one in facts.symbols.calls if method_named(method_called(one.node)).writes and one.node.args]
    stores += [(one.node.func, one.node.args[-1], one.scope) for one in writing]  # type: ignore[misc]
    named = ((one.value.id, value, scope) for one, value, scope in stores if isinstance(one.value, ast.Name))
    told = ((name, value, scope) for name, value, scope in named if not isinstance(value, ast.Constant | None))
    return grouped(((facts.function_of(scope), name), (value, scope)) for name, value, scope in told)


def _is_moved_element(facts: FileFacts, value: ast.expr | None, parameter: str, scope: int) -> bool:
    """`part.to(device)`, where `part` comes from a loop over the dictionary itself."""
    while is_method_call(value) and _follows_receiver(value.func.attr):
        value = value.func.value
    bound = facts.bindings(value, scope)
    iterated = [one.statement.iter for one in bound if isinstance(one.statement, ast.For)]
    return bool(bound) and len(iterated) == len(bound) and all(parameter in names_in(one) for one in iterated)


def _is_rebound_to_itself(facts: FileFacts, binding: Binding, name: str) -> bool:
    """`x = x.float() / 255` or `x = F.interpolate(x, ...)`: the last word on `x` is its other binding."""
    value = binding.value
    while isinstance(value, (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp)):
        if isinstance(value, ast.BinOp):
            value = value.left if isinstance(value.right, ast.Constant) else value.right
        elif not isinstance(value, ast.Call):
            value = value.value
        elif isinstance(value.func, ast.Attribute) and _follows_receiver(value.func.attr):
            value = value.func
        elif value.args and facts.names(value.func, binding.scope).only in _RESHAPING:
            value = value.args[0]
        else:
            return False
    return isinstance(value, ast.Name) and value.id == name
