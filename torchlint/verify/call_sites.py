"""Calls in the project, with their arguments as far as they can be read: the first choice when a class is built."""

from __future__ import annotations

import ast
import contextlib
import doctest
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.recording.messages import CallSite
from torchlint.verify.loading import TreeOf

_MOST_FILES = 2000
_MOST_CALLS = 6
"""Of one name: the first that work are used."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp),
    *(ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Load),
)
"""What can be evaluated beside a class without running more of the program than its file."""


Known = Mapping[str, ast.expr]
"""The literals that names stand for at one place."""


@dataclass(frozen=True)
class CallingFile:
    """A file of the project, with the examples of its docstrings and its calls by the name of what is called."""

    path: Path
    tree: ast.Module
    calls: Mapping[str, Sequence[tuple[ast.Call, Known]]]


class ProjectFiles:
    """The files of one run, each read once however many targets ask for it."""

    def __init__(self, tree_of: TreeOf) -> None:
        self._content = functools.cache(_content)
        self._read = functools.cache(lambda path: _calling_file(path, tree_of(path)))

    def calling(self, names: Iterable[str], files: Iterable[Path]) -> Iterator[CallingFile]:
        """The first, and those that call one of the names, in their order; without those that cannot be read."""
        words = [name.encode() for name in names]
        called = re.compile(rb"(?<!class )(?<!def )\b(?:" + b"|".join(map(re.escape, words)) + rb")\s*\(")
        for place, path in enumerate(list(dict.fromkeys(files))[:_MOST_FILES] if words else ()):
            content = self._content(path)
            if not place or (any(word in content for word in words) and called.search(content)):
                read = self._read(path)
                if read is not None:
                    yield read


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _calling_file(path: Path, tree: ast.Module | None) -> CallingFile | None:
    if tree is None:
        return None
    tree = ast.Module([*tree.body, *_examples(tree)], [])
    calls: dict[str, list[tuple[ast.Call, Known]]] = defaultdict(list)
    for node, known in _calls(tree):
        name = called_name(node.func)
        if name is not None:
            calls[name].append((node, known))
    return CallingFile(path, tree, calls)


def _examples(tree: ast.Module) -> Iterator[ast.stmt]:
    """The examples of each docstring (`>>> net = Net(3)`), as a function of the file."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) or ">>>" not in (ast.get_docstring(node) or ""):
            continue
        with contextlib.suppress(ValueError, SyntaxError):  # not meant to be run
            text = node.body[0]
            examples = doctest.DocTestParser().get_examples(text.value.value)  # type: ignore[attr-defined]
            function = ast.parse("def examples():\n import torch\n from torch import nn").body[0]
            function.lineno, function.end_lineno = text.lineno, text.end_lineno
            for each in examples:
                parsed = ast.increment_lineno(ast.parse(each.source), text.lineno + each.lineno - 1)
                function.body += parsed.body  # type: ignore[attr-defined]
            yield function


def call_sites(names: Sequence[str], files: Iterable[CallingFile]) -> dict[str, tuple[CallSite, ...]]:
    """Calls of the named classes and functions, from the files in their order; those of literals alone come first."""
    found: dict[str, list[CallSite]] = {name: [] for name in names}
    for file in files:
        for name, sites in found.items():
            for call, known in file.calls.get(name, ()):
                site = _site(call, known, file.path)
                if site is not None and site not in sites:
                    sites.append(site)
    return {
        name: tuple(sorted(sites, key=lambda site: not site.is_literal)[:_MOST_CALLS])
        for name, sites in found.items()
        if sites
    }


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, Known]]:
    """Every call, with the literals that names stand for where it is: each bound once, or by a default."""
    waiting: list[tuple[ast.AST, Known]] = [(tree, _constants(tree.body))]
    decorators: set[int] = set()  # `@hydra.main(...)` does not call `main`
    while waiting:
        node, known = waiting.pop()
        decorators.update(map(id, getattr(node, "decorator_list", ())))
        if isinstance(node, ast.Call) and id(node) not in decorators:
            yield node, known
        if isinstance(node, FUNCTIONS):
            known = {**_outer(known, node), **defaults(node.args), **_constants(node.body)}
        waiting += ((each, known) for each in reversed(list(ast.iter_child_nodes(node))))


def _outer(known: Mapping[str, ast.expr], function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """What a function sees of the names around it: its parameters and its own variables hide some."""
    own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    own |= {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return {name: value for name, value in known.items() if name not in own}


def defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [(each, value) for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {each.arg: value for each, value in pairs if is_literal(value) and ast.unparse(value) != "None"}


def _constants(body: Sequence[ast.stmt]) -> dict[str, ast.expr]:
    """The names that are bound once in a body, and to a literal."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in (each for statement in body if not isinstance(statement, ast.ClassDef) for each in ast.walk(statement)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, []).append(None)
    # Each assignment is met as a statement, and its target as a name.
    return {
        name: values[0]
        for name, values in bound.items()
        if len(values) <= 2 and values[0] is not None and is_literal(values[0])
    }


def called_name(function: ast.expr) -> str | None:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else None


def _site(call: ast.Call, known: Known, path: Path) -> CallSite | None:
    """The call, unless it hands on what nobody can count."""
    starred = any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords)
    if starred or not (call.args or call.keywords):
        return None
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return CallSite(
        args=tuple(_source(argument, known) for argument in call.args),
        kwargs={str(keyword.arg): _source(keyword.value, known) for keyword in call.keywords},
        place=f"{path.name}:{call.lineno}",
        is_literal=all(is_literal(argument) for argument in arguments),
    )


def _source(node: ast.expr, known: Mapping[str, ast.expr]) -> str:
    """The argument as source, with literals for the names that stand for them; nothing where it would run more."""
    if isinstance(node, ast.Name) and node.id in known:
        return ast.unparse(known[node.id])
    if is_literal(node) or isinstance(node, ast.Name):
        return ast.unparse(node)
    if not all(isinstance(each, _SIMPLE) for each in ast.walk(node)):
        return ""
    return ast.unparse(Filled(known).visit(ast.parse(ast.unparse(node), mode="eval")))


class Filled(ast.NodeTransformer):
    """Puts literals in place of names."""

    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._known.get(node.id, node)


def is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
