"""What the rest of a project needs to know about one file: plain data that outlives its syntax tree.

Code that runs is named by symbols: a function's qualified name, `<main>` for what stands under the main guard, and the
empty string for what runs at import.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import EllipsisType
from typing import TYPE_CHECKING

from torchlint.diagnostics import Location
from torchlint.facts.environment import EnvironmentWrite, environment_writes
from torchlint.facts.file import MAIN, is_main_guard
from torchlint.facts.loaders import Loader, worker_loaders
from torchlint.facts.modes import ModeCall, mode_calls
from torchlint.facts.scopes import ImportTarget, ScopeKind
from torchlint.facts.shared_models import Stepped, stepped_parameters
from torchlint.facts.values import Constant

if TYPE_CHECKING:
    from torchlint.catalogue.registry import ModeSwitch, ProgramFile
    from torchlint.facts.file import FileFacts


Argument = Constant | EllipsisType
"""A literal argument; `...` stands for one that is not a literal."""


class EntryKind(enum.Enum):
    GUARD = "main guard"
    COMMAND = "command"
    SCRIPT = "script"
    NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Entry:
    """One way to start this file, and the symbol that then runs besides its import."""

    kind: EntryKind
    symbol: str
    location: Location


@dataclass(frozen=True, slots=True)
class Edge:
    """A call of, or a reference to, project code from `symbol`.

    `arguments` are given by position and keyword; `"*"` stands for `*args` and `**kwargs`.
    """

    symbol: str
    callee: str
    arguments: tuple[tuple[int | str, Argument], ...] = ()


@dataclass(frozen=True, slots=True)
class Parameters:
    """A function's parameters in order, and the literal defaults among them."""

    names: tuple[str, ...]
    defaults: tuple[tuple[str, Constant], ...]


@dataclass(frozen=True, slots=True)
class FileSummary:
    path: str
    start: Location
    """The beginning of the file, as users see it."""
    libraries: frozenset[str]
    """Top-level packages from outside the project that the file imports anywhere."""
    imports: tuple[tuple[str, str], ...]
    """Pairs of a symbol and the project file it imports."""
    entries: tuple[Entry, ...]
    edges: tuple[Edge, ...]
    modes: tuple[ModeCall, ...]
    environment: tuple[EnvironmentWrite, ...]
    parameters: tuple[tuple[str, Parameters], ...]
    """Of the functions that set the mode on a parameter's word."""
    loaders: tuple[Loader, ...]
    """Those with worker processes, by the class of their dataset."""
    stepped: tuple[Stepped, ...]
    """Parameters of functions that train what they are given."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What the catalogue asks a summary to look for."""

    switches: dict[str, ModeSwitch]
    command_decorators: frozenset[str]
    training_methods: frozenset[str]
    variables: frozenset[str]

    @classmethod
    def of(cls, programs: ProgramFile, variables: frozenset[str]) -> Watch:
        return cls(
            {switch.call: switch for switch in programs.mode},
            frozenset(programs.command_decorators),
            frozenset(programs.training_methods),
            variables,
        )


def summarise(facts: FileFacts, watch: Watch, *, is_notebook: bool) -> FileSummary:
    """Reduce a file's facts to what its project asks."""
    modes = tuple(mode_calls(facts, watch.switches))
    asked = {call.symbol for call in modes if call.parameter}
    return FileSummary(
        path=facts.path,
        start=facts.locate(facts.tree),
        libraries=frozenset(_libraries(facts)),
        imports=tuple(_imports(facts)),
        entries=tuple(_entries(facts, watch, is_notebook=is_notebook)),
        edges=(*_edges(facts), *_group_edges(facts)),
        modes=modes,
        environment=tuple(environment_writes(facts, watch.variables)),
        parameters=tuple(_parameters(facts, asked)),
        loaders=tuple(worker_loaders(facts)),
        stepped=tuple(dict.fromkeys(stepped_parameters(facts))),
    )


def is_test(path: str) -> bool:
    """Whether a path is test code, which never decides for a package."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    return (
        bool({"tests", "test", "testing"} & set(parts[:-1]))
        or name.startswith("test_")
        or name.endswith(("_test.py", "conftest.py"))
    )


def is_example(path: str) -> bool:
    """Whether a path is an example, tutorial, benchmark or documentation: a program of its own."""
    folders = set(PurePosixPath(path).parts[:-1])
    return bool({"examples", "example", "tutorials", "docs", "doc", "benchmarks", "benchmark", "demo"} & folders)


_NOT_PROGRAMS = frozenset({"setup.py", "conftest.py", "conf.py", "noxfile.py"})


def _libraries(facts: FileFacts) -> Iterator[str]:
    for target, _ in facts.reading.imports:
        if not target.level:
            yield target.module.partition(".")[0]


def _imports(facts: FileFacts) -> Iterator[tuple[str, str]]:
    modules = facts.resolver.modules
    for target, scope in facts.reading.imports:
        function = facts.function_of(scope)
        symbol = facts.reading.scopes[function].qualname if function is not None else ""
        for candidate in _modules_loaded(target):
            found = modules.find(candidate, facts.path)
            if found is not None:
                yield symbol, found.path
                submodule = modules.submodule(found.path, target.name) if target.name else None
                if submodule is not None:
                    yield symbol, submodule.path


def _modules_loaded(target: ImportTarget) -> Iterator[ImportTarget]:
    """`import a.b.c` runs a, a.b and a.b.c."""
    if target.level:
        yield target
        return
    parts = target.module.split(".")
    for end in range(1, len(parts) + 1):
        yield ImportTarget(".".join(parts[:end]), target.name if end == len(parts) else None, 0)


def _entries(facts: FileFacts, watch: Watch, *, is_notebook: bool) -> Iterator[Entry]:
    name = PurePosixPath(facts.path).name
    if name in _NOT_PROGRAMS or is_test(facts.path):
        return
    if is_notebook:
        yield Entry(EntryKind.NOTEBOOK, "", facts.locate(facts.tree))
        return
    guards = [node for node in facts.tree.body if isinstance(node, ast.If) and is_main_guard(node.test)]
    if guards:
        yield Entry(EntryKind.GUARD, MAIN, facts.locate(guards[0]))
    for scope in facts.reading.scopes:
        if scope.kind is ScopeKind.FUNCTION and scope.parent is not None:
            decorators = scope.node.decorator_list  # type: ignore[attr-defined]
            if any(_is_command(facts, decorator, scope.parent, watch) for decorator in decorators):
                yield Entry(EntryKind.COMMAND, scope.qualname, facts.locate(scope.node))
    if not guards:
        yield from _script(facts, watch)


_GROUPS = (".group", ".callback")
"""Decorators of what runs before a command, and is none."""


def _is_command(facts: FileFacts, decorator: ast.expr, scope: int, watch: Watch) -> bool:
    names = _decorator_names(facts, decorator, scope)
    if any(name.endswith(_GROUPS) for name in names):
        return False
    return bool(names & watch.command_decorators) or any(_is_of_group(name) for name in names)


def _decorator_names(facts: FileFacts, decorator: ast.expr, scope: int) -> frozenset[str]:
    """`@app.command()`, where `app = typer.Typer()`, is `typer.Typer.command`."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return frozenset(name.replace("()", "") for name in facts.names(function, scope).names)


def _is_of_group(name: str) -> bool:
    """`@cli.command()`, where `cli` is a function of the project that another decorator made a group."""
    return "::" in name and name.endswith(".command")


def _group_edges(facts: FileFacts) -> Iterator[Edge]:
    """A command runs its group first."""
    for scope in facts.reading.scopes:
        if scope.kind is ScopeKind.FUNCTION and scope.parent is not None:
            for decorator in scope.node.decorator_list:  # type: ignore[attr-defined]
                for name in sorted(_decorator_names(facts, decorator, scope.parent)):
                    if "::" in name and name.endswith((".command", ".group")):
                        yield Edge(scope.qualname, name.rpartition(".")[0])


def _script(facts: FileFacts, watch: Watch) -> Iterator[Entry]:
    """A file whose top level trains, or sets the mode, is a program even without a main guard."""
    for site in facts.reading.calls:
        function = site.node.func
        trains = isinstance(function, ast.Attribute) and function.attr in watch.training_methods
        if not trains and facts.names(function, site.scope).only not in watch.switches:
            continue
        if facts.function_of(site.scope) is None and facts.class_of(site.scope) is None:
            yield Entry(EntryKind.SCRIPT, "", facts.locate(site.node))
            return


def _edges(facts: FileFacts) -> Iterator[Edge]:
    for site in facts.reading.calls:
        symbol = facts.symbol_of(site)
        for callee in _project_names(facts, site.node.func, site.scope):
            yield Edge(symbol, callee, tuple(_arguments(facts, site.node, site.scope)))
        for argument in [*site.node.args, *(keyword.value for keyword in site.node.keywords)]:
            if isinstance(argument, ast.Name | ast.Attribute):
                for callee in _project_names(facts, argument, site.scope):
                    yield Edge(symbol, callee)


def _project_names(facts: FileFacts, expression: ast.expr, scope: int) -> Iterator[str]:
    own = _own_method(facts, expression, scope)
    if own is not None:
        yield own
        return
    for callee in facts.names(expression, scope).callees:
        path, _, qualname = callee.name.partition("::")
        if qualname and not qualname.endswith("()"):
            yield f"{path}::{qualname.replace('()', '')}"


def _own_method(facts: FileFacts, expression: ast.expr, scope: int) -> str | None:
    """`self.step()` inside a class is a method of that class."""
    if not isinstance(expression, ast.Attribute) or not isinstance(expression.value, ast.Name):
        return None
    owner = facts.class_of(scope) if expression.value.id in ("self", "cls") else None
    return f"{facts.path}::{facts.reading.scopes[owner].qualname}.{expression.attr}" if owner is not None else None


def _arguments(facts: FileFacts, call: ast.Call, scope: int) -> Iterator[tuple[int | str, Argument]]:
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            yield "*", ...
            break
        yield index, _literal(facts, argument, scope)
    for keyword in call.keywords:
        yield keyword.arg or "*", _literal(facts, keyword.value, scope) if keyword.arg else ...


def _literal(facts: FileFacts, expression: ast.expr, scope: int) -> Argument:
    values = facts.value(expression, scope)
    return values.constants[0] if values.is_known and len(values.constants) == 1 else ...


def _parameters(facts: FileFacts, symbols: set[str]) -> Iterator[tuple[str, Parameters]]:
    for scope in facts.reading.scopes:
        if scope.kind is not ScopeKind.FUNCTION or scope.qualname not in symbols:
            continue
        arguments: ast.arguments = scope.node.args  # type: ignore[attr-defined]
        positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        pairs += [
            (argument.arg, default)
            for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        defaults = tuple(
            (name, values.constants[0])
            for name, default in pairs
            if (values := facts.value(default, 0)).is_known and len(values.constants) == 1
        )
        names = tuple(name for name in positional if name not in ("self", "cls"))
        yield scope.qualname, Parameters(names, defaults)
