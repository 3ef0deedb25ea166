"""Plans that run from a copy of their project, where the system cannot keep the code from writing beside itself."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import msgspec

from torchlint.project.roots import Roots
from torchlint.recording.messages import Code
from torchlint.verify.plan import Plan
from torchlint.verify.sandbox import copy_of


class Copies:
    """One copy of each project that is met, below a folder of the run's own."""

    def __init__(self, folder: Path, roots: Roots) -> None:
        self._folder = folder
        self._roots = roots
        self._copies: dict[Path, Path] = {}

    def of(self, plan: Plan) -> Plan:
        """The plan with its paths in the copy. Raises TorchlintError for a project too large to copy."""
        root = self._roots.of(Path(plan.code.path))
        if root not in self._copies:
            self._copies[root] = copy_of(root, self._folder / str(len(self._copies)))
        copy = self._copies[root]
        held_by = tuple(msgspec.structs.replace(each, code=_in(each.code, root, copy)) for each in plan.target.holders)
        target = msgspec.structs.replace(plan.target, holders=held_by)
        code = _in(plan.code, root, copy)
        return dataclasses.replace(plan, code=code, target=target, moved=(str(copy), str(root)))


def _in(code: Code, root: Path, copy: Path) -> Code:
    return msgspec.structs.replace(
        code,
        path=_moved(code.path, root, copy),
        search_paths=tuple(_moved(path, root, copy) for path in code.search_paths),
    )


def _moved(path: str, root: Path, copy: Path) -> str:
    """A path inside the project as it is in the copy; others stay, for they are not the project's."""
    inside = os.path.relpath(path, root)
    return path if inside.startswith("..") else str(copy / inside)
