"""Which libraries the code that would run imports and this environment lacks, and how many targets need each."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.errors import UnreadableSource
from torchlint.recording.messages import Code
from torchlint.source.syntax import parse_text
from torchlint.source.text import read_source
from torchlint.verify.plan import Plan

_MOST_FILES = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OPTIONAL = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
"""Who catches these does without the library."""


Missing = Mapping[str, int]
"""By the name of a library, as imports have it, the number of targets whose code imports it; sorted by name."""


def missing_libraries(plans: Iterable[Plan]) -> Missing:
    """What the code of the plans needs. What is imported under `try` is not needed."""
    imports = _Imports()
    counts = Counter(name for plan in plans for name in imports.missing(plan.code))
    return dict(sorted(counts.items(), key=lambda each: each[0].lower()))


@dataclass(frozen=True)
class _Imported:
    """What one text imports: libraries that are not there, and files of the project."""

    missing: set[str] = field(default_factory=set)
    files: dict[Path, None] = field(default_factory=dict)


class _Imports:
    """What is missing from here on, for what would be loaded and each file of the project that it imports."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._read: dict[tuple[Path, tuple[str, ...]], _Imported] = {}

    def missing(self, code: Code) -> set[str]:
        """The libraries that a target needs and the environment lacks, through all modules of its project."""
        first = self._of(code.text, Path(code.path), code.search_paths, functions=True)
        waiting, seen, found = [first], set[Path](), set(first.missing)
        while waiting:
            for path in waiting.pop().files:
                if path not in seen and len(seen) < _MOST_FILES:
                    seen.add(path)
                    inner = self._of_file(path, code.search_paths)
                    found |= inner.missing
                    waiting.append(inner)
        return found

    def _of_file(self, path: Path, search_paths: tuple[str, ...]) -> _Imported:
        key = path, search_paths
        if key not in self._read:
            try:
                self._read[key] = self._of(read_source(path, str(path)).text, path, search_paths)
            except UnreadableSource:
                self._read[key] = _Imported()
        return self._read[key]

    def _of(self, text: str, path: Path, search_paths: Sequence[str], *, functions: bool = False) -> _Imported:
        found = _Imported()
        try:
            tree = parse_text(text)
        except UnreadableSource:
            return found
        for level, name in _imports(tree.body, functions=functions):
            if level:
                folder = path.parents[level - 1] if level <= len(path.parents) else path.parent
                found.files.update(dict.fromkeys(_files_of(name, [str(folder)]) or ()))
                continue
            files = _files_of(name, search_paths)
            if files is not None:
                found.files.update(dict.fromkeys(files))
            elif not self._is_installed(name.partition(".")[0]):
                found.missing.add(name.partition(".")[0])
        return found

    def _is_installed(self, name: str) -> bool:
        if name not in self._known:
            try:
                self._known[name] = importlib.util.find_spec(name) is not None
            except (ImportError, ValueError, AttributeError):
                self._known[name] = False
        return self._known[name]


def _files_of(name: str, folders: Iterable[str]) -> list[Path] | None:
    """The project's modules that an import of that name runs; None where the folders have none of that name."""
    parts = name.split(".") if name else []
    for folder in folders:
        if parts and not _modules(Path(folder, parts[0])) and not Path(folder, parts[0]).is_dir():
            continue
        return [file for count in range(len(parts) + 1) for file in _modules(Path(folder, *parts[:count]))]
    return None


def _modules(place: Path) -> list[Path]:
    """The file that is imported under that path, if there is one."""
    return [file for file in (place.with_suffix(".py"), place / "__init__.py") if place.name and file.is_file()][:1]


def _imports(body: Sequence[ast.stmt], *, functions: bool) -> Iterator[tuple[int, str]]:
    """The level of each import that is carried out, and the module; of `from a import b` also `a.b`."""
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from ((0, alias.name) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (
                (statement.level, ".".join(filter(None, [statement.module, alias.name]))) for alias in statement.names
            )
        elif (functions or not isinstance(statement, _FUNCTIONS)) and not _is_optional(statement):
            for block in _blocks(statement):
                yield from _imports(block, functions=functions)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """What stands in a definition, a branch, a loop."""
    for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from (getattr(part, name, []) for name in ("body", "orelse", "finalbody"))


def _is_optional(statement: ast.stmt) -> bool:
    """A block in which an import may fail, or that no run enters."""
    if isinstance(statement, ast.Try):
        caught = [node for handler in statement.handlers if handler.type for node in ast.walk(handler.type)]
        is_bare = any(handler.type is None for handler in statement.handlers)
        return is_bare or any(isinstance(node, ast.Name) and node.id in _OPTIONAL for node in caught)
    return isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)
