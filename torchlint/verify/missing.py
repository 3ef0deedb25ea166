"""Which libraries the code that would run imports and this environment lacks, and how many targets need each."""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from torchlint.engine.workers import work_through
from torchlint.errors import UnreadableSource
from torchlint.recording.messages import Code
from torchlint.source.syntax import parse_text
from torchlint.verify.loading import TreeOf
from torchlint.verify.plan import Plan

_MOST_FILES = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OPTIONAL = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
"""Who catches these does without the library."""


Missing = Mapping[str, int]
"""By the name of a library, as imports have it, the number of targets whose code imports it; sorted by name."""


def missing_libraries(plans: Iterable[Plan], tree_of: TreeOf) -> Missing:
    """What the code of the plans needs. What is imported under `try` is not needed."""
    imports = _Imports(tree_of)
    of_plans = work_through(lambda plan: imports.missing(plan.code), list(plans))
    counts = Counter(name for names in of_plans for name in names)
    return dict(sorted(counts.items(), key=lambda each: each[0].lower()))


class _Imports:
    """The imports of one run's files: each file is read once, and each name looked up once in a folder."""

    def __init__(self, tree_of: TreeOf) -> None:
        self._known: dict[str, bool] = {}
        self._imports_of = functools.cache(lambda path: _imports_in(tree_of(path)))
        self._found_in = functools.cache(_found_in)

    def missing(self, code: Code) -> set[str]:
        """The libraries that a target needs and the environment lacks, through all modules of its project."""
        found: set[str] = set()
        first = Path(code.path)
        waiting = [(first, _imports_in(_parsed(code.text), functions=True))]
        seen = {first}
        while waiting:
            path, imports = waiting.pop()
            for level, name in imports:
                files = self._files(path, level, name, code.search_paths)
                if files is None and not self._is_installed(name.partition(".")[0]):
                    found.add(name.partition(".")[0])
                for each in files or ():
                    if each not in seen and len(seen) < _MOST_FILES:
                        seen.add(each)
                        waiting.append((each, self._imports_of(each)))
        return found

    def _files(self, path: Path, level: int, name: str, folders: Sequence[str]) -> tuple[Path, ...] | None:
        """The project's modules that an import runs; None where it is of a library."""
        if level:
            folder = path.parents[level - 1] if level <= len(path.parents) else path.parent
            return self._found_in(str(folder), name) or ()
        return next((files for each in folders if (files := self._found_in(each, name)) is not None), None)

    def _is_installed(self, name: str) -> bool:
        if name not in self._known:
            try:
                self._known[name] = importlib.util.find_spec(name) is not None
            except (ImportError, ValueError, AttributeError):
                self._known[name] = False
        return self._known[name]


def _parsed(text: str) -> ast.Module | None:
    try:
        return parse_text(text)
    except UnreadableSource:
        return None


def _imports_in(tree: ast.Module | None, *, functions: bool = False) -> tuple[tuple[int, str], ...]:
    return () if tree is None else tuple(dict.fromkeys(_imports(tree.body, functions=functions)))


def _found_in(folder: str, name: str) -> tuple[Path, ...] | None:
    """The modules below a folder that an import of that name runs; None where it holds none of that name."""
    parts = name.split(".") if name else []
    if parts and not _modules(Path(folder, parts[0])) and not Path(folder, parts[0]).is_dir():
        return None
    return tuple(file for count in range(len(parts) + 1) for file in _modules(Path(folder, *parts[:count])))


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
