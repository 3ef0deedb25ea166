"""Which libraries the code that would run imports, and this environment lacks: known before anything runs."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from torchlint.errors import UnreadableSource
from torchlint.source.syntax import parse_text
from torchlint.source.text import read_source
from torchlint.verify.targets import Plan

_MOST_FILES = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OPTIONAL = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
"""Who catches these does without the library."""


def missing_libraries(plans: Iterable[Plan]) -> tuple[str, ...]:
    """Their names as imports have them, sorted. What is imported under `try` is not needed."""
    walk = _Walk()
    for plan in plans:
        for code in (plan.code, *(holder.code for holder in plan.target.holders)):
            walk.add(code.text, Path(code.path), code.search_paths, functions=True)
    return tuple(sorted(walk.missing, key=str.lower))


class _Walk:
    """From what would be loaded to the files of the project that it imports."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self._seen: set[Path] = set()
        self._known: dict[str, bool] = {}

    def add(self, text: str, path: Path, search_paths: Sequence[str], *, functions: bool = False) -> None:
        try:
            tree = parse_text(text)
        except UnreadableSource:
            return
        for level, name in _imports(tree.body, functions=functions):
            if level:
                folder = path.parents[level - 1] if level <= len(path.parents) else path.parent
                self._follow(name, [str(folder)], search_paths)
            elif not self._follow(name, search_paths, search_paths) and not self._is_installed(name.partition(".")[0]):
                self.missing.add(name.partition(".")[0])

    def _follow(self, name: str, folders: Iterable[str], search_paths: Sequence[str]) -> bool:
        """Go on in the project's module of that name; False where it has none."""
        parts = name.split(".") if name else []
        for folder in folders:
            if parts and not _modules(Path(folder, parts[0])) and not Path(folder, parts[0]).is_dir():
                continue
            for count in range(len(parts) + 1):
                for file in _modules(Path(folder, *parts[:count])):
                    self._read(file, search_paths)
            return True
        return False

    def _read(self, file: Path, search_paths: Sequence[str]) -> None:
        if file not in self._seen and len(self._seen) < _MOST_FILES:
            self._seen.add(file)
            try:
                self.add(read_source(file, str(file)).text, file, search_paths)
            except (OSError, UnreadableSource):
                return

    def _is_installed(self, name: str) -> bool:
        if name not in self._known:
            try:
                self._known[name] = importlib.util.find_spec(name) is not None
            except (ImportError, ValueError, AttributeError):
                self._known[name] = False
        return self._known[name]


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
