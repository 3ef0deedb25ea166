"""Whether any gradient comes back to a result, to a module, or to what the whole model is given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.catalogue.values import Kind
from torchlint.facts.calls import Given, arguments_for, callers, functions_of
from torchlint.facts.classes import attribute_values, bases_of
from torchlint.facts.constants import sizes_of
from torchlint.facts.definitions import only_end
from torchlint.facts.differentiation import is_named_for_data
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition, Parameter
from torchlint.facts.gradients import is_cut_off, is_gradless
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import hangs_on_call
from torchlint.facts.reaching import reads_by_binding
from torchlint.facts.tensors.annotations import of_method
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_own, last_word, method_called, only_target
from torchlint.facts.values import argument_of

_OUTSIDE = frozenset({"data", "shape", "dtype", "device", "ndim"})
"""Attributes behind which no gradient comes back."""
_BACKWARD = frozenset({"backward", "register_hook", "retain_grad", "requires_grad_"})
_READING = frozenset(f"builtins.{name}" for name in ("float", "int", "bool", "str", "print", "len", "round"))
_LISTING_MODULES = frozenset({"getattr", "eval", "vars", "children", "named_children", "_modules", "__dict__"})
"""What reads attributes without naming them."""
_AUTOGRAD = "torch.autograd."
_SEQUENTIAL = "torch.nn.Sequential"
_FIRST_LAYER = re.compile(r"^(?:conv_first|first_conv|stem|patch_embed\w*|to_patch\w*)$")
_COLOURS = re.compile(
    r"^(?:num_in_ch|num_input_channels|input_nc|in_nc|(?:i|img|image)_ch\w*|in_chans|n_colors|num_colors|input_channels)$"
)
_MOST_COLOURS = 4
_SMALLEST_PICTURE = 96
"""Pixels. Feature maps of a fixed size are smaller."""


def is_raw_input(facts: FileFacts, call: ast.AST, expression: ast.expr | None, scope: int) -> bool:
    """Whether the tensor that a call in `forward` works on evidently is the model's own input."""
    sizes = sizes_of(facts, argument_of(call, "size", 1), scope) if isinstance(call, ast.Call) else ()
    expression, scope = _in_forward(facts, expression, scope)
    given = given_parameter(facts, expression, scope)
    if given is None or facts.symbols.scopes[scope].name != "forward":
        return False
    is_picture = len(sizes) > 1 and min(sizes) >= _SMALLEST_PICTURE
    return is_picture or any(_takes_the_input(facts, layer, scope) for layer in _layers_given(facts, given, scope))


@followed(otherwise=None)
def given_parameter(facts: FileFacts, expression: ast.expr | None, scope: int) -> str | None:
    """The parameter of a method that an expression is, or a view of it."""
    expression = _viewed(expression)
    only = only_end(facts, expression, scope) if isinstance(expression, ast.Name) else None
    if isinstance(only, Parameter):
        return only.name if only.function == facts.function_of(scope) else None
    is_made = isinstance(only, Definition) and not only.parts
    return given_parameter(facts, only.node, only.scope) if is_made else None  # type: ignore[union-attr]


def _viewed(expression: ast.expr | None) -> ast.expr | None:
    """What a view, a slice or a copy is made of; None for another call."""
    while isinstance(expression, (ast.Subscript, ast.Call)):
        if isinstance(expression, ast.Subscript):
            expression = expression.value
        elif isinstance(expression.func, ast.Attribute) and method_named(expression.func.attr).rearranges:
            expression = expression.func.value
        else:
            return None
    return expression


def _in_forward(facts: FileFacts, expression: ast.expr | None, scope: int) -> tuple[ast.expr | None, int]:
    """The argument that the only call in `forward` of another method gives for the parameter that is worked on."""
    name, method = _viewed(expression), facts.function_of(scope)
    if not isinstance(name, ast.Name) or method is None or facts.parameter_named(name, scope) is None:
        return expression, scope
    given = arguments_for(facts, name.id, method)
    if facts.symbols.scopes[method].name == "forward" or len(given) != 1:
        return expression, scope
    return given[0] or (None, scope)


def _layers_given(facts: FileFacts, parameter: str, scope: int) -> Iterator[ast.Attribute]:
    """The layers of `self` that a method calls on the parameter itself."""
    for site in facts.calls_in(facts.function_of(scope)):
        function = site.node.func
        if not is_own(function) or site.scope != scope or not site.node.args:
            continue
        if given_parameter(facts, site.node.args[0], scope) == parameter:
            yield function


@followed(otherwise=False)
def _takes_the_input(facts: FileFacts, layer: ast.Attribute, scope: int) -> bool:
    """A convolution that takes as many channels as an image has colours; by its name, where they are not known."""
    for made, where in attribute_values(facts, layer, scope) or ():
        first = made
        while isinstance(first, ast.Call) and first.args and facts.names(first.func, where).only == _SEQUENTIAL:
            first = first.args[0]
        if isinstance(first, ast.Call) and (facts.names(first.func, where).only or "").startswith("torch.nn.Conv"):
            channels = argument_of(first, "in_channels", 0)
            known = facts.value(channels, where).constants
            if known:
                return all(isinstance(n, int) and n <= _MOST_COLOURS for n in known)
            is_named_so = _COLOURS.search(last_word(channels).lower()) is not None
            return is_named_so or _FIRST_LAYER.search(layer.attr) is not None
    return _FIRST_LAYER.search(layer.attr) is not None or _goes_to_a_first_layer(facts, layer, scope)


def _goes_to_a_first_layer(facts: FileFacts, part: ast.Attribute, scope: int) -> bool:
    """Whether a module of a class of this file gives what it gets to such a layer."""
    for target in functions_of(facts, part, scope):
        layers = _layers_given(facts, target.unfilled[0], target.function.index) if target and target.unfilled else ()
        if any(_takes_the_input(facts, layer, target.function.index) for layer in layers if target):
            return True
    return False


@followed(otherwise=False)
def is_result_cut(facts: FileFacts, result: ast.expr) -> bool:
    """Whether all that becomes of a result is seen, and no gradient can come back from it."""
    tree = facts.index
    if result not in tree.parents:
        return False
    if is_gradless(facts, result):
        return True
    parent = tree.parents[result]
    if isinstance(parent, ast.keyword):
        parent = tree.parents[parent]
    if isinstance(parent, ast.Expr):
        return not (isinstance(result, ast.Call) and method_called(result).endswith("_"))  # `x.add_(1)`
    if isinstance(parent, (ast.Compare, ast.FormattedValue)):
        return True
    if isinstance(parent, ast.Assign):
        reads = _reads_of_name(facts, parent)
        return bool(reads) and all(is_result_cut(facts, read) for read in reads)
    if isinstance(parent, ast.Attribute):
        return _is_member_cut(facts, parent)
    if isinstance(parent, ast.Call):
        name = facts.names(parent.func, tree.scope_of(parent)).only or ""
        passes = name.startswith("torch.") and not hangs_on_call(name) and not name.startswith(_AUTOGRAD)
        return name in _READING or (passes and is_result_cut(facts, parent))
    is_passed = isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.IfExp, ast.Tuple, ast.List))
    return is_passed and is_result_cut(facts, parent)  # type: ignore[arg-type]


def _is_member_cut(facts: FileFacts, member: ast.Attribute) -> bool:
    if member.attr in _BACKWARD:
        return False
    if member.attr in _OUTSIDE or method_named(member.attr).cuts_gradient:
        return True
    call = facts.index.parents[member]
    is_called = isinstance(call, ast.Call) and call.func is member
    return is_result_cut(facts, call if is_called else member)  # type: ignore[arg-type]


def _reads_of_name(facts: FileFacts, statement: ast.Assign) -> list[ast.Name]:
    """The places that may read the name that a statement binds; none where it binds anything else."""
    target = only_target(statement)
    if not isinstance(target, ast.Name):
        return []
    owner = facts.resolver.owner(target.id, facts.index.scope_of(target))
    return [] if owner is None else reads_by_binding(facts, owner.index, target.id).get(statement, [])


# -- modules -------------------------------------------------------------------------------------


def is_module_off(facts: FileFacts, made: ast.Call) -> bool:
    """Whether a module is seen to be used only where gradients are off, or on what needs none."""
    uses = _uses_of_module(facts, made)
    return bool(uses) and all(_is_use_off(facts, use) for use in uses)


def takes_raw_input(facts: FileFacts, made: ast.Call) -> bool:
    """Whether a module is seen to be called only on what the whole model is given."""
    parents = facts.index.parents
    calls = [parents[use] for use in _uses_of_module(facts, made)]
    return bool(calls) and all(
        isinstance(call, ast.Call)
        and bool(call.args)
        and _is_raw(facts, call, (call.args[0], facts.index.scope_of(call)))
        for call in calls
    )


@followed(otherwise=False)
def _is_raw(facts: FileFacts, call: ast.Call, given: Given | None) -> bool:
    """Whether an argument is what the whole model is given: here, or wherever the module that hands it on is called."""
    if given is None:
        return False
    if is_raw_input(facts, call, *given) or is_named_for_data(facts, *given):
        return True
    function, parameter = facts.function_of(given[1]), given_parameter(facts, *given)
    if function is None or parameter is None or facts.function_name(given[1]) != "forward":
        return False
    calls = callers(facts, function)
    return bool(calls) and all(_is_raw(facts, s.node, t.argument(parameter)) for s, t in calls)


def _is_use_off(facts: FileFacts, use: ast.expr) -> bool:
    tree = facts.index
    call = tree.parents[use]
    is_called = isinstance(call, ast.Call) and call.func is use and bool(call.args)
    return is_gradless(facts, use) or (is_called and is_cut_off(facts, call.args[0], tree.scope_of(call)))  # type: ignore[attr-defined]


def unread_attribute(facts: FileFacts, made: ast.Call) -> str:
    """The attribute of `self` that a module is kept in, where nothing reads it in the file of a class that runs itself.

    What reads attributes without naming them may be anywhere in the file; a base class of a library may read any.
    """
    kept = _kept_in(facts, made)
    target = None if kept is None else kept.targets[0]
    if not is_own(target):
        return ""
    tree = facts.index
    reads = _reads_of_attribute(facts, target)
    if any(facts.names(read.value, tree.scope_of(read)).only is None for read in reads):  # `F.pad` is of no module
        return ""
    owner = facts.class_of(tree.scope_of(made))
    scope = None if owner is None else facts.symbols.scopes[owner]
    # It has to be a plain module with a `forward` of its own.
    is_plain = scope is not None and [base.only for base in bases_of(facts, scope)] == ["torch.nn.Module"]
    if scope is None or not is_plain or "forward" not in scope.bindings:
        return ""
    is_listed = any(last_word(node) in _LISTING_MODULES for node in tree.parents)
    return "" if is_listed else target.attr


def _uses_of_module(facts: FileFacts, made: ast.Call) -> list[ast.expr]:
    """The places that read what a module is kept in: a name, or an attribute of `self`."""
    kept = _kept_in(facts, made)
    target = None if kept is None else kept.targets[0]
    if is_own(target):
        return [*_reads_of_attribute(facts, target)]
    return [] if kept is None else [*_reads_of_name(facts, kept)]


def _kept_in(facts: FileFacts, made: ast.Call) -> ast.Assign | None:
    """The assignment that keeps a module, moved to a device perhaps."""
    tree = facts.index
    node: ast.AST = made
    while not isinstance(node, ast.stmt):
        parent = tree.parents[node]
        is_moved = isinstance(parent, ast.Attribute) and of_method(parent.attr, Kind.MODULE) is Kind.MODULE
        is_result = isinstance(parent, ast.Call) and parent.func is node
        if not (is_moved or is_result or isinstance(parent, (ast.IfExp, ast.Assign))):
            return None
        node = parent
    return node if isinstance(node, ast.Assign) else None


def _reads_of_attribute(facts: FileFacts, target: ast.Attribute) -> list[ast.Attribute]:
    """All of the file: those of other objects may be of this one."""
    return [node for node in facts.index.attributes(target.attr) if isinstance(node.ctx, ast.Load)]
