"""How a check says what it looks at, and what it answers with.

A check is one function in one module of this package, found by name: no list to edit. It names the node types it wants
to see, and a `Vocabulary`: the cheap over-approximation by which the `ast` reader picks the pieces of a file that are
worth a lossless parse. What its vocabulary does not nominate, a check never sees.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

import torchlint.checks
from torchlint.diagnostics import Confidence, Cure, Related, Severity

if TYPE_CHECKING:
    from torchlint.catalogue import Catalogue
    from torchlint.checks.drafts import Draft, OperatorUse
    from torchlint.checks.visit import Visit
    from torchlint.facts.file import FileFacts
    from torchlint.facts.places import Place
    from torchlint.facts.scopes import AssignSite, CallSite
    from torchlint.project.index import Project
    from torchlint.project.programs import Program
    from torchlint.source.text import EnvironmentSetting


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the `ast` reader nominates for a check.

    `calls`, `assigned` and `imports` are full names; `assigned_under` are prefixes of full names; `methods` are
    attribute names called on anything; `keys` are constant subscripts assigned to. `worth` takes a second, still cheap,
    look at a call of `calls` or `methods`, knowing the selected codes: common names must not send half a file through
    the lossless parser. `stores` looks so at assignments to subscripts, and `reads` names the statements that read
    one.
    """

    calls: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    assigned_under: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    worth: Callable[[FileFacts, CallSite, frozenset[str]], bool] | None = None
    stores: Callable[[FileFacts, AssignSite, frozenset[str]], bool] | None = None
    reads: Callable[[FileFacts, frozenset[str]], Iterable[ast.stmt]] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check answers with: a node and the words that fill the rule's message.

    `message` names the variant of the rule's message. Left-out severity and confidence are the rule's own. `operators`
    are the registry entries whose rows decide.
    `related` are places of the same file, as `ast` nodes. `line` is where the finding stands when that is not at the
    node: a line inside a string that the node uses, the loop around the node.
    """

    code: str
    node: ast.stmt | ast.expr | ast.arg
    values: Mapping[str, str] = field(default_factory=dict)
    message: str = "default"
    severity: Severity | None = None
    confidence: Confidence | None = None
    operators: tuple[OperatorUse, ...] = ()
    torch: str = ""
    devices: tuple[str, ...] = ()
    related: tuple[tuple[ast.AST, str], ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SettingFinding:
    """What a check says of a variable that a notebook sets by magic, where there is no syntax tree to point into."""

    code: str
    values: Mapping[str, str] = field(default_factory=dict)
    message: str = "default"


OnSetting = Callable[["EnvironmentSetting", "FileFacts"], Iterator[SettingFinding]]
Find = Callable[["Visit"], Iterator[Finding]]
Judge = Callable[["Draft", "Project"], "Draft | None"]


@dataclass(frozen=True, slots=True)
class Check:
    """A registered check. `codes` are the rules it can report; `judge` has the last word, with the whole project."""

    name: str
    codes: Callable[[Catalogue], frozenset[str]]
    types: tuple[type[cst.CSTNode], ...]
    vocabulary: Callable[[Catalogue], Vocabulary]
    find: Find
    judge: Judge | None = None
    on_setting: OnSetting | None = None


@dataclass(frozen=True, slots=True)
class ProgramFinding:
    """What a check of programs answers with: it stands in the file that starts the program."""

    code: str
    place: Place
    values: Mapping[str, str] = field(default_factory=dict)
    message: str = "default"
    severity: Severity | None = None
    confidence: Confidence | None = None
    related: tuple[Related, ...] = ()
    cure: Cure | None = None


FindInProgram = Callable[["Program", "Project"], Iterator[ProgramFinding]]


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """A check that looks at no code but at what a whole program does."""

    name: str
    codes: frozenset[str]
    find: FindInProgram


def program_check(*codes: str) -> Callable[[FindInProgram], ProgramCheck]:
    """Register a function as a check of programs, named for its module."""

    def register(find: FindInProgram) -> ProgramCheck:
        return ProgramCheck(_name_of(find), frozenset(codes), find)

    return register


def check(
    *types: type[cst.CSTNode],
    codes: tuple[str, ...] | Callable[[Catalogue], frozenset[str]],
    vocabulary: Vocabulary | Callable[[Catalogue], Vocabulary],
    judge: Judge | None = None,
    on_setting: OnSetting | None = None,
) -> Callable[[Find], Check]:
    """Register a function as a check, named for its module."""

    def register(find: Find) -> Check:
        return Check(
            name=_name_of(find),
            codes=codes if callable(codes) else lambda _: frozenset(codes),
            types=types,
            vocabulary=vocabulary if callable(vocabulary) else lambda _: vocabulary,
            find=find,
            judge=judge,
            on_setting=on_setting,
        )

    return register


def _name_of(find: Find | FindInProgram) -> str:
    """The module's name, and the function's where it is not `find`: a draft is judged by the check it names."""
    module, function = find.__module__.rpartition(".")[2], find.__name__
    return module if function == "find" else f"{module}.{function}"


@functools.cache
def all_checks() -> tuple[Check, ...]:
    """Every check of this package, by module name, then in the order of their definition."""
    return tuple(member for member in _members() if isinstance(member, Check))


@functools.cache
def all_program_checks() -> tuple[ProgramCheck, ...]:
    """Every check of programs, in the same order."""
    return tuple(member for member in _members() if isinstance(member, ProgramCheck))


def _members() -> Iterator[object]:
    modules = sorted(pkgutil.iter_modules(torchlint.checks.__path__), key=lambda module: module.name)
    for module in modules:
        yield from vars(importlib.import_module(f"torchlint.checks.{module.name}")).values()
