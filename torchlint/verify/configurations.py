"""The configurations that a project ships, in YAML and JSON, the one of the smallest model first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from torchlint.recording.messages import Configuration

_MOST_FILES = 4000
_LARGEST_FILE = 200_000
_SMALL = re.compile(r"(^|[-_.])(tiny|small|toy|debug|mini|nano|smoke|test)($|[-_.])", re.IGNORECASE)
_OF_SIZE = re.compile(
    r".*(dim|hidden|width|channel|layer|depth|head|embed|embd|feature|block|unit|filter|model)s?(_size)?", re.IGNORECASE
)
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?e[-+]?\d+", re.IGNORECASE)
"""YAML 1.1 takes `1e-4` for text."""


def configurations(root: Path) -> tuple[Configuration, ...]:
    """Those of all files below a folder."""
    found = sorted(_all(root), key=lambda each: (each[0], each[1].place))
    return tuple(configuration for _, configuration in found)


def _all(root: Path) -> Iterator[tuple[float, Configuration]]:
    """Each with its size."""
    for path in sorted(root.rglob("*"))[:_MOST_FILES]:
        if path.suffix in (".json", ".yaml", ".yml") and path.is_file() and path.stat().st_size < _LARGEST_FILE:
            entries = _read(path)
            if entries:
                place = path.relative_to(root)
                # Groups of options are files in a folder of their name: `configs/model/unet.yaml` is `cfg.model`.
                is_group = len(place.parts) > 2 and place.parts[-2] not in entries
                nested = {place.parts[-2]: entries} if is_group else {}
                configuration = Configuration(place=place.as_posix(), entries={**entries, **nested})
                yield _size(path, entries), configuration


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        table = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=_Plain)  # noqa: S506 - it derives from the safe one
        table = _plain(table)
    except (OSError, ValueError, yaml.YAMLError, OverflowError, RecursionError, TypeError):
        return {}  # what is no table says nothing about options
    return table if isinstance(table, dict) else {}


class _Plain(yaml.SafeLoader):  # type: ignore[misc] # PyYAML has no types
    """Makes nothing of tags that only the program knows."""


_Plain.add_multi_constructor("", lambda _loader, _tag, _node: None)


def _plain(value: Any) -> Any:  # noqa: ANN401 - what a file can hold
    """Tables, lists, numbers and text; without what refers to another option, which only the program resolves."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items() if not _is_reference(each)}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and "${" in value


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
