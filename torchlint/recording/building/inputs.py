"""First guesses at the inputs of a forward or function: by the layers, the docstrings and the names of parameters."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from torchlint.recording.building.arguments import required, resolved, value_of
from torchlint.recording.building.elements import keys_of_elements, of_an_image
from torchlint.recording.building.layers import SEQUENCE, first_shapes, widths
from torchlint.recording.building.loss_inputs import aligned
from torchlint.recording.building.names import IMAGE, INPUTS, first
from torchlint.recording.building.plans import Bundle, Plan, Tensor
from torchlint.recording.building.scope import CONFIG, InventedConfig, Scope, config_for
from torchlint.recording.building.states import is_half_of_state, state_of
from torchlint.recording.building.type_repairs import as_sequences

NODES, EDGES = 10, 24
_OUTRANKED = frozenset(
    "image video signal positions times number target sequence scalars points 3x3 4x4".split()  # noqa: SIM905
)
"""What a name says of a single input, and the first layer knows better."""
_LETTERS = re.compile(r"[(\[]((?:\s*[A-Za-z*\d_{}\\.|]+\s*,)+\s*[A-Za-z*\d_{}\\.|]*\s*)[)\]]")
_SIZES: Sequence[tuple[str, int]] = (
    (r"\*|b|bs|n|batch.*|\.\.\.", 2),
    (r"h|w|height|width|h_?\w*|w_?\w*", IMAGE),
    (r"d|depth", 16),
)


@dataclass(frozen=True)
class Inputs:
    """What there is to know about a call before it is tried."""

    call: Callable[..., Any]
    signature: inspect.Signature | None
    scope: Scope

    @property
    def module(self) -> nn.Module | None:
        return self.call if isinstance(self.call, nn.Module) else None

    @property
    def width(self) -> int:
        return widths(self.module)[0]

    def plans(self) -> Iterator[dict[str, Any]]:
        """Guesses, the best first."""
        parameters = required(self.signature) or self._first_parameter()
        yield from aligned([parameter.name for parameter in parameters])
        documented = _documented(self.call, [parameter.name for parameter in parameters], self.width)
        if documented:
            yield {**self._plan(parameters, next(iter(documented.values()))), **documented}
        labelled = [each.name for each in parameters if first(INPUTS, each.name) == "target"]
        for main in self._mains(parameters):
            plan = self._plan(parameters, main)
            yield plan
            if labelled and len(parameters) > 1 and main.kind != "whole":
                # One class for each row, or for each pixel of it.
                yield {**plan, **dict.fromkeys(labelled, Tensor((*main.sizes[:1], *main.sizes[2:]), "whole", 2))}

    def _first_parameter(self) -> list[inspect.Parameter]:
        """Where nothing is required the first parameter is given all the same: a call without inputs shows little."""
        parameters = list(self.signature.parameters.values()) if self.signature else []
        variadic = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
        return variadic or [p for p in parameters if p.default is None][:1]

    def _mains(self, parameters: Sequence[inspect.Parameter]) -> list[Tensor]:
        """What the input that matters most may look like."""
        width = self.width
        uses = [self.scope.use(parameter.name) for parameter in parameters]
        members = [member for use in uses for member in (*use.own_attributes, *use.keys)]
        kinds = [first(INPUTS, name) for name in (*(parameter.name for parameter in parameters), *members)]
        shapes = first_shapes(self.module) if self.module is not None else []
        others = [Tensor((2, width, 16, 16)), Tensor((2, SEQUENCE, width)), Tensor((2, width))]
        if "edges" in kinds or "groups" in kinds:
            tables = [shape.resized(NODES) for shape in shapes[:1] if shape.kind == "whole"]
            shapes = [*tables, Tensor((NODES, width)), *shapes]
        elif any(use.index for use in uses) and not shapes:
            shapes = [Tensor((NODES, width))]
        elif {"target", "image"} & set(kinds) and not shapes:
            shapes = [Tensor((2, 3, IMAGE, IMAGE), "unit"), Tensor((2, 5))]
        elif "tokens" not in kinds and not shapes:
            shapes = [Tensor((2, 3, IMAGE, IMAGE), "unit")]
        more = [(2, 1, IMAGE, IMAGE), (2, width, IMAGE), (2, width, 16, 16, 16), (2, 16, 16, width), (NODES, width)]
        last = [Tensor((2, SEQUENCE), "whole", 5), Tensor((2, SEQUENCE, 3)), Tensor((2,)), Tensor((2, 3, 3))]
        return list(dict.fromkeys([*shapes, *others, *map(Tensor, more), *last]))

    def _plan(self, parameters: Sequence[inspect.Parameter], main: Tensor) -> dict[str, Any]:
        kinds = [first(INPUTS, parameter.name) for parameter in parameters]
        if len(parameters) == 1 and kinds[0] in _OUTRANKED and self.module is not None and first_shapes(self.module):
            plain = self.guess(parameters[0].replace(name="x"), main)
            return {parameters[0].name: plain.of("unit") if kinds[0] == "image" and plain == main else plain}
        names = {parameter.name for parameter in parameters}
        of_attention = {"k"} if {"q", "k"} <= names else set()
        plan = {each.name: main if each.name in of_attention else self.guess(each, main) for each in parameters}
        # Beside the groups that nodes belong to, a size is their number, and not that of an image.
        counts = dict.fromkeys((name for name in plan if first(INPUTS, name) == "size"), NODES)
        return {**plan, **counts} if {"groups", "edges"} & set(kinds) else plan

    def guess(self, parameter: inspect.Parameter, main: Tensor) -> Any:  # noqa: ANN401 - any input
        """An input for one parameter, beside a main input of this shape."""
        kind = resolved(parameter.annotation, self.scope)
        if kind is PackedSequence:
            return as_sequences(main, "packed")
        use, is_variadic = self.scope.use(parameter.name), parameter.kind is parameter.VAR_POSITIONAL
        is_read = self.module is None or use.own_attributes or use.keys
        if CONFIG.fullmatch(parameter.name.lower()) and is_read and not is_variadic:
            return config_for(parameter.name, self.scope)
        by_name = self._by_use(parameter.name, main)
        if parameter.kind is parameter.VAR_POSITIONAL or kind in (None, torch.Tensor, Any):
            return by_name
        text = str(kind)
        if kind in (list, tuple, dict):
            return _arranged(kind, by_name, main)
        if "Tensor" not in text and "Adj" not in text and not isinstance(kind, typing.TypeVar):
            plain = value_of(parameter.name, kind, self.scope)
            return by_name if isinstance(plain, InventedConfig) else plain
        return _arranged(kind, by_name, main)

    def _by_use(self, name: str, main: Tensor) -> Any:  # noqa: ANN401 - any input
        """By the attributes and keys that are read of it, else by its name."""
        use = self.scope.use(name)
        texts = [each for each in use.compared if isinstance(each, str)]
        elements = keys_of_elements(self.module.forward if self.module is not None else self.call, name)
        if elements:
            one = {each: of_an_image(each, main) or _by_name(each, main, self.width) for each in elements}
            return [one] * (main.sizes[0] if main.sizes else 2)
        if use.own_attributes:
            return Bundle({each: _by_name(each, main, self.width) for each in use.own_attributes})
        if use.keys:
            return {each: _by_name(each, main, self.width) for each in use.keys}
        if texts:
            return texts[0]
        if use.index:
            return Tensor(main.sizes if use.index == "places" else main.sizes[:1], "whole")
        if self.module is not None:
            state = state_of(self.module, main)
            if isinstance(state, tuple) and is_half_of_state(name, self.signature.parameters if self.signature else ()):
                return state[0]
            if first(INPUTS, name) == "state":
                return state
        return _by_name(name, main, self.width)


def _arranged(kind: Any, by_name: Any, main: Tensor) -> Any:  # noqa: ANN401 - any annotation, any input
    """Tensors in the lists, tuples and dictionaries that the annotation names."""
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    one = main if isinstance(by_name, list) else by_name
    if origin is tuple and inner and Ellipsis not in inner:
        return tuple(one for _ in inner)
    if origin is tuple:
        return (one, one)
    if origin is dict or "dict" in str(origin).lower() or "Mapping" in str(origin):
        return {"0": one, "1": one}
    if origin is list or "Sequence" in str(origin) or "Iterable" in str(origin):
        return by_name if isinstance(by_name, list) else [one, one]
    return by_name


def _by_name(name: str, main: Tensor, width: int) -> Any:  # noqa: ANN401 - any input
    kind = first(INPUTS, name)
    batch = main.sizes[0] if main.sizes else 2
    table: dict[object, Callable[[], Any]] = {
        "tokens": lambda: Tensor((2, SEQUENCE), "whole", main.high if main.kind == "whole" else 5),
        "edges": lambda: Tensor((2, EDGES), "whole", NODES),
        "edge features": lambda: _of_edges(name, main, width),
        "edge types": lambda: Tensor((EDGES,), "whole", 2),
        "groups": lambda: Tensor((NODES,), "groups", 2),
        "number": lambda: 16 if re.fullmatch(r"h|w|height|width", name) else 2,
        "adjacency": lambda: Tensor((batch, main.sizes[-2], main.sizes[-2]) if len(main.sizes) > 1 else (2, 2), "unit"),
        "positions": lambda: Tensor((*main.sizes[:-1], 3)) if len(main.sizes) < 4 else Tensor((2, SEQUENCE, 3)),
        "mask": lambda: Tensor(
            main.sizes[:2] if len(main.sizes) == 3 else (*main.sizes[:1], 1, *main.sizes[2:]), "truth"
        ),
        "times": lambda: Tensor((batch,), "unit"),
        "lengths": lambda: torch.full((batch,), min(main.sizes[1:2] or (2,))),
        "3x3": lambda: Tensor((batch, 3, 3), "identity"),
        "4x4": lambda: Tensor((batch, 4, 4), "identity"),
        "quaternions": lambda: Tensor((batch, 4), "quaternion"),
        "vectors of 3": lambda: Tensor((batch, 3)),
        "frames": lambda: Tensor((batch, SEQUENCE, 2, 3), "unit"),
        "boxes": lambda: Tensor((3, 5), "unit"),
        "points": lambda: Tensor((batch, SEQUENCE, 2), "unit"),
        "scalars": lambda: Tensor((batch,), "unit"),
        "target": lambda: main,
        "sequence": lambda: main if main.kind == "normal" else Tensor((2, SEQUENCE, width)),
        "size": lambda: (16, 16),
        "list": lambda: [main, main],
        "image": lambda: main.of("unit") if len(main.sizes) > 3 else Tensor((2, 3, IMAGE, IMAGE), "unit"),
        "video": lambda: Tensor((2, 3, 4, IMAGE, IMAGE)),
        "signal": lambda: Tensor((2, 1, 1024)) if len(main.sizes) != 2 else Tensor((2, 1024)),
        "state": lambda: main,
        "main": lambda: main,
    }
    return table[kind]()


def _of_edges(name: str, main: Tensor, width: int) -> Tensor:
    """Kinds of edges, beside kinds of nodes; else numbers."""
    if "weight" in name:
        return Tensor((EDGES,))
    return Tensor((EDGES,), "whole", 2) if main.kind == "whole" else Tensor((EDGES, width))


def _documented(call: Callable[..., Any], names: Sequence[str], width: int) -> dict[str, Tensor]:
    """Shapes in the words of a docstring: `(B, C, H, W)` after the name of a parameter."""
    owner = type(call) if isinstance(call, nn.Module) else call
    texts = [inspect.getdoc(getattr(owner, "forward", None)) or "", inspect.getdoc(owner) or ""]
    found = {}
    for name in names:
        for text in texts:
            place = re.search(rf"(?im)^\W*(?:args:\s*)?{re.escape(name)}\b[^\n]*(?:\n(?!\s*\w+:)[^\n]*)?", text)
            sizes = sizes_in(place[0], width) if place else None
            if sizes:
                kind = first(INPUTS, name)
                found[name] = Tensor(sizes, "unit" if kind in {"image", "main"} and len(sizes) == 4 else "normal")
                if sizes[-2:] in {(3, 3), (4, 4)}:
                    found[name] = Tensor(sizes, "identity")
                break
    return found


def sizes_in(text: str, width: int) -> tuple[int, ...] | None:
    """Sizes for the letters of a shape in words, such as `(B, C, H, W)`."""
    for found in _LETTERS.finditer(text):
        words = [word.strip(" '\"{}\\|").lower() for word in found[1].split(",") if word.strip()]
        if len(words) < 2 or any(len(word) > 12 for word in words):
            continue
        return tuple(_size(word, place, width) for place, word in enumerate(words))
    return None


def _size(word: str, place: int, width: int) -> int:
    if word.isdigit():
        return int(word)
    if re.fullmatch(r"c|c_?in|in_?c\w*|ch\w*|dim\w*|feat\w*|emb\w*|hidden\w*|f|f_?in|d_model|\w*dim", word):
        return width
    size = next((size for pattern, size in _SIZES if re.fullmatch(pattern, word)), SEQUENCE)
    return SEQUENCE if place and word in {"n", "b"} else size


def call_with(plan: Plan, signature: inspect.Signature | None) -> tuple[list[str], list[str]]:
    """Which of the plan's names are given by position, and which by keyword."""
    parameters = signature.parameters if signature else {}
    by_keyword = [n for n in plan if n in parameters and parameters[n].kind is inspect.Parameter.KEYWORD_ONLY]
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        by_keyword += [n for n in plan if n not in parameters]
    positional = [n for n in plan if n not in by_keyword]
    order = [n for n in parameters if n in positional]
    skipped = any(n not in plan for n in list(parameters)[: list(parameters).index(order[-1])]) if order else False
    if skipped:
        by_keyword = [
            *by_keyword,
            *(n for n in positional if parameters[n].kind is not inspect.Parameter.POSITIONAL_ONLY),
        ]
        return [n for n in positional if n not in by_keyword], by_keyword
    return order, by_keyword
