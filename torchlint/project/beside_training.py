"""What of a project no training runs: scripts beside it, programs that predict, trials of a module, unused code."""

from __future__ import annotations

import ast
import functools
from collections import deque
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import msgspec

from torchlint.facts.entries import is_test
from torchlint.facts.file import MAIN, FileFacts
from torchlint.facts.graphs import each_once, reached
from torchlint.facts.memoizing import memoized
from torchlint.facts.namespaces import IMPORTING
from torchlint.facts.notation import Symbol, name_in
from torchlint.facts.options.demands import Demand
from torchlint.facts.training.training_mode import LOADERS
from torchlint.facts.tree import is_main_guard, last_word, targets_of
from torchlint.project.answers import Answering
from torchlint.project.index import Project
from torchlint.project.options import keeps_from_running
from torchlint.project.programs import Program

_LOOKING_UP = frozenset({"globals", "locals", "eval", "exec"})
"""Functions that give what a text names."""
_OF_MODULES = frozenset({"getattr", "vars"})
"""Those that do where they are given a module."""
_LISTING = frozenset({"getmembers", "__subclasses__", "__dict__"})
"""Attributes by which classes are had without their names."""
_IMPORTING = frozenset(name.rpartition(".")[2] for name in IMPORTING)
_OF_ANY_OWNER = _IMPORTING | {"Fire"}
"""Calls that give a module by a text, or make commands of all that a module has (`fire.Fire()`)."""
_TELLING = _LOOKING_UP | _OF_MODULES | _LISTING | _OF_ANY_OWNER
_DEFINITIONS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class _Part(msgspec.Struct, frozen=True, array_like=True):
    """A statement of a module: what it defines, and all words that it may name another by."""

    name: str
    is_plain: bool
    """Whether it is a class or a function, which no decorator hands to others."""
    is_guard: bool
    words: frozenset[str]


@dataclass(eq=False)
class UnusedDefinitions(Answering):
    """Answers that are asked for again by each finding in a definition."""

    project: Project

    def hold(self, path: str, name: str) -> bool:
        """Whether nothing outside tests makes a class of a file, calls a function, or names it for others to do so.

        Imports name it without a use of it.
        """
        if not self.project.has_training or is_test(path):
            return False
        # What names it, or names what does, is no definition itself: two that name each other use nothing.
        waiting = deque([(path, name)])
        for one in each_once(waiting):
            users = self._users_of(*one)
            if users is None:
                return False
            waiting += users
        return True

    @memoized
    def _users_of(self, path: str, name: str) -> frozenset[Symbol] | None:
        """The definitions that name a definition; None where other code does that runs, or may find it."""
        if self._is_open(path, name):
            return None
        found = set()
        having = self._having(path, name)
        named = self.project.texts.naming(name, self.project.summaries)
        for other in [one for one in named if not is_test(one) and (one in having or self._may_import(one, path))]:
            for part in (one for one in self._parts_of(other) if name in one.words):
                is_trial = part.is_guard and only_tries(self.project, other)
                if not part.is_plain and not is_trial:
                    return None
                found |= {(other, part.name)} if part.is_plain else set()
        return frozenset(found)

    def _may_import(self, importer: str, path: str) -> bool:
        """Whether a source imports a module of this name that is not found: folders may be put on the path unseen."""
        stem = PurePosixPath(path).stem
        found = {PurePosixPath(one.path).stem for one in self.project.summaries[importer].imports}
        return stem not in found and self.project.texts.import_module(stem, importer)

    def _is_open(self, path: str, name: str) -> bool:
        """Whether something may find it by a text, or a decorator hands it to others."""
        own = [one.is_plain for one in self._parts_of(path) if one.name == name]
        if own != [True] or self.project.configuration_files.say(name):
            return True
        # What others than its package import by name, no text picks.
        if self._imports_anything and all(
            one.endswith("__init__.py") for one in self.project.importers.get(path, frozenset())
        ):
            return True
        return any(self._looks_up(one) for one in self._having(path, name))

    @functools.cached_property
    def _imports_anything(self) -> bool:
        """Whether some source imports a module by a text of which nothing is known."""
        named = {path for word in _IMPORTING for path in self.project.texts.naming(word, self.project.summaries)}
        interview = self.project.interview
        return any(interview.answer(path, "imports any", bool, _imports_any) is not False for path in sorted(named))

    def _having(self, path: str, name: str) -> set[str]:
        """The modules in which it has a name: those that import it, and those that import these whole."""
        return set(reached([path], lambda module: self._importing(module, name)))

    def _importing(self, module: str, name: str) -> Iterator[str]:
        for importer in self.project.importers.get(module, ()):
            imports = self.project.summaries[importer].imports
            if any(one.path == module and one.name in ("", name) for one in imports):
                yield importer

    @memoized
    def _looks_up(self, path: str) -> bool:
        is_worth = any(self.project.texts.naming(word, [path]) for word in _TELLING)
        return is_worth and self.project.interview.answer(path, "looks up", bool, _looks_up) is not False

    @memoized
    def _parts_of(self, path: str) -> tuple[_Part, ...]:
        kind: Any = tuple[_Part, ...]
        return self.project.interview.answer(path, "parts", kind, _parts) or ()


def _parts(facts: FileFacts) -> tuple[_Part, ...]:
    named = ((one, [getattr(target, "id", "") for target in targets_of(one)]) for one in facts.tree.body)
    return tuple(_part(one) for one, names in named if "__all__" not in names)


def _part(statement: ast.stmt) -> _Part:
    words = frozenset(word for node in ast.walk(statement) for word in _words(node))
    if isinstance(statement, _DEFINITIONS):
        return _Part(statement.name, not statement.decorator_list, is_guard=False, words=words)
    is_guard = isinstance(statement, ast.If) and is_main_guard(statement.test)
    return _Part("", is_plain=False, is_guard=is_guard, words=words)


def _words(node: ast.AST) -> list[str]:
    """What a node may name a definition by; an import does if it gives it another name."""
    if isinstance(node, ast.alias):
        return [node.name] if node.asname not in (None, node.name) else []
    if isinstance(node, ast.Constant):
        return node.value.split(".") if isinstance(node.value, str) else []
    return [word for word in (getattr(node, "id", None), getattr(node, "attr", None)) if word]


def _is_look_up(node: ast.AST, imported: AbstractSet[str]) -> bool:
    """`globals()[name]`, `models.__dict__[name]`, and `getattr(models, name)` of a module."""
    if isinstance(node, ast.Attribute):
        return node.attr in _LISTING and (node.attr != "__dict__" or last_word(node.value) in imported)
    if not isinstance(node, ast.Call):
        return False
    function = node.func.id if isinstance(node.func, ast.Name) else ""
    if function not in _OF_MODULES or not node.args:
        return function in _LOOKING_UP or last_word(node.func) in _OF_ANY_OWNER
    owner = node.args[0]
    return not isinstance(owner, (ast.Name, ast.Attribute)) or last_word(owner) in imported


def _imports_any(facts: FileFacts) -> bool:
    return any(
        not facts.names(site.node, site.scope).of_project
        for site in facts.calls.find(names=IMPORTING)
        if site.node.args and not isinstance(site.node.args[0], ast.Constant)
    )


def _looks_up(facts: FileFacts) -> bool:
    names = [name for node in ast.walk(facts.tree) for name in getattr(node, "names", ())]
    aliases = [name for name in names if isinstance(name, ast.alias)]
    imported = frozenset(one.asname or one.name.rpartition(".")[2] for one in aliases)
    return any(_is_look_up(node, imported) for node in ast.walk(facts.tree))


def only_tries(project: Project, path: str) -> bool:
    """Whether a file's main guard only tries out what the file is for: other files import it, and it trains nothing."""
    programs = project.programs_starting_in(path)
    return bool(project.importers.get(path)) and all(project.randomness_of(one).trained is None for one in programs)


def gets_into_no_training(project: Project, path: str, symbol: str) -> bool:
    """Whether code stands where nothing of it gets into what the project trains."""
    is_alone = not project.is_in_package(path) and not project.importers.get(path)
    starts = is_alone and bool(project.programs_starting_in(path))
    # A script that none imports starts something else, and others train.
    if starts and project.has_training and not project.imports_by_name and not project.may_train((path, "")):
        return True
    return is_only_tried(project, path, symbol)


def is_only_tried(project: Project, path: str, symbol: str) -> bool:
    """Whether code of a project that trains runs in a trial of its file alone, or is part of what nothing uses."""
    # Under a main guard that only tries the file out, or in a function that this alone calls.
    calls = project.programs.calls.calls_of(name_in(path, symbol)) if project.has_training and "." not in symbol else []
    is_of_guard = symbol == MAIN or {place for place, _ in calls} == {(path, MAIN)}
    if is_of_guard and project.has_training and only_tries(project, path):
        return True
    # Who uses what a package holds that is installed, or what a notebook does, may be anywhere.
    is_open = path.endswith(".ipynb") or (project.is_installed and project.is_in_package(path))
    is_named = symbol not in ("", MAIN)
    return is_named and not is_open and project.cached(UnusedDefinitions).hold(path, symbol.partition(".")[0])


def only_predicts(project: Project, path: str) -> bool:
    """Whether the programs that run a file are known, load weights, and do not train: a gradient comes back in none."""
    if not project.trains_anywhere:
        return not project.is_installed and _only_load(project, path)
    is_open = project.is_in_package(path) or project.imports_by_name or project.may_train((path, ""))
    return not is_open and _only_load(project, path)


def is_switched_off(project: Project, path: str, symbol: str, demands: tuple[Demand, ...]) -> bool:
    """Whether no program that trains gives parameters what code needs to run: others may predict, or try it out.

    The code itself may ask, or all calls of the function that it is in.
    """
    programs = _programs_running(project, path)
    training = [one for one in programs if project.randomness_of(one).trained is not None]
    lacking = [keeps_from_running(demands, (path, symbol), program, project) for program in training or programs]
    return bool(lacking) and all(one is not None and not one.option for one in lacking)


def _only_load(project: Project, path: str) -> bool:
    programs = _programs_running(project, path)
    return bool(programs) and all(
        any(project.texts.name_attribute(loader, one.files) for loader in LOADERS) for one in programs
    )


def _programs_running(project: Project, path: str) -> list[Program]:
    """The programs that decide for a file, but for its own where that only tries it out."""
    return [one for one in project.programs.reaching(path) if one.path != path or not only_tries(project, path)]
