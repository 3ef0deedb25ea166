"""Rewrites the import style of a program without moving a line, and says where each column went.

Only names that a file binds by one import and nothing else are rewritten; whatever shadows, re-binds or imports twice
stays as the author wrote it.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

MODULES = frozenset(
    [
        "torch",
        "torch.nn",
        "torch.nn.functional",
        "torch.nn.parallel",
        "torch.nn.init",
        "torch.backends",
        "torch.backends.cudnn",
        "torch.backends.cuda",
        "torch.backends.mps",
        "torch.cuda",
        "torch.random",
        "torch.optim",
        "torch.utils",
        "torch.utils.data",
        "torch.linalg",
        "numpy",
        "numpy.random",
        "random",
        "os",
        "os.path",
        "time",
        "glob",
        "pathlib",
        "functools",
        "secrets",
        "uuid",
        "datetime",
        "json",
        "subprocess",
        "lightning",
        "lightning.pytorch",
        "pytorch_lightning",
        "transformers",
        "hashlib",
        "zlib",
        "collections",
        "itertools",
    ]
)
"""Modules that the rewriting may import from; of other packages it does not know what is a module."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement on one line; columns count from 0, the end exclusive."""

    line: int
    start: int
    end: int
    text: str


@dataclass
class Rewritten:
    text: str
    edits: list[Edit] = field(default_factory=list)

    def column(self, line: int, column: int) -> int:
        """Where a column (from 1) of the original text now stands."""
        before = [edit for edit in self.edits if edit.line == line and edit.end <= column - 1]
        return column + sum(len(edit.text) - (edit.end - edit.start) for edit in before)


@dataclass(frozen=True)
class Import:
    """One name that one import statement binds, and its uses."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    local: str
    full: str


@dataclass(frozen=True)
class Use:
    """The longest dotted chain that starts at an imported name. `full` is what it stands for."""

    node: ast.expr
    full: str
    is_value: bool
    """Read as a value, so that the last name may be imported by itself."""


Spelling = tuple[str, str]
"""An import statement and the expression that it makes possible."""
Style = Callable[[Import, Use, Collection[str]], Spelling]


def _plain(imported: Import, use: Use, _taken: Collection[str]) -> Spelling:
    module = imported.full if imported.full in MODULES else imported.full.rpartition(".")[0] or imported.full
    return f"import {module}", use.full


def _renamed(imported: Import, use: Use, _taken: Collection[str]) -> Spelling:
    alias = imported.full.replace(".", "_") + "_as"
    below = use.full[len(imported.full) :]
    if isinstance(imported.statement, ast.Import):
        return f"import {imported.full} as {alias}", alias + below
    module, _, name = imported.full.rpartition(".")
    return f"from {module} import {name} as {alias}", alias + below


def _from(imported: Import, use: Use, taken: Collection[str]) -> Spelling:
    parts = use.full.split(".")
    known = max((end for end in range(1, len(parts) + 1) if ".".join(parts[:end]) in MODULES), default=0)
    end = known + 1 if use.is_value and known < len(parts) else known
    if known == 0 or end < 2:
        return _plain(imported, use, taken)
    module, name = ".".join(parts[: end - 1]), parts[end - 1]
    local = "_".join(parts[:end]) if name in taken else name
    words = name if local == name else f"{name} as {local}"
    return f"from {module} import {words}", ".".join([local, *parts[end:]])


def _star(imported: Import, use: Use, taken: Collection[str]) -> Spelling:
    name = use.full.removeprefix("torch.nn.")
    is_class = name != use.full and name.isidentifier() and name[0].isupper() and use.is_value
    if is_class and name not in taken and imported.statement.col_offset == 0:  # stars stand at module level only
        return "from torch.nn import *", name
    return _plain(imported, use, taken)


STYLES: Mapping[str, Style] = {"import torch": _plain, "import as": _renamed, "from import": _from, "star": _star}


def rewrite(text: str, style: Style, own_modules: Collection[str]) -> Rewritten:
    """The text in another import style; `own_modules` are the project's modules, which are left alone."""
    lines = text.split("\n")
    edits: list[Edit] = []
    imported_here = _imported_names(text, frozenset(own_modules))
    for statement, imports in imported_here.statements.items():
        if statement.end_lineno != statement.lineno or not all(i in imported_here.free for i in imports):
            continue
        needed: list[str] = []
        for imported in imports:
            found = imported_here.uses.get(imported.local, [])
            for use in found:
                needed_import, expression = style(imported, use, imported_here.taken)
                needed.append(needed_import)
                edits.append(_edit(lines, use.node, expression))
            if not found:
                needed.append(_as_written(imported))
        edits.append(_edit(lines, statement, "; ".join(dict.fromkeys(needed))))
    return Rewritten(_applied(lines, edits), edits)


@dataclass(frozen=True)
class ImportedNames:
    """What a text imports, and where it uses it."""

    free: set[Import]
    """Imports whose names can be rewritten."""
    statements: Mapping[ast.stmt, list[Import]]
    uses: Mapping[str, list[Use]]
    taken: set[str]
    """Names that a rewriting must not bind."""


@functools.lru_cache(maxsize=256)
def _imported_names(text: str, own_modules: frozenset[str]) -> ImportedNames:
    tree = ast.parse(text)
    statements: dict[ast.stmt, list[Import]] = defaultdict(list)
    free = set(_free_imports(tree, own_modules))
    for imported in _imports(tree):
        statements[imported.statement].append(imported)
    uses = _uses(tree, {imported.local: imported for imported in free})
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(_bound(tree))
    endings = Counter(
        part for full in {use.full for found in uses.values() for use in found} for part in full.split(".")
    )
    taken |= {name for name, times in endings.items() if times > 1 and name not in ("nn", "functional", "cudnn")}
    return ImportedNames(free, statements, uses, taken)


def _as_written(imported: Import) -> str:
    renamed = f" as {imported.alias.asname}" if imported.alias.asname else ""
    if isinstance(imported.statement, ast.Import):
        return f"import {imported.alias.name}{renamed}"
    return f"from {imported.statement.module} import {imported.alias.name}{renamed}"


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                yield Import(node, alias, local, alias.name if alias.asname else local)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Import(node, alias, alias.asname or alias.name, f"{node.module}.{alias.name}")


def _free_imports(tree: ast.Module, own_modules: Collection[str]) -> Iterator[Import]:
    """Imports whose name nothing else binds and no formatted string uses (3.11 misplaces those)."""
    bound = Counter(_bound(tree))
    imports = list(_imports(tree))
    times = Counter(imported.local for imported in imports)
    formatted = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    for imported in imports:
        statement = imported.statement
        is_relative = isinstance(statement, ast.ImportFrom) and (statement.level or statement.module == "__future__")
        if is_relative or imported.alias.name == "*" or imported.full.partition(".")[0] in own_modules:
            continue
        if imported.local not in bound and times[imported.local] == 1 and imported.local not in formatted:
            yield imported


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names bound by anything but an import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            yield node.name or ""
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _uses(tree: ast.Module, imports: Mapping[str, Import]) -> dict[str, list[Use]]:
    uses: dict[str, list[Use]] = defaultdict(list)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        chain = _chain(node)
        if chain is None:
            waiting += ast.iter_child_nodes(node)
        elif chain[0] in imports and isinstance(node, ast.Name | ast.Attribute):
            is_value = isinstance(node.ctx, ast.Load)
            inner = node if is_value or not isinstance(node, ast.Attribute) else node.value
            names = chain if is_value else chain[:-1]
            full = ".".join([imports[chain[0]].full, *names[1:]])
            uses[chain[0]].append(Use(inner, full, is_value))
    return uses


def _chain(node: ast.AST) -> list[str] | None:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def _edit(lines: list[str], node: ast.expr | ast.stmt, text: str) -> Edit:
    assert node.lineno == node.end_lineno, "a dotted name on two lines"
    line = lines[node.lineno - 1].encode()
    start, end = (len(line[:offset].decode()) for offset in (node.col_offset, node.end_col_offset or 0))
    return Edit(node.lineno, start, end, text)


def _applied(lines: list[str], edits: list[Edit]) -> str:
    changed = list(lines)
    for edit in sorted(edits, key=lambda edit: (edit.line, -edit.start)):
        line = changed[edit.line - 1]
        changed[edit.line - 1] = line[: edit.start] + edit.text + line[edit.end :]
    return "\n".join(changed)
