"""Layers and what they feed: which convolutions and linear layers go straight, and only, into a BatchNorm.

Chains are read where torch's containers spell them out (`nn.Sequential` and its relatives); where `forward` joins
attributes, `bias_before_batchnorm.py` reads them. What is not evident is left out: an unknown element ends a chain.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

import msgspec

from torchlint.facts.classes import bases_of
from torchlint.facts.control.blocks import blocks_of
from torchlint.facts.definitions import seen_values
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Through
from torchlint.facts.memoizing import followed
from torchlint.facts.notation import result_of
from torchlint.facts.training.training_mode import NORMS
from torchlint.facts.tree import is_method_call, is_self, is_super
from torchlint.facts.values import argument_of, may_be_hidden

_SEQUENTIAL = "torch.nn.Sequential"
_CONVOLUTIONS = {"Conv": 7, "ConvTranspose": 7, "LazyConv": 6}
BIAS_POSITION = {
    **{f"torch.nn.{kind}{d}": place for kind, place in _CONVOLUTIONS.items() for d in ("1d", "2d", "3d")},
    "torch.nn.Linear": 2,
    "torch.nn.LazyLinear": 1,
}
BIASED = frozenset(BIAS_POSITION)


class Layer(msgspec.Struct, frozen=True):
    """A layer that is made here. `name` is its class in full."""

    name: str
    call: ast.Call
    scope: int


class RedundantBias(msgspec.Struct, frozen=True):
    """A layer whose bias the norm behind it takes away again."""

    layer: Layer
    norm: Layer
    how: str
    """`sequential` or `forward`."""


def layer_of(facts: FileFacts, expression: ast.expr, scope: int) -> Layer | None:
    """The layer that an expression makes, when its class is certain."""
    if not isinstance(expression, ast.Call):
        return None
    names = facts.names(expression.func, scope)
    if names.only is None or any(callee.partial for callee in names.callees if callee.name in BIASED):
        return None
    return Layer(names.only, expression, scope)


def cancels(facts: FileFacts, layer: Layer, norm: Layer) -> bool:
    """Whether `norm`, fed with nothing but the output of `layer`, subtracts its bias."""
    if layer.name not in BIASED or norm.name not in NORMS or not _has_bias(facts, layer) or _is_frozen(facts, norm):
        return False
    if layer.name in ("torch.nn.Linear", "torch.nn.LazyLinear"):
        return norm.name == "torch.nn.BatchNorm1d" and _same_features(facts, layer, norm)
    return norm.name == "torch.nn.SyncBatchNorm" or norm.name[-2:] == layer.name[-2:]


def _has_bias(facts: FileFacts, layer: Layer) -> bool:
    position = BIAS_POSITION[layer.name]
    given = argument_of(layer.call, "bias", position)
    if given is None:
        return not may_be_hidden(layer.call, position)
    return facts.value(given, layer.scope).only(bool) is True


def _is_frozen(facts: FileFacts, norm: Layer) -> bool:
    """`momentum=0` keeps the running statistics, which is how a norm is frozen; hidden arguments may do the same."""
    partials = [call for callee in facts.names(norm.call.func, norm.scope).callees for call in callee.partial]
    for call in (norm.call, *partials):
        momentum = argument_of(call, "momentum", 2)
        if momentum is not None and facts.value(momentum, norm.scope).constants not in ((None,), ()):
            return not any(facts.value(momentum, norm.scope).constants)
        if may_be_hidden(call, None):
            return True
    return False


def _same_features(facts: FileFacts, layer: Layer, norm: Layer) -> bool:
    made = argument_of(layer.call, "out_features", 0 if "Lazy" in layer.name else 1)
    taken = argument_of(norm.call, "num_features", 0)
    if made is None or taken is None:
        return False
    known = facts.value(made, layer.scope)
    return (known.is_known and known == facts.value(taken, norm.scope)) or ast.dump(made) == ast.dump(taken)


# -- containers ----------------------------------------------------------------------------------


def chained_biases(facts: FileFacts) -> Iterator[RedundantBias]:
    """Redundant biases in `Sequential` containers, however they are filled."""
    for site in facts.symbols.calls:
        for elements in _chains(facts, site.node, site.scope):
            yield from _pairs(facts, elements, site.scope)
    for holder in (facts.tree, *facts.symbols.parents):
        for block in blocks_of(holder):
            scope = facts.symbols.scope_of[block[0]]
            # `layers.append(conv)` and, as the very next statement, `layers.append(norm)`; likewise `add_module`
            for one, two in itertools.pairwise(map(_added, block)):
                is_same = one is not None and two is not None and ast.dump(one[0]) == ast.dump(two[0])
                if one is not None and two is not None and is_same and _is_container(facts, one[0], scope):
                    yield from _pairs(facts, [one[1], two[1]], scope)


def _pairs(facts: FileFacts, elements: Sequence[ast.expr], scope: int) -> Iterator[RedundantBias]:
    for first, second in itertools.pairwise(elements):
        layer, norm = (_edge(facts, first, scope, last=True), _edge(facts, second, scope, last=False))
        if layer is not None and norm is not None and cancels(facts, layer, norm):
            yield RedundantBias(layer, norm, "sequential")


@followed(otherwise=None)
def _edge(facts: FileFacts, expression: ast.expr, scope: int, *, last: bool) -> Layer | None:
    """The last (or first) layer that runs in an element, through nested containers."""
    layer = layer_of(facts, expression, scope)
    if layer is None or layer.name != _SEQUENTIAL:
        return layer
    inner = next(iter(_chains(facts, layer.call, scope)), [])
    return _edge(facts, inner[-1 if last else 0], scope, last=last) if inner else None


def _chains(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[list[ast.expr]]:
    """The elements of a container as far as they are written out; an unpacked list gives its own elements."""
    # `super().__init__(...)` in a class that is an `nn.Sequential` and keeps its `forward`
    is_init = is_method_call(call, "__init__") and is_super(call.func.value)
    is_container = is_init and _is_sequential_class(facts, facts.class_of(scope))
    if not is_container and facts.names(call.func, scope).only != _SEQUENTIAL:
        return
    if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
        entries = _dictionary_entries(facts, call.args[0], scope)
        if entries is not None:
            yield entries
            return
    plain: list[ast.expr] = []
    for argument in call.args:
        if not isinstance(argument, ast.Starred):
            plain.append(argument)
            continue
        yield plain
        plain = []
        for display, _ in seen_values(facts, argument.value, scope, Through.CHANGES | Through.RESULTS):
            if isinstance(display, (ast.List, ast.Tuple)):
                yield list(display.elts)
        for binding in facts.bindings(argument.value, scope):
            if isinstance(binding.statement, ast.AugAssign) and isinstance(binding.value, (ast.List, ast.Tuple)):
                yield list(binding.value.elts)  # `layers += [conv, norm]`
    yield plain


def _is_sequential_class(facts: FileFacts, owner: int | None) -> bool:
    """Whether a class scope derives from `nn.Sequential` itself and defines no `forward`."""
    if owner is None:
        return False
    scope = facts.symbols.scopes[owner]
    return "forward" not in scope.bindings and [base.only for base in bases_of(facts, scope)] == [_SEQUENTIAL]


def _dictionary_entries(facts: FileFacts, argument: ast.expr, scope: int) -> list[ast.expr] | None:
    """The values of `OrderedDict([("conv", ...), ("norm", ...)])` or `OrderedDict(conv=..., norm=...)`."""
    if not isinstance(argument, ast.Call):
        return None
    if facts.names(argument.func, scope).only not in ("collections.OrderedDict", "builtins.dict", "typing.OrderedDict"):
        return None
    if argument.keywords and not argument.args:
        return [keyword.value for keyword in argument.keywords]
    pairs = argument.args[0] if len(argument.args) == 1 else None
    if isinstance(pairs, ast.Dict):
        return list(pairs.values)
    if not isinstance(pairs, (ast.List, ast.Tuple)):
        return None
    return [pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else pair for pair in pairs.elts]


def _added(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """The container that a statement adds a layer to, and the layer."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not is_method_call(call) or not call.args:
        return None
    expected = {"append": 1, "add_module": 2}.get(call.func.attr)
    return (call.func.value, call.args[-1]) if expected == len(call.args) else None


def _is_container(facts: FileFacts, container: ast.expr, scope: int) -> bool:
    """A `Sequential`, or a list that is only ever filled and unpacked into one."""
    if is_self(container):
        return _is_sequential_class(facts, facts.class_of(scope))
    if facts.names(container, scope).only == result_of(_SEQUENTIAL):
        return True
    if not isinstance(container, ast.Name):
        return False
    given = ((site, one) for site in facts.calls_in(facts.function_of(scope)) for one in site.node.args)
    starred = ((site, one.value) for site, one in given if isinstance(one, ast.Starred))
    unpacking = (site for site, one in starred if isinstance(one, ast.Name) and one.id == container.id)
    return any(facts.names(site.node.func, site.scope).only == _SEQUENTIAL for site in unpacking)
