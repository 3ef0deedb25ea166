"""What a class or function does with its parameters: what it reads of them, and what it compares them to."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

TENSOR = frozenset(dir(torch.Tensor))
_TEXT = frozenset(dir(str)) - frozenset(dir(tuple))
_INDEXING = re.compile(r"(index_(add|copy|fill|put|reduce|select)|scatter\w*?|gather|take|\w*segment_\w+?|bincount)_?")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Use:
    """What is done with one parameter, also as the attribute that it is kept in."""

    attributes: dict[str, None] = field(default_factory=dict)
    """In the order in which they are read."""
    keys: dict[str, None] = field(default_factory=dict)
    """Texts by which it is indexed."""
    compared: list[Any] = field(default_factory=list)
    """Constants that it is compared to, or looked for in."""
    is_called: bool = False
    is_run: bool = False
    """Called as the module that a constructor keeps: `self.body(x)`."""
    wraps: bool = False
    """Called with a layer that is made there: `norm(nn.Conv2d(3, 8, 1))`."""
    takes: int = 0
    """The most arguments that it is run with."""
    is_iterated: bool = False
    is_indexed: bool = False
    index: str = ""
    """Of what it is the index, where a method of tensors takes it for one: `rows`, or `places` as a tensor has."""
    kept: dict[str, None] = field(default_factory=dict)
    """The attributes that hold it as it is."""
    length: int = 2
    """Of a sequence: the largest index that is written down lies within."""

    @property
    def is_text(self) -> bool:
        is_method = bool(self.attributes) and self.attributes.keys() <= _TEXT
        return is_method or (bool(self.compared) and all(isinstance(each, str) for each in self.compared))

    @property
    def own_attributes(self) -> list[str]:
        """Those that neither text nor a tensor has."""
        return [name for name in self.attributes if name not in TENSOR and name not in _TEXT]


def uses_of(called: Callable[..., Any]) -> Mapping[str, Use]:
    """By parameter: of a class those of its constructor, in all of its methods."""
    if isinstance(called, type):
        own = [base for base in called.__mro__ if not base.__module__.startswith("torch.")]
        read = [_read(base, "__init__") for base in own if "__init__" in vars(base)]
        # A parameter of a base that is called alike is mostly handed on to it.
        return {name: _together([each[name] for each in read if name in each]) for name in read[0]} if read else {}
    owner = getattr(called, "__self__", None)
    return _read(called if owner is None else getattr(called, "__func__", called), None)


def _together(uses: Sequence[Use]) -> Use:
    """What is done with a parameter here, and where it is handed on."""
    joined = Use()
    for name, own in ((name, own) for each in uses for name, own in vars(each).items()):
        known = vars(joined)[name]
        if isinstance(own, list):
            known += [each for each in own if each not in known]
        else:
            setattr(joined, name, known | own if isinstance(own, dict) else max(known, own))
    return joined


@functools.lru_cache(maxsize=64)
def _read(source_of: Any, method: str | None) -> Mapping[str, Use]:  # noqa: ANN401 - a class or function
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(source_of)))
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return {}
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and method in (None, node.name)]
    if not functions:
        return {}
    names = [each.arg for each in ast.walk(functions[0].args) if isinstance(each, ast.arg) and each.arg != "self"]
    found = {name: Use() for name in names}
    own = {id(node) for node in ast.walk(functions[0])}
    reader = _Reader(found, dict(_kept_in(functions[0], found)))
    for node in ast.walk(tree if method else functions[0]):
        reader.note(node, is_own=id(node) in own)
    return found


def use_in(text: str, name: str) -> Use:
    """What a file does with a name of its top level."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Use()
    reader = _Reader({name: Use()}, {})
    for node in ast.walk(tree):
        reader.note(node, is_own=True)
    return reader.found[name]


def _kept_in(function: ast.FunctionDef | ast.AsyncFunctionDef, names: Mapping[str, Use]) -> Iterator[tuple[str, str]]:
    """`self.width = width`: the attribute, and the parameter."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in names:
            for target in node.targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    names[node.value.id].kept[target.attr] = None
                    yield target.attr, node.value.id


@dataclass(frozen=True)
class _Reader:
    """Reads nodes for what they do with the parameters; other methods know them as attributes alone."""

    found: Mapping[str, Use]
    kept: Mapping[str, str]

    def note(self, node: ast.AST, *, is_own: bool) -> None:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            for one in self._use(node.value, is_own=is_own):
                one.attributes[node.attr] = None
        elif isinstance(node, ast.Subscript):
            for one in self._use(node.value, is_own=is_own):
                _note_index(node, one)
        elif isinstance(node, ast.Call):
            self._note_call(node, is_own=is_own)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for one in self._use(node.iter, is_own=is_own):
                one.is_iterated = True
        elif isinstance(node, ast.Compare):
            for one in self._use(node.left, is_own=is_own):
                one.compared += [
                    each for each in _constants(node.comparators[0], node.ops[0]) if each not in one.compared
                ]

    def _note_call(self, node: ast.Call, *, is_own: bool) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("startswith", "endswith", "find"):
            for one in self._use(node.func.value, is_own=is_own):
                one.compared += [each.value for each in node.args if isinstance(each, ast.Constant)]
        for one in self._use(node.func, is_own=is_own):
            one.is_called = True
            one.is_run = one.is_run or not is_own
            one.wraps = one.wraps or any(map(_makes_a_layer, node.args[:1]))
            one.takes = max(one.takes, len(node.args) + len(node.keywords))
        for index, of in _indices_in(node):
            for one in self._use(index, is_own=is_own):
                one.index = of
        if isinstance(node.func, ast.Name) and node.func.id in ("len", "enumerate", "zip"):
            for one in (use for argument in node.args for use in self._use(argument, is_own=is_own)):
                one.is_iterated = True

    def _use(self, node: ast.expr, *, is_own: bool) -> list[Use]:
        """The parameter that an expression is: by its name in its own function, as an attribute anywhere."""
        name = node.id if isinstance(node, ast.Name) and is_own else ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            name = self.kept.get(node.attr, "")
        return [self.found[name]] if name in self.found else []


def _makes_a_layer(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in vars(nn)


def _indices_in(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """What a call takes for an index, as `index_add(0, index.long(), values)` does, and of what."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if not _INDEXING.fullmatch(name):
        return
    is_of_torch = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "torch"
    place = 0 if "count" in name else is_of_torch + ("put" not in name and "take" not in name)
    named = [each.value for each in call.keywords if each.arg in ("index", "indices")]
    for given in (*call.args[place : place + 1], *named):
        for index in given.elts if isinstance(given, ast.Tuple) else [given]:
            bare = index
            while isinstance(bare, ast.Call) and isinstance(bare.func, ast.Attribute):
                bare = bare.func.value
            yield bare, "places" if bare is index and name.startswith(("scatter", "gather")) else "rows"


def _note_index(node: ast.Subscript, use: Use) -> None:
    index = node.slice
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        use.keys[index.value] = None
    elif isinstance(index, (ast.Constant, ast.UnaryOp, ast.Name)):
        use.is_indexed = True
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            use.length = max(use.length, index.value + 1)


def _constants(node: ast.expr, operator: ast.cmpop) -> list[Any]:
    """`x == "a"` and `x in ("a", "b")`; not `x > 1`, and not `x is None`."""
    if isinstance(operator, (ast.Eq, ast.NotEq)) and isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [each.value for each in node.elts if isinstance(each, ast.Constant)]
    return []
