"""What is read of the elements of a parameter: `for target in targets: target["boxes"]`."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torchlint.recording.building.plans import Tensor

_OBJECTS = 3
"""In one image."""
_PASSED_ON = ("zip", "enumerate")


def keys_of_elements(called: Callable[..., Any], parameter: str) -> list[str]:
    """The texts by which each element is indexed, in the order in which they are written."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(called)))
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return []
    names = {name for node in ast.walk(tree) for name in _element_names(node, parameter)}
    found = [key for node in ast.walk(tree) for key in _key_of(node, parameter, names)]
    return list(dict.fromkeys(found))


def _element_names(node: ast.AST, parameter: str) -> Iterator[str]:
    """What a loop over the parameter calls its element, alone, counted or beside others."""
    if not isinstance(node, (ast.For, ast.comprehension)):
        return
    if isinstance(node.iter, ast.Name) and node.iter.id == parameter and isinstance(node.target, ast.Name):
        yield node.target.id
    if not isinstance(node.iter, ast.Call) or not isinstance(node.iter.func, ast.Name):
        return
    if node.iter.func.id in _PASSED_ON and isinstance(node.target, ast.Tuple):
        targets: Sequence[ast.expr] = node.target.elts[1:] if node.iter.func.id == "enumerate" else node.target.elts
        for one, target in zip(node.iter.args, targets, strict=False):
            if isinstance(one, ast.Name) and one.id == parameter and isinstance(target, ast.Name):
                yield target.id


def _key_of(node: ast.AST, parameter: str, names: set[str]) -> Iterator[str]:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return
    owner, key = node.value, node.slice.value
    is_element = isinstance(owner, ast.Name) and owner.id in names
    is_indexed = isinstance(owner, ast.Subscript) and isinstance(owner.value, ast.Name) and owner.value.id == parameter
    if isinstance(key, str) and (is_element or is_indexed):
        yield key


def of_an_image(key: str, image: Tensor) -> Tensor | None:
    """What data sets of objects in images hold under a key; None for other keys."""
    height, width = image.sizes[-2:] if len(image.sizes) > 2 else (32, 32)
    known = {
        "boxes": Tensor((_OBJECTS, 4), "boxes"),
        "bboxes": Tensor((_OBJECTS, 4), "boxes"),
        "labels": Tensor((_OBJECTS,), "whole", 2),
        "class_labels": Tensor((_OBJECTS,), "whole", 2),
        "masks": Tensor((_OBJECTS, height, width), "truth"),
        "area": Tensor((_OBJECTS,), "unit"),
        "iscrowd": Tensor((_OBJECTS,), "whole", 1),
        "image_id": Tensor((1,), "whole", 9),
        "keypoints": Tensor((_OBJECTS, 17, 3), "unit"),
    }
    return known.get(key)
