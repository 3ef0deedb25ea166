"""The configurations that a project ships, in YAML and JSON, the one of the smallest model first."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlint.project.configurations import SUFFIXES, document_of, text_in
from torchlint.recording.messages import Configuration
from torchlint.source.discovery import files_with

if TYPE_CHECKING:
    import yaml

_MOST_CHARACTERS = 1_000_000
"""Of all files together: PyYAML takes two seconds for them."""
_MOST_NODES = 20_000
"""Of one file, what its aliases stand for counted each time: a few lines can stand for billions."""
_DEEPEST = 30
_LARGEST_INTEGER = 2**63
_SMALL = re.compile(r"(^|[-_.])(tiny|small|toy|debug|mini|nano|smoke|test)($|[-_.])", re.IGNORECASE)
_OF_SIZE = re.compile(
    r".*(dim|hidden|width|channel|layer|depth|head|embed|embd|feature|block|unit|filter|model)s?(_size)?", re.IGNORECASE
)
_NUMBER = re.compile(r"[-+]?\d{1,20}(\.\d*)?e[-+]?\d{1,2}", re.IGNORECASE)
"""YAML 1.1 takes `1e-4` for text."""


def configurations(root: Path) -> tuple[Configuration, ...]:
    """Those of all files below a folder."""
    found = sorted(_all(root), key=lambda each: (each[0], each[1].place))
    return tuple(configuration for _, configuration in found)


def _all(root: Path) -> Iterator[tuple[float, Configuration]]:
    """Each with its size."""
    read = 0
    for path in files_with((".json", *SUFFIXES), root):
        text = text_in(path)
        read += len(text)
        if read > _MOST_CHARACTERS:
            return
        entries = _entries(text, is_json=path.suffix == ".json")
        place = path.relative_to(root)
        if entries and _is_text(str(place)):
            # Groups of options are files in a folder of their name: `configs/model/unet.yaml` is `cfg.model`.
            is_group = len(place.parts) > 2 and place.parts[-2] not in entries
            nested = {place.parts[-2]: entries} if is_group else {}
            configuration = Configuration(place=place.as_posix(), entries={**entries, **nested})
            yield _size(path, entries), configuration


def _entries(text: str, *, is_json: bool) -> dict[str, Any]:
    """What a file says; nothing where that is no table."""
    try:
        table = _plain(json.loads(text) if is_json else _constructed(document_of(text)))
    except (ValueError, OverflowError, RecursionError, TypeError):
        return {}
    return table if isinstance(table, dict) else {}


def _constructed(document: yaml.Node | None) -> Any:  # noqa: ANN401 - what a file can hold
    """The values of a YAML document. Raises ValueError where it has none, or stands for too many."""
    import yaml  # noqa: PLC0415 - what is kept of earlier runs is read without it

    if document is None or _nodes(document, {}) > _MOST_NODES:
        raise ValueError
    try:
        return _loader()("").construct_document(document)
    except yaml.YAMLError as error:
        raise ValueError from error


def _nodes(node: yaml.Node, known: dict[int, float]) -> float:
    """How many it stands for with its aliases; infinitely many where it holds itself."""
    if id(node) not in known:
        known[id(node)] = math.inf
        inner = node.value if isinstance(node.value, list) else []
        flat = [each for entry in inner for each in (entry if isinstance(entry, tuple) else (entry,))]
        known[id(node)] = 1 + sum(_nodes(each, known) for each in flat)
    return known[id(node)]


@functools.cache
def _loader() -> Any:  # noqa: ANN401 - PyYAML has no types
    import yaml  # noqa: PLC0415 - as above

    class Plain(yaml.SafeLoader):  # type: ignore[misc] # PyYAML has no types
        """Makes nothing of tags that only the program knows."""

    Plain.add_multi_constructor("", lambda _loader, _tag, _node: None)
    return Plain


def _plain(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - what a file can hold
    """Tables, lists, numbers and text, without what cannot be told to another process.

    What refers to another option is left out too: only the program resolves it.
    """
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items() if _is_told(key, each, depth)}
    if isinstance(value, (list, tuple)):
        return [_plain(each, depth + 1) for each in value if _is_told("", each, depth)]
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def _is_told(key: object, value: object, depth: int) -> bool:
    if isinstance(value, int):
        is_in_range = abs(value) < _LARGEST_INTEGER
    elif isinstance(value, float):
        is_in_range = math.isfinite(value)
    else:
        is_in_range = depth < _DEEPEST
    is_reference = isinstance(value, str) and "${" in value
    return is_in_range and not is_reference and _is_text(f"{key}{value}" if isinstance(value, str) else str(key))


def _is_text(text: str) -> bool:
    """Whether it is written in characters alone: JSON has halves of some."""
    return re.search("[\ud800-\udfff]", text) is None


def _size(path: Path, entries: dict[str, Any]) -> float:
    """How large the model is, by the sum of its widths and depths; what says nothing of a model comes last."""
    if _SMALL.search(path.stem):
        return 0.0
    return float(sum(_sizes(entries))) or float("inf")


def _sizes(value: Any, name: str = "") -> Iterator[int]:  # noqa: ANN401 - what a file can hold
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _sizes(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _sizes(each, name)
    elif type(value) is int and value > 0 and _OF_SIZE.fullmatch(name):
        yield value
