"""Which classes of a file hold another one as a part, or derive from it.

Run inside them, a module gets the gradients it gets there.
"""

from __future__ import annotations

import ast

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


def _constructed_in(node: ast.ClassDef) -> frozenset[str]:
    """The names that the class calls, or hands on to be called (`blocks = [Block, Head]`), in its methods."""
    return frozenset(
        each.func.id for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    )
