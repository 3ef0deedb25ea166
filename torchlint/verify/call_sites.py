"""Calls in the project whose arguments are literals: the first choice when a class has to be built."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from torchlint.errors import UnreadableSource
from torchlint.recording.messages import CallSite
from torchlint.source.syntax import parse_text
from torchlint.source.text import read_source

_MOST_FILES = 2000
_MOST_CALLS = 6
"""Of one name: the first that work are used."""


def call_sites(names: Sequence[str], files: Iterable[Path]) -> dict[str, tuple[CallSite, ...]]:
    """Calls of the named classes and functions with literal arguments, from the files in their order."""
    found: dict[str, list[CallSite]] = {name: [] for name in names}
    for path in list(dict.fromkeys(files))[:_MOST_FILES] if names else ():
        for name, site in _in_file(path, frozenset(names)):
            if len(found[name]) < _MOST_CALLS and site not in found[name]:
                found[name].append(site)
    return {name: tuple(sites) for name, sites in found.items() if sites}


def _in_file(path: Path, names: frozenset[str]) -> Iterator[tuple[str, CallSite]]:
    try:
        data = path.read_bytes()
        if not any(name.encode() in data for name in names):
            return
        tree = parse_text(read_source(path, str(path)).text)
    except (OSError, UnreadableSource):
        return  # a file that cannot be read calls nothing
    decorators = {id(each) for node in ast.walk(tree) for each in getattr(node, "decorator_list", ())}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in decorators:  # `@hydra.main(...)` does not call `main`
            name = _called_name(node.func)
            site = _site(node, path) if name in names else None
            if name is not None and site is not None:
                yield name, site


def _called_name(function: ast.expr) -> str | None:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else None


def _site(call: ast.Call, path: Path) -> CallSite | None:
    """The call, if every argument is a literal."""
    if not (call.args or call.keywords) or any(keyword.arg is None for keyword in call.keywords):
        return None
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(_is_literal(argument) for argument in arguments):
        return None
    return CallSite(
        args=tuple(ast.unparse(argument) for argument in call.args),
        kwargs={str(keyword.arg): ast.unparse(keyword.value) for keyword in call.keywords},
        place=f"{path.name}:{call.lineno}",
    )


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
