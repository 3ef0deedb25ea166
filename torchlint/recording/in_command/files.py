"""The files whose code runs, by the names that code carries: which hold a finding, and which belong to torch."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch

from torchlint.recording.messages import ProbedFinding

Line = tuple[str, int]

TORCH = os.path.dirname(torch.__file__) + os.sep  # noqa: PTH120
_RECORDING = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120
_FOREIGN = (TORCH, _RECORDING, "<frozen importlib")


@dataclass(frozen=True)
class File:
    """One file; `by_line` has its findings."""

    path: str
    is_foreign: bool = False
    by_line: Mapping[int, tuple[ProbedFinding, ...]] = field(default_factory=dict)


class Files:
    """Knows files by the names in code objects. `loaded` are those with findings of which something ran."""

    def __init__(self, findings: Mapping[str, tuple[ProbedFinding, ...]]) -> None:
        self._by_line = {path: _by_line(own) for path, own in findings.items()}
        self._base_names = {os.path.basename(path) for path in findings}  # noqa: PTH119
        self._folder = os.getcwd()  # noqa: PTH109 - what is relative is so to where the program started
        self.known: dict[str, File] = {}
        """By name; what is not in it yet, `of` finds out."""
        self.loaded: set[str] = set()

    def of(self, name: str) -> File:
        found = self.known.get(name)
        if found is None:
            found = self.known[name] = self._learn(name)
        return found

    def _learn(self, name: str) -> File:
        if name.startswith(_FOREIGN):
            return File(name, is_foreign=True)
        if os.path.basename(name) not in self._base_names and not os.path.islink(name):  # noqa: PTH114, PTH119
            return File(name)
        path = os.path.realpath(os.path.join(self._folder, name))  # noqa: PTH118
        if path not in self._by_line:
            return File(name)
        self.loaded.add(path)
        return File(path, by_line=self._by_line[path])

    def findings_at(self, lines: Iterable[Line]) -> tuple[ProbedFinding, ...]:
        found = {each.index: each for path, number in lines for each in self._by_line.get(path, {}).get(number, ())}
        return tuple(found.values())


def _by_line(findings: Iterable[ProbedFinding]) -> dict[int, tuple[ProbedFinding, ...]]:
    found = defaultdict(list)
    for finding in findings:
        for line in range(finding.line, finding.end_line + 1):
            found[line].append(finding)
    return {line: tuple(own) for line, own in found.items()}
