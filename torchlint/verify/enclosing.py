"""Which classes of a file hold another one as a part, or derive from it.

Run inside them, a module gets the gradients it gets there.
"""

from __future__ import annotations

import ast
import re

_MOST = 3
"""Beyond a few, building them takes longer than it tells."""


def enclosing_classes(tree: ast.Module, name: str) -> tuple[str, ...]:
    """The classes of the file's top level that construct `name`, or one that does; the outermost first."""
    classes = {each.name: _constructed_in(each) for each in tree.body if isinstance(each, ast.ClassDef)}
    found: list[str] = []
    wanted = [name]
    while wanted:
        inner = wanted.pop(0)
        for outer, parts in classes.items():
            if inner in parts and outer not in (name, *found):
                found.append(outer)
                wanted.append(outer)
    return tuple(reversed(found[:_MOST]))


def derived_classes(tree: ast.Module, name: str) -> tuple[str, ...]:
    """The classes of the file's top level that have `name` among their bases."""
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    return tuple(
        each.name for each in classes if any(isinstance(base, ast.Name) and base.id == name for base in each.bases)
    )[:_MOST]


def applied_by(tree: ast.Module, name: str) -> tuple[str, ...]:
    """The classes and functions of the file's top level that call `name.apply`: classes know best what it is given."""
    definitions = [
        each for each in tree.body if isinstance(each, (ast.ClassDef, ast.FunctionDef)) and each.name != name
    ]
    found = [each for each in definitions if any(_is_applied(node, name) for node in ast.walk(each))]
    return tuple(each.name for each in sorted(found, key=lambda each: isinstance(each, ast.FunctionDef)))[:_MOST]


def _is_applied(node: ast.AST, name: str) -> bool:
    is_apply = isinstance(node, ast.Attribute) and node.attr == "apply"
    return is_apply and isinstance(node.value, ast.Name) and node.value.id == name  # type: ignore[attr-defined]


def classes_for_parameters(tree: ast.Module, name: str) -> frozenset[str]:
    """The classes of the file that a constructor's parameters may ask for, such as `block` and `encoder`."""
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    methods = [each for each in classes[name].body if isinstance(each, ast.FunctionDef)] if name in classes else []
    parameters = [each.arg for method in methods if method.name == "__init__" for each in method.args.args]
    words = {re.sub(r"_|cls$|class$|type$|s$", "", parameter.lower()) for parameter in parameters}
    words |= {"bottleneck"} if "block" in words else set()
    return frozenset(
        other for other in classes if other != name and any(word in other.lower() for word in words if len(word) > 3)
    )


def _constructed_in(node: ast.ClassDef) -> frozenset[str]:
    """The names that the class calls, or hands on to be called (`blocks = [Block, Head]`), in its methods."""
    return frozenset(
        each.func.id for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    )
