"""What a process loads for a target: a cut file, its name as a module, and where its imports are looked up."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from torchlint.errors import UnreadableSource
from torchlint.recording.messages import Code
from torchlint.source.syntax import parse_text
from torchlint.source.text import Source, read_source
from torchlint.verify.import_roots import nearest
from torchlint.verify.slicing import Slice

_RELATIVE = re.compile(rb"^[ \t]*from[ \t]+(\.+)", re.MULTILINE)


TreeOf = Callable[[Path], ast.Module | None]
"""The syntax of a file of the project; None of one that cannot be read."""
_MOST_KEPT = 500
"""Files whose trees are kept for one run."""


def kept_trees() -> TreeOf:
    """Reads each file once, however often its tree is asked for."""
    return functools.lru_cache(_MOST_KEPT)(_tree_of)


def _tree_of(path: Path) -> ast.Module | None:
    try:
        return parse_text(read_source(path, str(path)).text)
    except UnreadableSource:
        return None


@dataclass(frozen=True)
class File:
    """A checked file, read again to be cut."""

    path: Path
    source: Source
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> File:
        """Raises UnreadableSource."""
        source = read_source(path, str(path))
        return cls(path, source, parse_text(source.text))

    @property
    def module(self) -> str:
        return module_of(self.path)

    def line_in_text(self, cell: int | None, line: int) -> int:
        """A line as the user counts it, in the joined text."""
        for span in self.source.cells or ():
            if span.index == cell:
                return span.first_line + line - 1
        return line


def module_of(path: Path) -> str:
    """The dotted name of a file below the folder that holds its topmost package."""
    relative = path.resolve().relative_to(_package_top(path)).with_suffix("")
    return ".".join(relative.parts).removesuffix(".__init__")


def code_of(
    file: File, cut: Slice, root: Path, folders: Iterable[Path] = (), registering: tuple[str, ...] = ()
) -> Code:
    """The cut file, with what its project has to offer to its imports: `folders` of it come last."""
    paths = [
        *_search_paths(file.path, root.resolve()),
        *nearest((each.resolve() for each in folders), file.path.resolve()),
    ]
    return Code(
        path=str(file.path.resolve()),
        module=file.module,
        text=cut.text,
        search_paths=tuple(dict.fromkeys(map(str, paths))),
        registering=registering,
    )


def _package_top(path: Path) -> Path:
    """The folder that holds the topmost package of a file, or the file itself where it is in none.

    A package has an `__init__`, or its file imports relative to it.
    """
    folder, level = path.resolve().parent, _relative_level(path)
    while ((folder / "__init__.py").exists() or level > 0) and folder.parent != folder:
        folder, level = folder.parent, level - 1
    return folder


def _relative_level(path: Path) -> int:
    """How many packages around it the file names in its imports: two in `from ..layers import Block`."""
    try:
        dots = _RELATIVE.findall(path.read_bytes())
    except OSError:
        return 0
    return max(map(len, dots), default=0)


def _search_paths(path: Path, root: Path) -> Iterable[Path]:
    yield _package_top(path)
    yield path.resolve().parent
    yield root
    if (root / "src").is_dir():
        yield root / "src"
