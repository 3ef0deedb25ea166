"""The ways to start a file: main guards, commands, scripts that train, notebooks."""

from __future__ import annotations

import ast
import enum
import functools
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from torchlint.diagnostics import Location
from torchlint.facts.control.blocks import Function
from torchlint.facts.file import MAIN, FileFacts
from torchlint.facts.functions import own_scope
from torchlint.facts.notation import is_of_project
from torchlint.facts.places import Place, place_of
from torchlint.facts.registries import decorator_names
from torchlint.facts.scopes import CallSite
from torchlint.facts.tree import is_main_guard, is_method_call
from torchlint.facts.watch import Watch
from torchlint.facts.words import says


class EntryKind(enum.Enum):
    GUARD = "main guard"
    COMMAND = "command"
    SCRIPT = "script"
    NOTEBOOK = "notebook"


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One way to start this file, and the symbol that then runs besides its import."""

    kind: EntryKind
    symbol: str
    place: Place
    is_trial: bool = False
    """Whether a main guard only tries out what its module is for: example usage, as the comments there often say."""
    is_tentative: bool = False
    """Whether it is one only if the project's code that its top level calls trains, or sets the determinism mode."""

    @property
    def location(self) -> Location:
        return self.place.location


@functools.lru_cache(maxsize=1024)
def is_test(path: str) -> bool:
    """Whether a path is test code, which never decides for a package."""
    *folders, name = PurePosixPath(path).parts
    is_below = not {"tests", "test", "testing"}.isdisjoint(folders)
    return is_below or name.startswith("test_") or name.endswith(("_test.py", "conftest.py"))


def is_example(path: str) -> bool:
    """Whether a path is an example, tutorial, benchmark or documentation: a program of its own."""
    folders = set(PurePosixPath(path).parts[:-1])
    return bool({"examples", "example", "tutorials", "docs", "doc", "benchmarks", "benchmark", "demo"} & folders)


_SHOWN = ("measurement", "demonstration", "presentation")


def is_demonstration(path: str) -> bool:
    """Whether a program shows a model at work, or measures how fast it is."""
    return is_example(path) or "example" in PurePosixPath(path).stem.lower() or is_named_for_show(path)


def is_named_for_show(path: str) -> bool:
    """Whether a program is named for measuring a model, or for showing it at work."""
    return says(PurePosixPath(path).stem.lower(), *_SHOWN)


def is_measuring(path: str) -> bool:
    """Whether a program only measures, shows or tries something, by the name of its file, or lies with such."""
    *folders, name = PurePosixPath(path).parts
    is_trial = "test" in name.lower() or says(PurePosixPath(name).stem.lower(), "trial")
    return is_trial or is_named_for_show(path) or bool({"benchmarks", "benchmark"} & set(folders))


def is_beside_training(path: str) -> bool:
    """Whether a path is test code, or by its words code that measures, shows or tries something."""
    return is_test(path) or says(path, "measurement", "demonstration", "trial")


_NOT_PROGRAMS = frozenset({"setup.py", "conftest.py", "conf.py", "noxfile.py"})


def entries_of(facts: FileFacts, watch: Watch, *, is_notebook: bool) -> Iterator[Entry]:
    """The ways to start a file; test code and build scripts have none."""
    name = PurePosixPath(facts.path).name
    if name in _NOT_PROGRAMS or is_test(facts.path):
        return
    guards = [node for node in facts.tree.body if isinstance(node, ast.If) and is_main_guard(node.test)]
    if guards:
        yield Entry(EntryKind.GUARD, MAIN, place_of(facts, guards[0]), is_trial=_is_trial(facts.tree, guards[0]))
    for scope in facts.symbols.scopes:
        decorators = scope.node.decorator_list if isinstance(scope.node, Function) else ()
        if any(_is_command(facts, decorator, scope.parent or 0, watch) for decorator in decorators):
            yield Entry(EntryKind.COMMAND, scope.qualname, place_of(facts, scope.node))
    scripts = [] if guards else list(_script(facts, watch))
    if is_notebook and not guards:  # a program whatever it does; it stands where a script would, or at its beginning
        first = facts.tree.body[0] if facts.tree.body else facts.tree
        yield Entry(EntryKind.NOTEBOOK, "", scripts[0].place if scripts else place_of(facts, first))
    else:
        yield from scripts


_OPTIONS = frozenset({"argparse", "sys", "click", "fire", "typer", "tyro", "absl", "hydra", "omegaconf", "yaml"})
"""Modules by which a program is told what to do."""


def _is_trial(module: ast.Module, guard: ast.If) -> bool:
    """Whether a guard makes a class of its own module, with imports that the module does without and no options."""
    imported = [one.module or "." for one in guard.body if isinstance(one, ast.ImportFrom)]
    imported += [alias.name for one in guard.body if isinstance(one, ast.Import) for alias in one.names]
    if not imported or _OPTIONS & {name.partition(".")[0] for name in imported}:
        return False
    classes = {statement.name for statement in module.body if isinstance(statement, ast.ClassDef)}
    nodes = [node for statement in guard.body for node in ast.walk(statement)]
    if any(isinstance(node, ast.Attribute) and node.attr in ("parse_args", "argv") for node in nodes):
        return False
    return any(isinstance(node, ast.Call) and getattr(node.func, "id", None) in classes for node in nodes)


_GROUPS = (".group", ".callback")
"""Decorators of what runs before a command, and is none."""


def _is_command(facts: FileFacts, decorator: ast.expr, scope: int, watch: Watch) -> bool:
    names = decorator_names(facts, decorator, scope)
    if any(name.endswith(_GROUPS) for name in names):
        return False
    # As `@cli.command()`, where `cli` is a function of the project that another decorator made a group.
    own = (one for one in names if is_of_project(one))
    return bool(names & watch.command_decorators) or any(one.endswith(".command") for one in own)


def _script(facts: FileFacts, watch: Watch) -> Iterator[Entry]:
    """A file whose top level trains, sets the mode or saves is a program even without a main guard.

    Where it calls code of the project, what that does decides.
    """
    saving = frozenset(facts.function_of(site.scope) for site, _, _ in watch.savers.calls_in(facts)) - {None}
    at_top = [one for one in facts.calls_in(None) if facts.class_of(one.scope) is None]
    working = next((one for one in at_top if _is_work(facts, one, watch, saving)), None)
    site = working or next((one for one in at_top if _calls_project(facts, one)), None)
    if site is not None:
        place = place_of(facts, site.node, site.statement)
        yield Entry(EntryKind.SCRIPT, "", place, is_tentative=working is None)


def _calls_project(facts: FileFacts, site: CallSite) -> bool:
    """Whether a call runs code of the project, be it handed on: `fire.Fire(main)`."""
    is_decorator = isinstance(site.statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    run = (site.node.func, *(one for one in site.node.args if isinstance(one, ast.Name)))
    return not is_decorator and any(facts.names(one, site.scope).of_project for one in run)


def _is_work(facts: FileFacts, site: CallSite, watch: Watch, saving: frozenset[int | None]) -> bool:
    """`saving`: the functions of the file that save."""
    if is_method_call(site.node, *watch.training_methods):
        return True
    name = facts.names(site.node.func, site.scope).only or ""
    return name in watch.switches or name in watch.savers.calls or own_scope(facts, name) in saving
