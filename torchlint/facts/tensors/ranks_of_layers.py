"""How many dimensions torch's layers leave: `self.head(x)`, `nn.Sequential(...)(x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.catalogue.load import load_values
from torchlint.facts.definitions import definitions_of
from torchlint.facts.file import FileFacts
from torchlint.facts.flow.values import Definition
from torchlint.facts.memoizing import followed
from torchlint.facts.moves import moved
from torchlint.facts.origins import Origin
from torchlint.facts.tensors.annotations import is_layer
from torchlint.facts.values import Values, argument_of

Made = tuple[ast.Call, int]
"""The call that makes a layer, with the scope that it stands in."""
Dimensions = frozenset[int | Origin]
"""Numbers of dimensions; an origin stands for those of the tensor that another file has."""
_UNKNOWN: Dimensions = frozenset()
_ANY_MODE = frozenset({3, 4, 5})


def layers_called(facts: FileFacts, function: ast.expr, scope: int) -> list[Made]:
    """What `self.head(x)`, `head(x)` or `nn.Conv2d(3, 8, 1)(x)` may call; empty where that may be something else."""
    made = _calls_behind(facts, function, scope)
    return made if all(_gives_tensors(facts, *one) for one in made) else []


def are_maps_by_key(facts: FileFacts, result: ast.expr, scope: int) -> bool:
    """Whether a value is evidently the dictionary of maps that a model gives: `deeplabv3_resnet50()(x)`."""
    made = [_calls_behind(facts, one.func, where) for one, where in _calls_behind(facts, result, scope)]
    names = {facts.names(one.func, where).only for models in made for one, where in models}
    return bool(made) and all(made) and load_values().maps_by_key.issuperset(map(str, names))


def _calls_behind(facts: FileFacts, value: ast.expr, scope: int) -> list[Made]:
    """The calls that a value comes from, moves to a device left out; empty where it may come from elsewhere."""
    ends = definitions_of(facts, value, scope)
    whole = [(one.node, one.scope) for one in ends if isinstance(one, Definition) and not one.parts]
    found = [(moved(node) or node, where) for node, where in whole]
    calls = [(node, where) for node, where in found if isinstance(node, ast.Call)]
    return calls if len(calls) == len(ends) else []


def _gives_tensors(facts: FileFacts, made: ast.Call, scope: int) -> bool:
    """Whether this makes a layer of torch, or a model of a library that gives one tensor."""
    name = facts.names(made.func, scope).only or ""
    is_alone = name in load_values().models and argument_of(made, "aux_params", None) is None
    return is_alone or is_layer(name)


def names_of_layers(facts: FileFacts, function: ast.expr, scope: int) -> list[str]:
    """Their full names: torch's layers mostly return one tensor."""
    return [facts.names(call.func, where).only or "" for call, where in layers_called(facts, function, scope)]


def through_layers(facts: FileFacts, layers: Iterable[Made | None], ranks: Dimensions) -> Dimensions:
    """What a tensor of one of these numbers of dimensions (empty: unknown) has after it went through the layers."""
    for layer in layers:
        full = "" if layer is None else facts.names(layer[0].func, layer[1]).only or ""
        name = full if full in load_values().models else full.rpartition(".")[2]
        if layer is None:
            ranks = _UNKNOWN
        elif name == "Sequential":
            ranks = _through_sequential(facts, *layer, ranks)
        elif name == "Upsample":
            ranks = _narrowed(ranks, in_modes(facts.value(argument_of(layer[0], "mode", 2), layer[1])))
        elif name in load_values().models:
            ranks = load_values().models[name]
        elif name in load_values().layers:
            ranks = _narrowed(ranks, load_values().layers[name])
        elif name not in load_values().keeping_dimensions:
            ranks = _UNKNOWN
    return ranks


@followed(otherwise=_UNKNOWN)
def _through_sequential(facts: FileFacts, sequence: ast.Call, scope: int, ranks: Dimensions) -> Dimensions:
    return through_layers(facts, _in_order(facts, sequence, scope), ranks)


def _narrowed(ranks: Dimensions, taken: Dimensions) -> Dimensions:
    return (ranks & taken) or taken


def _in_order(facts: FileFacts, sequence: ast.Call, scope: int) -> Iterator[Made | None]:
    """The layers of a `Sequential`, None for what is not seen."""
    for argument in sequence.args:
        found = [] if isinstance(argument, ast.Starred) else layers_called(facts, argument, scope)
        yield found[0] if len(found) == 1 else None


def in_modes(modes: Values) -> frozenset[int]:
    """The numbers of dimensions that interpolation takes in any of these modes."""
    taken = (load_values().modes.get(str(mode), _ANY_MODE) for mode in modes.constants)
    return frozenset().union(*taken) if modes.is_known else _ANY_MODE
