"""The classes that configurations name (`_target_: package.Net`), for code that makes objects of their sections."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.facts.graphs import reached
from torchlint.project.configurations import document_of, section_entries, text_in

_KEYS = frozenset({"_target_", "target", "class", "cls"})
"""What names the class: in Hydra since 1.0, and before; `target` in projects that make objects themselves."""
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_REFERENCE = re.compile(r"\$\{(?:\w+\.)*(\w+)\}")


@dataclass
class _Section:
    """The sections of one name: the classes that they name, and the sections inside."""

    names: dict[str, None] = field(default_factory=dict)
    inner: dict[str, None] = field(default_factory=dict)


class ConfiguredClasses:
    """What the YAML files of a project name, by the section that it stands in."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files

    def of(self, section: str) -> tuple[str, ...]:
        """The full names in sections of this name; a file in a folder of that name is one (a group of Hydra)."""
        return tuple(self._sections[section].names) if section in self._sections else ()

    def within(self, section: str) -> tuple[str, ...]:
        """The full names in the sections inside of those, and in sections that they refer to."""
        known = self._sections
        starts = [section] if section in known else []
        inside = reached(starts, lambda one: sorted(known[one].inner.keys() & known.keys()))[1:]
        return tuple(dict.fromkeys(name for one in inside for name in known[one].names))

    @functools.cached_property
    def _sections(self) -> dict[str, _Section]:
        found: dict[str, _Section] = defaultdict(_Section)
        for file in self._files:
            text = text_in(file)
            document = document_of(text) if any(f"{key}:" in text for key in _KEYS) else None
            for section, key, value in section_entries(document, file.parent.name):
                referred = _REFERENCE.fullmatch(value.value) if value.id == "scalar" else None
                if key in _KEYS and value.id == "scalar" and _NAME.fullmatch(value.value):
                    found[section].names[str(value.value)] = None
                elif referred or value.id == "mapping":
                    found[section].inner[referred[1] if referred else key] = None
        return dict(found)
