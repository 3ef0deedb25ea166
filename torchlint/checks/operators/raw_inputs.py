"""Whether a tensor is what a whole model is given, an image or a frame: no gradient flows back to that.

A parameter of `forward` may as well be the features that a block is given. What tells them apart: the same parameter
goes into a first layer, which takes the colours of an image, or it is brought to the size of a picture.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.calls import arguments_for, functions_of
from torchlint.facts.classes import attribute_values
from torchlint.facts.constants import sizes_of
from torchlint.facts.definitions import only_end, only_value
from torchlint.facts.flow.values import Definition, Parameter
from torchlint.facts.memoizing import memoized
from torchlint.facts.tensors.methods import method_named
from torchlint.facts.tree import is_method_call, is_own, last_word, targets_of
from torchlint.facts.values import argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts

_STATISTICS = frozenset({"mean", "std", "var", "median", "amin", "amax"})
_FIRST_LAYER = re.compile(r"^(?:conv_first|first_conv|stem|patch_embed\w*|to_patch\w*)$")
_MADE_FIRST = re.compile(r"^(?:conv_first|first|first_conv|conv_pre)$")
_COLOURS = re.compile(
    r"^(?:num_in_ch|num_input_channels|input_nc|in_nc|(?:i|img|image)_ch\w*|in_chans|n_colors|num_colors|input_channels)$"
)
_MOST_COLOURS = 4
_SMALLEST_PICTURE = 96
"""Pixels. Feature maps of a fixed size are smaller."""


def is_raw_input(facts: FileFacts, call: ast.AST, expression: ast.expr | None, scope: int) -> bool:
    """Whether the tensor that a call in `forward` works on evidently is the model's own input."""
    if _is_normalised(facts, expression, scope):
        return True
    sizes = sizes_of(facts, argument_of(call, "size", 1), scope) if isinstance(call, ast.Call) else ()
    expression, scope = _in_forward(facts, expression, scope)
    given = given_parameter(facts, expression, scope)
    if given is None or facts.symbols.scopes[scope].name != "forward":
        return False
    is_picture = len(sizes) > 1 and min(sizes) >= _SMALLEST_PICTURE
    return is_picture or any(_takes_the_input(facts, layer, scope) for layer in _layers_given(facts, given, scope))


def _is_normalised(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 4) -> bool:
    """Whether the method takes detached statistics of the tensor off it.

    The gradient of such a tensor would be wrong: nobody does this to anything but a series or image as it was loaded.
    """
    name = _viewed(expression)
    if not isinstance(name, ast.Name) or depth <= 0:
        return False
    if name.id in _described(facts, facts.function_of(scope)):
        return True
    made, where = only_value(facts, name, scope)
    return _is_normalised(facts, made, where, depth - 1)


@memoized
def _described(facts: FileFacts, function: int | None) -> frozenset[str]:
    """The names of a function whose detached statistics it keeps."""
    bindings = {} if function is None else facts.symbols.scopes[function].bindings
    return frozenset(_detached_statistic_of(one.value) for beside in bindings.values() for one in beside)


def _detached_statistic_of(value: ast.expr | None) -> str:
    """`x` of `x.mean(1, keepdim=True).detach()`, `torch.std(x, dim=1).detach()`; empty for all else."""
    statistic = value.func.value if is_method_call(value, "detach") else None
    if not is_method_call(statistic) or statistic.func.attr not in _STATISTICS:
        return ""
    owner = statistic.func.value
    of = statistic.args[0] if getattr(owner, "id", "") == "torch" and statistic.args else owner
    return getattr(of, "id", "")


def is_first_layer(statement: ast.stmt) -> bool:
    """Whether a statement makes what is called the first layer of a model: nothing before it asks for a gradient."""
    return any(_MADE_FIRST.search(last_word(target)) for target in targets_of(statement))


def given_parameter(facts: FileFacts, expression: ast.expr | None, scope: int, depth: int = 6) -> str | None:
    """The parameter of a method that an expression is, or a view of it."""
    expression = _viewed(expression)
    only = only_end(facts, expression, scope) if isinstance(expression, ast.Name) and depth else None
    if isinstance(only, Parameter):
        return only.name if only.function == facts.function_of(scope) else None
    is_made = isinstance(only, Definition) and not only.parts
    return given_parameter(facts, only.node, only.scope, depth - 1) if is_made else None  # type: ignore[union-attr]


def _viewed(expression: ast.expr | None) -> ast.expr | None:
    """What a view, a slice or a copy is made of; None for another call."""
    while isinstance(expression, ast.Subscript | ast.Call):
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


def _takes_the_input(facts: FileFacts, layer: ast.Attribute, scope: int, depth: int = 4) -> bool:
    """A convolution that takes as many channels as an image has colours; by its name, where they are not known."""
    for made, where in attribute_values(facts, layer, scope) or ():
        first = _first_of(facts, made, where)
        if first is not None and (facts.names(first.func, where).only or "").startswith("torch.nn.Conv"):
            channels = argument_of(first, "in_channels", 0)
            name = last_word(channels)
            known = facts.value(channels, where).constants
            if known:
                return all(isinstance(n, int) and n <= _MOST_COLOURS for n in known)
            return _COLOURS.search(name.lower()) is not None or _FIRST_LAYER.search(layer.attr) is not None
    return _FIRST_LAYER.search(layer.attr) is not None or _goes_to_a_first_layer(facts, layer, scope, depth)


def _first_of(facts: FileFacts, made: ast.expr, scope: int) -> ast.Call | None:
    """The first layer of a `Sequential`, or the layer itself."""
    while isinstance(made, ast.Call) and made.args and facts.names(made.func, scope).only == "torch.nn.Sequential":
        made = made.args[0]
    return made if isinstance(made, ast.Call) else None


def _goes_to_a_first_layer(facts: FileFacts, part: ast.Attribute, scope: int, depth: int) -> bool:
    """Whether a module of a class of this file gives what it gets to such a layer."""
    for target in functions_of(facts, part, scope) if depth else ():
        layers = _layers_given(facts, target.unfilled[0], target.function.index) if target and target.unfilled else ()
        if any(_takes_the_input(facts, layer, target.function.index, depth - 1) for layer in layers if target):
            return True
    return False
