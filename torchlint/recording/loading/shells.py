"""Packages without their `__init__`: relative imports work, and the rest of the package runs when it is asked for."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from torchlint.recording.errors import CannotRun
from torchlint.recording.messages import Code


def package_of(code: Code) -> str:
    """The package that relative imports of the file start from; empty for a file outside of packages."""
    return code.module if Path(code.path).name == "__init__.py" else code.module.rpartition(".")[0]


def root_of(code: Code) -> Path:
    """The folder that the file's dotted name counts from."""
    package = package_of(code)
    return Path(code.path).parents[len(package.split(".")) if package else 0]


class Shell(types.ModuleType):
    """A package that answers for its names when they are asked for.

    A name is a submodule, or what `__init__.py` imports under that name; only where it is neither, the `__init__`
    is executed after all.
    """

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.__path__ = [str(folder)]
        self.__package__ = name
        self.__file__ = str(folder / "__init__.py")
        self.__spec__ = ModuleSpec(name, None, origin=self.__file__, is_package=True)
        self._is_executed = False

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name not in {"__all__", "__version__"}:
            raise AttributeError(name)
        if PathFinder.find_spec(f"{self.__name__}.{name}", list(self.__path__)) is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        value = self._imported(name)
        if value is None:
            value = self._executed(name)
        self.__dict__[name] = value
        return value

    def _tree(self) -> ast.Module:
        path = Path(str(self.__file__))
        return ast.parse(path.read_bytes()) if path.is_file() else ast.Module([], [])

    def _imported(self, name: str) -> object:
        """What an import at the top of `__init__.py` binds to this name."""
        for node in _statements(self._tree()):
            if isinstance(node, ast.ImportFrom):
                source = _absolute(node, self.__name__)
                for alias in node.names:
                    if (alias.asname or alias.name) == name and source != self.__name__:
                        return getattr(importlib.import_module(source), alias.name)
                    if alias.name == "*" and self._mentions(source, name):
                        value = getattr(importlib.import_module(source), name, None)
                        if value is not None:
                            return value
        return None

    def _mentions(self, source: str, name: str) -> bool:
        """Whether a module that is imported with a star can have the name: others are left alone."""
        try:
            spec = importlib.util.find_spec(source)
        except (ImportError, ValueError):
            return False
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return False
        text = Path(spec.origin).read_text(encoding="utf-8", errors="replace")
        return spec.submodule_search_locations is not None or re.search(rf"\b{re.escape(name)}\b", text) is not None

    def _executed(self, name: str) -> object:
        path = Path(str(self.__file__))
        if not self._is_executed and path.is_file():
            compiled = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
            self._is_executed = True  # before it runs: its parts may ask for each other
            try:
                exec(compiled, self.__dict__)  # noqa: S102 - as the import system would
            except BaseException:
                self._is_executed = False
                raise
        if name not in self.__dict__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return self.__dict__[name]


def _statements(tree: ast.Module) -> list[ast.stmt]:
    """Those at the top, and those of a `try` or `if` there."""
    found: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, (ast.Try, ast.If)):
            found += node.body
        found.append(node)
    return found


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


class Shells:
    """All shells that were made, to be taken away again."""

    def __init__(self) -> None:
        self.own = ""
        """The package at the top of the file's own name: no part of it is ever made up."""
        self._around: list[str] = []
        self._others: set[str] = set()

    def around(self, code: Code) -> None:
        """Shells for the packages that the file stands in."""
        folder = root_of(code)
        package = package_of(code)
        self.own = package.partition(".")[0]
        if self.own in sys.modules and not _stands_below(sys.modules[self.own], folder):
            raise CannotRun("load", f"its package has the name of {self.own}, which is in use by the verifier")
        parent = ""
        for part in package.split(".") if package else ():
            folder /= part
            name = f"{parent}.{part}" if parent else part
            if name != code.module:
                _insert(name, folder)
                self._around.append(name)
            parent = name

    def add(self, package: str) -> bool:
        """A shell in place of a package that fails to start; False where it is one already."""
        if package in self._others or package in self._around:
            return False
        try:
            spec = PathFinder.find_spec(package, _path_of_parent(package))
        except (ImportError, ValueError):
            return False
        if spec is None or not spec.submodule_search_locations:
            return False
        _insert(package, Path(next(iter(spec.submodule_search_locations))))
        self._others.add(package)
        return True

    @property
    def any_around(self) -> bool:
        return bool(self._around)

    def remove(self) -> None:
        """Take away the shells of the file's own package, and what was imported through them."""
        for top in {name.partition(".")[0] for name in self._around}:
            for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
                del sys.modules[name]
            self._others = {name for name in self._others if name != top and not name.startswith(f"{top}.")}
        self._around.clear()


def _stands_below(module: types.ModuleType, folder: Path) -> bool:
    """Whether a module comes from a folder: its package's, when an attempt before this one has left it."""
    return folder in Path(getattr(module, "__file__", None) or "").parents


def _path_of_parent(package: str) -> list[str] | None:
    parent = package.rpartition(".")[0]
    return list(sys.modules[parent].__path__) if parent in sys.modules else None


def _insert(name: str, folder: Path) -> None:
    shell = Shell(name, folder)
    sys.modules[name] = shell
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, shell)
