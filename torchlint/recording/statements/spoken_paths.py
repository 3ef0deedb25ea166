"""What a program's text says about the data that it reads: endings of files, places below a folder, columns."""

from __future__ import annotations

import ast
import functools
import glob
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SUFFIX = re.compile(r"(?:[^/]*/)*(?:\*{1,2}|\{\})?(\.[A-Za-z]\w{1,7})")
_NAMED = re.compile(r"[\w.-]+\.[A-Za-z]\w{1,7}")
_PART = re.compile(r"[\w. -]+")
_MOST = 24


@dataclass(frozen=True)
class Spoken:
    suffixes: tuple[str, ...]
    """Of many files alike: `.png` of `"*.png"` and `name.endswith(".png")`."""
    places: tuple[str, ...]
    """Files and folders below another: `images/train`, `labels.csv`."""
    columns: tuple[str, ...]


@functools.cache
def spoken_in(text: str) -> Spoken:
    tree = ast.parse(text)
    constants = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    suffixes = (found[1] for text in constants if (found := _SUFFIX.fullmatch(text)))
    known = _known_texts(tree)
    places = ("/".join(parts) for node in ast.walk(tree) if (parts := _parts(node, known)))
    return Spoken(
        suffixes=tuple(itertools.islice(dict.fromkeys(suffixes), _MOST)),
        places=tuple(itertools.islice(dict.fromkeys(places), _MOST)),
        columns=tuple(itertools.islice(dict.fromkeys(_columns(tree)), _MOST)),
    )


def is_file(name: str) -> bool:
    return bool(_NAMED.fullmatch(name))


def _known_texts(tree: ast.Module) -> dict[str, str]:
    """Parameters with a text for their default, and names that are one."""
    found: dict[str, str | None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            named = [*node.posonlyargs, *node.args]
            found |= {
                name.arg: _constant(default)
                for name, default in [
                    *zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True),
                    *zip(node.kwonlyargs, node.kw_defaults, strict=True),
                ]
            }
        elif isinstance(node, ast.Assign):
            found |= {target.id: _constant(node.value) for target in node.targets if isinstance(target, ast.Name)}
    return {name: text for name, text in found.items() if text}


def _constant(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _parts(node: ast.AST, known: dict[str, str]) -> list[str]:
    """What a path that begins with something unknown goes on with, as far as it is known."""
    pieces = _pieces(node)
    if len(pieces) < 2 or isinstance(pieces[0], ast.Constant):
        return []
    parts: list[str] = []
    for piece in pieces[1:]:
        text = _text(piece, known)
        if text is None or glob.has_magic(text):
            break
        parts += [part for part in text.split("/") if part not in ("", ".")]
    return parts if all(_PART.fullmatch(part) and part != ".." for part in parts) else []


def _pieces(node: ast.AST) -> Sequence[ast.expr]:
    """The components of `os.path.join(a, b)`, `a / b`, `a + "/b"` and `f"{a}/b"`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "joinpath"):
        return [node.func.value, *node.args] if node.func.attr == "joinpath" else node.args
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return [*(_pieces(node.left) or [node.left]), node.right]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [node.left, node.right] if (_constant(node.right) or "").startswith("/") else []
    return node.values if isinstance(node, ast.JoinedStr) and _has_slash(node) else []


def _has_slash(node: ast.JoinedStr) -> bool:
    return any(isinstance(each, ast.Constant) and str(each.value).startswith("/") for each in node.values[1:2])


def _text(node: ast.expr, known: dict[str, str]) -> str | None:
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, known)
    if isinstance(node, ast.Constant):
        return _constant(node)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return known.get(name)


def _columns(tree: ast.Module) -> Iterator[str]:
    """Texts in square brackets, and attributes of rows: `row["label"]`, `table[["x", "y"]]`, `row.label`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, (ast.List, ast.Tuple)) else [node.slice]
            yield from filter(None, map(_constant, parts))
        elif isinstance(node, ast.For) and "itertuples" in ast.dump(node.iter) and isinstance(node.target, ast.Name):
            yield from (
                each.attr
                for each in ast.walk(node)
                if isinstance(each, ast.Attribute)
                and isinstance(each.value, ast.Name)
                and each.value.id == node.target.id
            )
